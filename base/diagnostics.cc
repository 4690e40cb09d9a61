#include "base/diagnostics.h"

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "penstock/base/clock.h"

namespace penstock {
namespace {

constexpr std::int64_t kLineEveryNs = 1'000'000'000;

constinit std::atomic<DiagnosticEvent*> events{nullptr};

// Short enough for the string's own memory: it is built where memory has run out.
Error OutOfMemory() noexcept { return Error::Make(ErrorKind::kResourceExhausted, "out of memory"); }

}  // namespace

void DiagnosticEvent::Register() noexcept {
  if (registered_.load(std::memory_order_relaxed) || registered_.exchange(true)) return;
  next_ = events.load(std::memory_order_relaxed);
  while (!events.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void DiagnosticEvent::Report(std::string_view detail) noexcept {
  Register();
  const std::uint64_t count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!LogEnabled(LogLevel::kWarning)) return;
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::int64_t next = next_line_ns_.load(std::memory_order_relaxed);
  if (now < next || !next_line_ns_.compare_exchange_strong(next, now + kLineEveryNs, std::memory_order_relaxed)) return;
  try {
    const std::uint64_t before = logged_.exchange(count, std::memory_order_relaxed);
    const std::string suppressed = std::to_string(count > before ? count - before - 1 : 0);
    const std::string total = std::to_string(count);
    Log({.level = LogLevel::kWarning,
         .event = name_,
         .fields = {{"detail", detail}, {"count", LogValue::Number(total)}, {"suppressed", LogValue::Number(suppressed)}}});
  } catch (...) {
    // The line needs memory that is not available. The event has been counted.
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
  for (const DiagnosticEvent* event = events.load(std::memory_order_acquire); event != nullptr; event = event->next_) {
    counts[event->name_] += event->count();
  }
  return counts;
}

Error CurrentExceptionError() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::exception& thrown) {
      return Error::Make(ErrorKind::kInternal, std::string("unexpected exception: ") + thrown.what());
    } catch (...) {
      return Error::Make(ErrorKind::kInternal, "unexpected exception of an unknown type");
    }
  } catch (...) {  // the text itself needed memory
    return OutOfMemory();
  }
}

}  // namespace penstock
