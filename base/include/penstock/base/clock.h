// Time, injected: whoever needs the date or a deadline is handed a Clock, so tests own time.
#ifndef PENSTOCK_BASE_CLOCK_H_
#define PENSTOCK_BASE_CLOCK_H_

#include <chrono>
#include <memory>

namespace penstock {

using WallTime = std::chrono::system_clock::time_point;
using MonotonicTime = std::chrono::steady_clock::time_point;

// Thread safety: implementations are safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;             // dates, signatures, Last-Modified
  virtual MonotonicTime Monotonic() const = 0;  // deadlines, durations
};

// The machine's clocks. One shared instance, never null, lives forever.
const Clock& SystemClock();

// A point after which nobody waits any more.
class Deadline {
 public:
  static Deadline Never() { return Deadline(MonotonicTime::max()); }
  static Deadline At(MonotonicTime when) { return Deadline(when); }
  static Deadline After(const Clock& clock, std::chrono::nanoseconds duration);

  bool IsNever() const { return when_ == MonotonicTime::max(); }
  MonotonicTime when() const { return when_; }
  bool Passed(const Clock& clock) const { return !IsNever() && clock.Monotonic() >= when_; }
  // Time left, at least zero; nanoseconds::max() when never.
  std::chrono::nanoseconds Left(const Clock& clock) const;
  // The earlier of two.
  Deadline Min(Deadline other) const { return when_ < other.when_ ? *this : other; }

 private:
  explicit Deadline(MonotonicTime when) : when_(when) {}
  MonotonicTime when_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_CLOCK_H_
