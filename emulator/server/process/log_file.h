// A log of lines that never delays its caller, also if its output is a full pipe.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_LOG_FILE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_LOG_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/log/diagnostics.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Lines for a regular file are written directly. Lines that a pipe, terminal or socket does not
// take at once are queued, up to kMaxQueued bytes, and written by a thread; further lines are
// dropped.
//
// Thread safety: any thread; lines are written whole.
class LogFile {
 public:
  static constexpr std::size_t kMaxQueued = 1 << 20;

  // Appends to `path`; "-" is standard error. Returns kInvalidArgument, with a message that begins
  // with `what`, when it cannot be opened. Does not wait for the reader of a FIFO. `lost` counts
  // queued lines that are dropped.
  static Result<std::unique_ptr<LogFile>> Open(std::string_view what, const std::string& path,
                                               DiagnosticEvent& lost);
  // Waits up to 0.5 s for the reader of queued lines, and drops the rest.
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Writes or queues `line`, which ends with a line feed. Returns 0, or the errno value for which
  // it was dropped (EAGAIN: the queue is full).
  int Write(std::string_view line);

 private:
  LogFile(int descriptor, DiagnosticEvent& lost);
  // Writes what the descriptor takes without waiting, and removes it from `text`.
  int Put(std::string_view& text) PENSTOCK_REQUIRES(mutex_);
  int PutQueue() PENSTOCK_REQUIRES(mutex_);
  void DropQueue() PENSTOCK_REQUIRES(mutex_);
  // Returns false if no thread can be started.
  bool StartWriter() PENSTOCK_REQUIRES(mutex_);
  void WriteQueue();

  const int descriptor_;
  const bool regular_;
  // The descriptor is shared with other processes, or does not support O_NONBLOCK: a write may wait
  // unless poll() reports space.
  const bool must_poll_;
  DiagnosticEvent& lost_;
  Mutex mutex_;
  CondVar changed_;
  std::string queue_ PENSTOCK_GUARDED_BY(mutex_);   // begins with the rest of a line, or a line
  std::thread writer_ PENSTOCK_GUARDED_BY(mutex_);  // started when the first line is queued
  bool closing_ PENSTOCK_GUARDED_BY(mutex_) = false;
  MonotonicTime until_ PENSTOCK_GUARDED_BY(mutex_){};  // of the writer, when closing
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_LOG_FILE_H_
