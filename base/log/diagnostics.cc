#include "base/log/diagnostics.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "base/log/log.h"
#include "penstock/base/clock.h"

namespace penstock {
namespace {

constexpr std::int64_t kLineIntervalNs = 1'000'000'000;

constinit std::atomic<DiagnosticEvent*> events{nullptr};

// Short enough for the small-string buffer, so it needs no allocation.
constexpr std::string_view kOutOfMemory = "out of memory";

Error OutOfMemory() noexcept {
  return Error::Make(ErrorKind::kResourceExhausted, std::string(kOutOfMemory));
}

Error OutOfMemory(std::string_view where) {
  if (where.empty()) return OutOfMemory();
  return Error::Make(ErrorKind::kResourceExhausted,
                     std::string(kOutOfMemory).append(" in ").append(where));
}

// Returns the beginning of the message about an exception.
std::string MessagePrefix(std::string_view where) {
  return where.empty() ? std::string("unexpected exception")
                       : std::string("exception in ").append(where);
}

Error Thrown(ErrorKind kind, std::string_view where, const std::exception& thrown) {
  return Error::Make(kind, MessagePrefix(where).append(": ").append(thrown.what()));
}

}  // namespace

void DiagnosticEvent::Register() noexcept {
  if (registered_.load(std::memory_order_relaxed) || registered_.exchange(true)) return;
  next_ = events.load(std::memory_order_relaxed);
  while (!events.compare_exchange_weak(next_, this, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

void DiagnosticEvent::Count() noexcept {
  Register();
  count_.fetch_add(1, std::memory_order_relaxed);
}

void DiagnosticEvent::Report(std::string_view detail) noexcept {
  Register();
  const std::uint64_t count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!LogEnabled(LogLevel::kWarning)) return;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  std::int64_t next = next_line_ns_.load(std::memory_order_relaxed);
  if (now < next || !next_line_ns_.compare_exchange_strong(next, now + kLineIntervalNs,
                                                           std::memory_order_relaxed))
    return;
  try {
    const std::uint64_t before = logged_.exchange(count, std::memory_order_relaxed);
    const std::string suppressed = std::to_string(count > before ? count - before - 1 : 0);
    const std::string total = std::to_string(count);
    Log({.level = LogLevel::kWarning,
         .event = name_,
         .fields = {{"detail", detail},
                    {"count", LogValue::Number(total)},
                    {"suppressed", LogValue::Number(suppressed)}}});
  } catch (...) {
    // Formatting the line ran out of memory. The event has been counted.
  }
}

void DiagnosticEvent::ReportSystemError(std::string_view what, int system_error) noexcept {
  try {
    Report(std::string(what) + ": " + std::system_category().message(system_error));
  } catch (...) {
    Report(what);
  }
}

std::map<std::string, std::uint64_t> DiagnosticCounts() {
  std::map<std::string, std::uint64_t> counts;
  for (const DiagnosticEvent* event = events.load(std::memory_order_acquire); event != nullptr;
       event = event->next_) {
    counts[event->name_] += event->count();
  }
  return counts;
}

Error CurrentExceptionError(std::string_view where) noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory(where);
    } catch (const std::length_error& thrown) {
      return Thrown(ErrorKind::kResourceExhausted, where, thrown);
    } catch (const std::exception& thrown) {
      return Thrown(ErrorKind::kInternal, where, thrown);
    } catch (...) {
      return Error::Make(ErrorKind::kInternal, MessagePrefix(where).append(" of an unknown type"));
    }
  } catch (...) {  // formatting the text ran out of memory
    return OutOfMemory();
  }
}

}  // namespace penstock
