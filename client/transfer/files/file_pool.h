// Runs the transfers of a directory's files on a few threads, and collects their results.
#ifndef PENSTOCK_CLIENT_TRANSFER_FILES_FILE_POOL_H_
#define PENSTOCK_CLIENT_TRANSFER_FILES_FILE_POOL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/files.h"

namespace penstock::transfer {

// One file.
struct FileTask {
  std::string path;
  ObjectKey key;
  // Returns the bytes transferred. Runs on a thread of the pool.
  std::function<Result<std::uint64_t>(const CallOptions&)> run;
};

// The queue is bounded, so that a listing of millions of objects is not kept in memory.
//
// Thread safety: Submit, Fail and Finish from one thread, the creator's.
class FilePool {
 public:
  // `options` and `interrupt` must outlive the pool.
  FilePool(const DirectoryOptions& options, const Interrupt& interrupt);
  ~FilePool();
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  // Waits for room in the queue. Returns false if no further file will be started.
  bool Submit(FileTask task);
  // Records a file that cannot be transferred. Returns as Submit.
  bool Fail(std::string path, ObjectKey key, Error error);
  void Skip(std::string path) { response_.skipped.push_back(std::move(path)); }
  // Waits for all files. Returns kCancelled or kTimeout if the transfer was stopped, and an error
  // if no thread could start, a file could not be queued or recorded, or the interrupt threw.
  Result<DirectoryResponse> Finish();

  // The call options of a request of this transfer: those of the caller, with the pool's stop.
  const CallOptions& call() const { return call_; }

 private:
  void Work();
  // Does not throw.
  void Record(const FileTask& task, const Result<std::uint64_t>& result);
  void AddToResponse(const FileTask& task, const Result<std::uint64_t>& result);
  // Starts no further file. Finish returns the first of these errors.
  void EndWith(Error error) PENSTOCK_REQUIRES(mutex_);
  // Returns whether no further file is started, because of a stop or the deadline.
  bool Ended();
  bool stopped() const { return call_.cancel.stop_requested(); }
  // Waits until `condition`, which is evaluated under the lock. Polls the caller's interrupt and
  // deadline about every 100 ms.
  template <class Condition>
  void Await(Condition condition);

  const DirectoryOptions& options_;
  const Interrupt& interrupt_;
  std::stop_source stop_;
  std::atomic<bool> timed_out_ = false;
  std::stop_callback<std::function<void()>> link_;
  CallOptions call_;
  DirectoryResponse response_;  // `skipped` by the creator, the rest under mutex_
  Mutex mutex_;
  CondVar changed_;
  std::deque<FileTask> queue_ PENSTOCK_GUARDED_BY(mutex_);
  int running_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool closed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool full_ PENSTOCK_GUARDED_BY(mutex_) = false;  // max_failures was reached, or there is an error
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
  Mutex report_mutex_;  // held during on_file
  std::vector<std::thread> threads_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_FILES_FILE_POOL_H_
