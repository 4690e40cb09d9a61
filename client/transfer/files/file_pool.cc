#include "client/transfer/files/file_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/async/poll_interrupt.h"
#include "base/log/caught.h"
#include "base/signals_blocked.h"

namespace penstock::transfer {

FilePool::FilePool(const DirectoryOptions& options, const Interrupt& interrupt)
    : options_(options),
      interrupt_(interrupt),
      link_(options.call.cancel, [stop = stop_]() mutable { stop.request_stop(); }),
      call_(options.call) {
  call_.cancel = stop_.get_token();
}

FilePool::~FilePool() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    queue_.clear();
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

template <class Condition>
void FilePool::Await(Condition condition) {
  constexpr std::chrono::milliseconds kPoll{100};
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (condition()) return;
      changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
      if (condition()) return;
    }
    if (Ended()) continue;
    const Result<bool> interrupted = PollInterrupt(interrupt_);
    if (!interrupted.ok()) {
      const MutexLock lock(mutex_);
      EndWith(interrupted.error());
    }
    if (!interrupted.ok() || *interrupted) stop_.request_stop();
  }
}

bool FilePool::Ended() {
  if (stopped()) return true;
  if (!call_.deadline.Passed(SystemClock())) return false;
  timed_out_ = true;
  stop_.request_stop();
  return true;
}

bool FilePool::Submit(FileTask task) {
  const auto threads = static_cast<std::size_t>(options_.max_parallel_files);
  Await([&]() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    return queue_.size() < threads || stopped() || full_;
  });
  const MutexLock lock(mutex_);
  if (stopped() || full_) return false;
  if (const Result<void> queued =
          Caught("the queue of files",
                 [&]() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS { queue_.push_back(std::move(task)); });
      !queued.ok()) {
    EndWith(queued.error());
    return false;
  }
  changed_.NotifyAll();
  const bool all_busy = static_cast<std::size_t>(running_) + queue_.size() > threads_.size();
  if (!all_busy || threads_.size() >= threads) return true;
  // With at least one thread the files are transferred, if more slowly.
  const SignalsBlocked blocked;
  const Result<void> started = Caught("the start of a file transfer thread",
                                      [this] { threads_.emplace_back([this] { Work(); }); });
  if (started.ok() || !threads_.empty()) return true;
  EndWith(started.error());
  return false;
}

void FilePool::EndWith(Error error) {
  if (!error_) error_ = std::move(error);
  queue_.clear();
  full_ = true;
  changed_.NotifyAll();
}

bool FilePool::Fail(std::string path, ObjectKey key, Error error) {
  Record({std::move(path), std::move(key), {}}, std::move(error));
  const MutexLock lock(mutex_);
  return !full_ && !stopped();
}

void FilePool::Work() {
  for (;;) {
    FileTask task;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !closed_) changed_.WaitIdle(mutex_);
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
      changed_.NotifyAll();
    }
    // A file of a transfer that was stopped before its start is not a failure.
    if (!Ended()) {
      const Result<std::uint64_t> result =
          Caught("the transfer of a file", [&] { return task.run(call_); });
      const bool is_of_end = !result.ok() && (result.error().kind == ErrorKind::kCancelled ||
                                              result.error().kind == ErrorKind::kTimeout);
      if (!is_of_end || !Ended()) Record(task, result);
    }
    const MutexLock lock(mutex_);
    --running_;
    changed_.NotifyAll();
  }
}

void FilePool::Record(const FileTask& task, const Result<std::uint64_t>& result) {
  Result<void> recorded =
      Caught("the record of a transferred file", [&] { AddToResponse(task, result); });
  if (recorded.ok()) return;
  const MutexLock lock(mutex_);
  EndWith(std::move(recorded).error());
}

void FilePool::AddToResponse(const FileTask& task, const Result<std::uint64_t>& result) {
  if (options_.on_file) {
    const MutexLock lock(report_mutex_);
    Contain("DirectoryOptions::on_file", [&] {
      options_.on_file(task.path, task.key, result.ok() ? nullptr : &result.error());
    });
  }
  const MutexLock lock(mutex_);
  if (result.ok()) {
    ++response_.files;
    response_.bytes += *result;
    return;
  }
  if (!options_.download.replace && result.error().kind == ErrorKind::kAlreadyExists) {
    response_.skipped.push_back(task.path);
    return;
  }
  response_.failures.push_back({task.path, task.key, result.error()});
  if (response_.failures.size() >= std::max<std::size_t>(1, options_.max_failures)) {
    full_ = true;
    queue_.clear();
    changed_.NotifyAll();
  }
}

Result<DirectoryResponse> FilePool::Finish() {
  Await([this]() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    if (stopped()) queue_.clear();
    return queue_.empty() && running_ == 0;
  });
  const MutexLock lock(mutex_);
  if (error_) return *std::move(error_);
  if (timed_out_) {
    return Error::Make(ErrorKind::kTimeout,
                       "the deadline passed after " + std::to_string(response_.files) +
                           " files of the directory; start it again to transfer the rest");
  }
  if (stopped()) {
    return Error::Make(ErrorKind::kCancelled, "the transfer of the directory was cancelled after " +
                                                  std::to_string(response_.files) +
                                                  " files; start it again to transfer "
                                                  "the rest");
  }
  return std::move(response_);
}

}  // namespace penstock::transfer
