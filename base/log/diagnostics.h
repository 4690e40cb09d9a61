// Errors that the program survives. Each kind is counted and logged, so that none is lost.
//
//   constinit DiagnosticEvent checkpoint_failed("store.checkpoint_failed");  // at namespace scope
//   if (const auto done = connection.Checkpoint(); !done.ok())
//   checkpoint_failed.Report(done.error());
//
// Lines go to the log of base/log/log.h, at most one warning per kind and second. The counts are
// exact and per process.
#ifndef PENSTOCK_BASE_LOG_DIAGNOSTICS_H_
#define PENSTOCK_BASE_LOG_DIAGNOSTICS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// One kind of survived error. It must have static storage duration, because the event list keeps
// its address.
//
// Thread safety: any thread.
class DiagnosticEvent {
 public:
  // `name` is a string literal, "module.what_failed".
  explicit constexpr DiagnosticEvent(const char* name) : name_(name) {}
  DiagnosticEvent(const DiagnosticEvent&) = delete;
  DiagnosticEvent& operator=(const DiagnosticEvent&) = delete;

  // Counts the error. Logs a warning unless this event logged one during the last second. The next
  // warning has the number of suppressed lines in its field "suppressed". If memory is too short to
  // log the line, the error is only counted.
  void Report(std::string_view detail) noexcept;
  void Report(const Error& error) noexcept { Report(error.message); }
  // Counts an error that the caller logs.
  void Count() noexcept;
  // Reports `what` followed by the text of the errno value `system_error`.
  void ReportSystemError(std::string_view what, int system_error) noexcept;

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  friend std::map<std::string, std::uint64_t> DiagnosticCounts();
  void Register() noexcept;

  const char* const name_;
  std::atomic<std::uint64_t> count_{0};
  // Counts up to this value have been logged or reported as suppressed.
  std::atomic<std::uint64_t> logged_{0};
  std::atomic<std::int64_t> next_line_ns_{INT64_MIN};  // monotonic; earliest time of the next line
  std::atomic<bool> registered_{false};
  DiagnosticEvent* next_ = nullptr;  // next event of the list; fixed once registered
};

// Returns the events that happened at least once in this process, by name.
std::map<std::string, std::uint64_t> DiagnosticCounts();
// Returns the exception that is being handled as an Error. The kind is kResourceExhausted for
// std::bad_alloc and for std::length_error, which containers throw for sizes above max_size().
// Otherwise it is kInternal. The message has the exception's what() and `where`, which names the
// code that threw; empty: unknown. Call it only in a catch block.
Error CurrentExceptionError(std::string_view where = {}) noexcept;

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_DIAGNOSTICS_H_
