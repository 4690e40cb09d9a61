// Errors that the program survives: each kind is counted and logged, so that none disappears.
//
//   constinit DiagnosticEvent checkpoint_failed("store.checkpoint_failed");  // at namespace scope
//   if (const auto done = connection.Checkpoint(); !done.ok())
//   checkpoint_failed.Report(done.error());
//
// The log is that of base/log.h: one warning per kind and second. The counts are exact and belong
// to the process.
#ifndef PENSTOCK_BASE_DIAGNOSTICS_H_
#define PENSTOCK_BASE_DIAGNOSTICS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock {

// One kind of survived error. It must have static storage: the list of events keeps its address.
//
// Thread safety: any thread.
class DiagnosticEvent {
 public:
  // `name`: a string literal, "module.what_failed".
  explicit constexpr DiagnosticEvent(const char* name) : name_(name) {}
  DiagnosticEvent(const DiagnosticEvent&) = delete;
  DiagnosticEvent& operator=(const DiagnosticEvent&) = delete;

  // Counts the error. Logs a warning unless this event logged one during the last second; the next
  // warning has the number of those left out in its field "suppressed". A detail that cannot be
  // logged for want of memory is only counted.
  void Report(std::string_view detail) noexcept;
  void Report(const Error& error) noexcept { Report(error.message); }
  // Reports errno's text behind `what`.
  void ReportSystemError(std::string_view what, int system_error) noexcept;

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  friend std::map<std::string, std::uint64_t> DiagnosticCounts();
  void Register() noexcept;

  const char* const name_;
  std::atomic<std::uint64_t> count_{0};
  // counts up to here have been logged or reported as suppressed
  std::atomic<std::uint64_t> logged_{0};
  std::atomic<std::int64_t> next_line_ns_{INT64_MIN};  // monotonic; no line before
  std::atomic<bool> registered_{false};
  DiagnosticEvent* next_ = nullptr;  // of the list; fixed once registered
};

// The events that happened at least once in this process, by name.
std::map<std::string, std::uint64_t> DiagnosticCounts();

// The exception that is being handled, as an Error: kResourceExhausted for std::bad_alloc and for
// std::length_error, which a container throws when it is asked for more elements than it can have;
// otherwise kInternal. The message has the exception's what() and `where`, which names the code
// that the exception left; empty: unknown. Call it in a catch block only.
Error CurrentExceptionError(std::string_view where = {}) noexcept;

}  // namespace penstock

#endif  // PENSTOCK_BASE_DIAGNOSTICS_H_
