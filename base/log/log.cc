#include "base/log/log.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>

#include "base/dates.h"
#include "base/log/diagnostics.h"
#include "base/message_filter.h"
#include "base/text/json_text.h"
#include "base/text/redact.h"
#include "penstock/base/check.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock {
namespace {

constexpr std::string_view kLevelNames[] = {"trace", "debug", "info", "warning", "error", "off"};

constinit DiagnosticEvent line_lost("log.line_lost");

// True while this thread runs the sink: a nested log call would deadlock.
thread_local bool inside_sink = false;

class InsideSink {
 public:
  InsideSink() { inside_sink = true; }
  ~InsideSink() { inside_sink = false; }
  InsideSink(const InsideSink&) = delete;
  InsideSink& operator=(const InsideSink&) = delete;
};

// Writes the line and its newline with one call, so that lines of several processes do not
// interleave.
void WriteToStandardError(const std::string& json_line) {
  std::string line = "{\"time\":\"" + FormatIso8601(SystemClock().Now()) +
                     "\",\"pid\":" + std::to_string(::getpid()) + ',';
  line.append(json_line, 1) += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// The sink of the process. The mutex is held during the call, because sinks are called one at a
// time.
class Output {
 public:
  // Never destroyed, because threads may log until the process exits. Not a local static, because a
  // forked child could inherit its guard locked.
  static Output& Instance() {
    Output* existing = instance_.load(std::memory_order_acquire);
    if (existing != nullptr) return *existing;
    auto created = std::make_unique<Output>();
    if (!instance_.compare_exchange_strong(existing, created.get(), std::memory_order_acq_rel))
      return *existing;
    return *created.release();
  }

  static void AfterForkInChild() {
    if (Output* const existing = instance_.load(std::memory_order_acquire)) existing->AfterFork();
  }

  void Set(LogLevel least, LogSink sink) {
    PENSTOCK_CHECK(!inside_sink);
    const MutexLock lock(mutex_);
    sink_ = std::move(sink);
    least_.store(least, std::memory_order_relaxed);
  }

  void SetLevel(LogLevel least) { least_.store(least, std::memory_order_relaxed); }

  bool Enabled(LogLevel level) const {
    return level != LogLevel::kOff && level >= least_.load(std::memory_order_relaxed);
  }

  void Write(LogLevel level, const std::string& json_line) {
    const MutexLock lock(mutex_);
    const InsideSink guard;
    try {
      sink_ ? sink_(level, json_line) : WriteToStandardError(json_line);
    } catch (...) {
      line_lost.Count();  // The caller continues.
    }
  }

 private:
  // The child has one thread, but another thread of the parent may have held the mutex at the fork.
  // Taking the mutex before the fork could deadlock: a Python sink needs the GIL, which the forking
  // thread holds.
  void AfterFork() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    new (&mutex_) Mutex;
    inside_sink = false;
  }

  Mutex mutex_;
  LogSink sink_ PENSTOCK_GUARDED_BY(mutex_);
  std::atomic<LogLevel> least_{LogLevel::kOff};

  static constinit std::atomic<Output*> instance_;
};

constinit std::atomic<Output*> Output::instance_{nullptr};

// Registered at load time: a fork could interrupt a lazy registration.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, Output::AfterForkInChild);

std::string Render(const LogRecord& record) {
  std::string line = "{\"level\":\"";
  line.append(kLevelNames[static_cast<std::size_t>(record.level)]).append("\",\"event\":");
  internal::AppendJsonString(line, record.event);
  for (const auto& [name, value] : record.fields) {
    line += ',';
    internal::AppendJsonString(line, name);
    line += ':';
    if (value.number()) {
      line += value.text();
    } else {
      internal::AppendJsonString(
          line, internal::NamesSecret(name)
                    ? "***"
                    : Redact(internal::ApplyMessageFilter(std::string(value.text()))));
    }
  }
  return line += '}';
}

}  // namespace

LogLevel ParseLogLevel(std::string_view text) {
  if (text == "warn") return LogLevel::kWarning;
  for (std::size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::kOff;
}

void SetLogSink(LogLevel least, LogSink sink) { Output::Instance().Set(least, std::move(sink)); }

void SetLogLevel(LogLevel least) { Output::Instance().SetLevel(least); }

bool LogEnabled(LogLevel level) { return Output::Instance().Enabled(level); }

void Log(const LogRecord& record) {
  if (inside_sink || !LogEnabled(record.level)) return;
  Output::Instance().Write(record.level, Render(record));
}

}  // namespace penstock
