// Clocks and deadlines. Code that needs the time takes a Clock, so that tests control it.
#ifndef PENSTOCK_BASE_CLOCK_H_
#define PENSTOCK_BASE_CLOCK_H_

#include <chrono>
#include <memory>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

using WallTime = std::chrono::system_clock::time_point;
using MonotonicTime = std::chrono::steady_clock::time_point;

// Thread safety: implementations are safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;             // dates, signatures, Last-Modified
  virtual MonotonicTime Monotonic() const = 0;  // deadlines, durations
};

// Returns the system clocks: one shared instance that is never destroyed.
const Clock& SystemClock();

// A point in time after which an operation stops waiting.
class Deadline {
 public:
  static Deadline Never() { return Deadline(MonotonicTime::max()); }
  static Deadline At(MonotonicTime when) { return Deadline(when); }
  static Deadline After(const Clock& clock, std::chrono::nanoseconds duration);

  bool IsNever() const { return when_ == MonotonicTime::max(); }
  MonotonicTime when() const { return when_; }
  bool Passed(const Clock& clock) const { return !IsNever() && clock.Monotonic() >= when_; }
  // Returns the time left, at least zero. nanoseconds::max() if this is Never().
  std::chrono::nanoseconds Left(const Clock& clock) const;
  // Returns the earlier of the two deadlines.
  Deadline Min(Deadline other) const { return when_ < other.when_ ? *this : other; }

 private:
  explicit Deadline(MonotonicTime when) : when_(when) {}
  MonotonicTime when_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_CLOCK_H_
