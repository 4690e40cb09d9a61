#include "penstock/bulk_download.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/async/poll_interrupt.h"
#include "base/log/caught.h"
#include "base/signals_blocked.h"
#include "client/transfer/bulk/received_object.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/files/file_target.h"
#include "client/transfer/process_bound.h"
#include "penstock/base/mutex.h"

namespace penstock {
namespace {

using transfer::FilePath;
using transfer::FileTarget;
using transfer::Folder;
using transfer::ReceivedObject;

constexpr int kMaxRequests = 10'000;
constexpr int kMaxWriters = 256;
// Take returns at once with this many results, and with fewer after this time.
constexpr std::size_t kFullBatch = 64;
constexpr std::chrono::milliseconds kPoll{100};

Result<void> CheckRange(const char* name, int value, int limit) {
  if (value >= 1 && value <= limit) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument, std::string(name) + " must be 1 to " +
                                                      std::to_string(limit) + ", not " +
                                                      std::to_string(value));
}

Error Stopped() { return Error::Make(ErrorKind::kCancelled, "the download was cancelled"); }

// The queues of one bulk download. A file passes through `waiting_`, `running_` (its request),
// `received_`, `running_` again (a writer thread) and `ended_`. Its list node moves along, so
// nothing is allocated after Add. Completions of requests keep this object alive.
class Downloads : public std::enable_shared_from_this<Downloads> {
 public:
  Downloads(ObjectStore& store, BulkDownloadOptions options)
      : store_(store),
        options_(std::move(options)),
        stop_(options_.call.cancel),
        max_requests_(options_.max_parallel_requests) {}

  std::uint64_t Add(BulkFile file) {
    Files added;
    added.emplace_back(std::move(file));
    std::uint64_t number = 0;
    {
      const MutexLock lock(mutex_);
      number = added_++;
      added.front().number = number;
      waiting_.splice(waiting_.end(), added);
      ++pending_;
    }
    Pump();
    return number;
  }

  Result<std::vector<BulkFileResult>> Take(const Interrupt& interrupt) {
    for (;;) {
      {
        const auto until = std::chrono::steady_clock::now() + kPoll;
        const MutexLock lock(mutex_);
        const std::uint64_t enough = std::min<std::uint64_t>(kFullBatch, pending_);
        while (ended_.size() < enough && changed_.WaitUntil(mutex_, until)) {
        }
        if (!ended_.empty() || pending_ == 0) return TakeEnded();
      }
      PENSTOCK_ASSIGN(const bool interrupted, PollInterrupt(interrupt));
      if (interrupted) return Stopped();
    }
  }

  std::vector<BulkFileResult> TakeReady() {
    const MutexLock lock(mutex_);
    return TakeEnded();
  }

  std::uint64_t pending() const {
    const MutexLock lock(mutex_);
    return pending_;
  }

  void SetMaxRequests(int max_requests) {
    {
      const MutexLock lock(mutex_);
      max_requests_ = max_requests;
    }
    Pump();
  }

  void Cancel() {
    stop_.RequestStop();
    Pump();
  }

  // A writer thread. Ends after Close.
  void Write() {
    for (;;) {
      Files::iterator file;
      {
        const MutexLock lock(mutex_);
        while (received_.empty() && !closed_) to_write_.WaitIdle(mutex_);
        if (received_.empty()) return;
        file = received_.begin();
        running_.splice(running_.end(), received_, file);
      }
      Result<void> written =
          Caught("the write of a downloaded file", [&] { return WriteFile(*file); });
      if (!written.ok()) file->result = std::move(written).error();
      End(file);
    }
  }

  // Waits for the files in progress, and lets the writer threads end. Call Cancel before.
  void Close() {
    const MutexLock lock(mutex_);
    while (busy_ > 0 || pumping_)
      changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
    closed_ = true;
    to_write_.NotifyAll();
  }

 private:
  struct File {
    explicit File(BulkFile file) : object(std::move(file)) {}
    ReceivedObject object;
    std::uint64_t number = 0;
    Result<ObjectMetadata> result = ObjectMetadata();
  };
  using Files = std::list<File>;

  bool stopped() const { return stop_.token().stop_requested(); }

  std::vector<BulkFileResult> TakeEnded() PENSTOCK_REQUIRES(mutex_) {
    std::vector<BulkFileResult> taken;
    taken.reserve(ended_.size());
    for (File& file : ended_) taken.push_back({file.number, std::move(file.result)});
    ended_.clear();
    pending_ -= taken.size();
    return taken;
  }

  // Starts requests as long as the limits allow. A store may complete a request before Start
  // returns. The running round handles files that end during it, so the recursion stays flat.
  void Pump() {
    mutex_.Lock();
    if (!pumping_) {
      pumping_ = true;
      while (MayStart()) {
        const bool alone = busy_++ == 0;
        const Files::iterator file = waiting_.begin();
        running_.splice(running_.end(), waiting_, file);
        mutex_.Unlock();
        const Result<bool> memory = TakeMemory(file->object, alone);
        mutex_.Lock();
        if (memory.ok() && !*memory) {
          waiting_.splice(waiting_.begin(), running_, file);
          if (--busy_ > 0) break;  // the next file that ends calls Pump
          continue;
        }
        ++requests_;
        bytes_ += file->object.file().size;
        mutex_.Unlock();
        memory.ok() ? Request(file) : Received(file, memory.error());
        mutex_.Lock();
      }
      pumping_ = false;
      if (busy_ == 0) changed_.NotifyAll();
    }
    mutex_.Unlock();
  }

  bool MayStart() const PENSTOCK_REQUIRES(mutex_) {
    if (waiting_.empty()) return false;
    if (busy_ == 0 || stopped()) return true;
    const std::uint64_t size = waiting_.front().object.file().size;
    return requests_ < max_requests_ && bytes_ + size <= options_.max_memory_bytes;
  }

  // Returns false if the file must wait for memory. `alone`: no other file holds any.
  Result<bool> TakeMemory(ReceivedObject& object, bool alone) const {
    if (stopped()) return Stopped();
    return Caught("the memory of a download", [&]() -> Result<bool> {
      PENSTOCK_ASSIGN(const bool taken, object.TakeMemory(ReceivedObject::Memory::kInBudget));
      if (taken || !alone) return taken;
      return object.TakeMemory(ReceivedObject::Memory::kOutsideIt);
    });
  }

  void Request(Files::iterator file) {
    Result<void> started = Caught("the start of a download", [&] {
      GetObjectRequest request;
      request.bucket = file->object.file().bucket;
      request.key = file->object.file().key;
      request.if_match = file->object.file().etag;
      request.customer_key = options_.customer_key;
      request.sink = &file->object;
      request.options = options_.call;
      request.options.cancel = stop_.token();
      store_.Start(std::move(request),
                   [self = shared_from_this(), file](Result<ObjectMetadata> result) {
                     self->Received(file, std::move(result));
                   });
    });
    if (!started.ok()) Received(file, std::move(started).error());
  }

  // The end of a request.
  void Received(Files::iterator file, Result<ObjectMetadata> result) {
    if (result.ok()) {
      Result<void> complete =
          Caught("the check of a download", [&] { return file->object.CheckComplete(*result); });
      if (!complete.ok()) result = std::move(complete).error();
    }
    file->result = std::move(result);
    const bool received = file->result.ok();
    if (!received) AddPlace(*file);
    {
      const MutexLock lock(mutex_);
      --requests_;
      if (received) received_.splice(received_.end(), running_, file);
    }
    if (!received) return End(file);
    to_write_.NotifyOne();
    Pump();
  }

  static void AddPlace(File& file) {
    Contain("the error of a download", [&] {
      Error error = file.result.error();
      file.result =
          error.At("GetObject", file.object.file().bucket.value, file.object.file().key.value);
    });
  }

  Result<void> WriteFile(const File& file) const {
    if (stopped()) return Stopped();
    PENSTOCK_ASSIGN(const FilePath path, transfer::SplitPath(file.object.file().path));
    PENSTOCK_ASSIGN(Folder folder, transfer::OpenFolder(path.folder));
    PENSTOCK_ASSIGN(FileTarget target, FileTarget::Create(std::move(folder), path.name,
                                                          options_.replace ? ExistingFile::kReplace
                                                                           : ExistingFile::kKeep));
    PENSTOCK_TRY(target.Append(file.object.bytes()));
    if (options_.keep_modification_time)
      PENSTOCK_TRY(target.SetModified(file.result->last_modified));
    return target.Publish(options_.sync);
  }

  // The end of a file that was started.
  void End(Files::iterator file) {
    file->object.ReleaseMemory();
    {
      const MutexLock lock(mutex_);
      bytes_ -= file->object.file().size;
      --busy_;
      ended_.splice(ended_.end(), running_, file);
      if (busy_ == 0 || ended_.size() >= std::min<std::uint64_t>(kFullBatch, pending_))
        changed_.NotifyAll();
    }
    Pump();
  }

  ObjectStore& store_;  // not used after Close has returned
  const BulkDownloadOptions options_;
  transfer::ChainedStop stop_;

  mutable Mutex mutex_;
  CondVar changed_;   // results, or no file in progress
  CondVar to_write_;  // for writer threads
  Files waiting_ PENSTOCK_GUARDED_BY(mutex_);
  Files running_ PENSTOCK_GUARDED_BY(mutex_);
  Files received_ PENSTOCK_GUARDED_BY(mutex_);
  Files ended_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t added_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t pending_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // added and not taken
  std::uint64_t busy_ PENSTOCK_GUARDED_BY(mutex_) = 0;     // in running_ and received_
  std::uint64_t bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;    // of these
  int requests_ PENSTOCK_GUARDED_BY(mutex_) = 0;           // in flight
  int max_requests_ PENSTOCK_GUARDED_BY(mutex_);
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool closed_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

// This object keeps the store, which must not be destroyed on its own thread.
class OwnedDownloads {
 public:
  OwnedDownloads(std::shared_ptr<ObjectStore> store, BulkDownloadOptions options)
      : store_(std::move(store)),
        downloads_(std::make_shared<Downloads>(*store_, std::move(options))) {}
  ~OwnedDownloads() {
    downloads_->Cancel();
    downloads_->Close();
    for (std::thread& writer : writers_) writer.join();
  }
  OwnedDownloads(const OwnedDownloads&) = delete;
  OwnedDownloads& operator=(const OwnedDownloads&) = delete;

  // One thread is enough, if not as fast.
  Result<void> StartWriters(int count) {
    const SignalsBlocked blocked;
    Result<void> started = Caught("the start of a writer thread", [&] {
      for (int i = 0; i < count; ++i)
        writers_.emplace_back([downloads = downloads_.get()] { downloads->Write(); });
    });
    if (!writers_.empty()) return Ok();
    return started;
  }
  Downloads& downloads() const { return *downloads_; }

 private:
  const std::shared_ptr<ObjectStore> store_;
  const std::shared_ptr<Downloads> downloads_;
  std::vector<std::thread> writers_;
};

class BoundDownload final : public BulkDownload {
 public:
  explicit BoundDownload(std::unique_ptr<OwnedDownloads> owned)
      : owned_(std::move(owned), "this bulk download") {}

  Result<std::uint64_t> Add(BulkFile file) override {
    PENSTOCK_TRY(owned_.CheckProcess());
    return owned_.object().downloads().Add(std::move(file));
  }
  Result<std::vector<BulkFileResult>> Take(const Interrupt& interrupt) override {
    PENSTOCK_TRY(owned_.CheckBlockingUse("BulkDownload::Take"));
    return owned_.object().downloads().Take(interrupt);
  }
  std::vector<BulkFileResult> TakeReady() override {
    if (!owned_.mine()) return {};
    return owned_.object().downloads().TakeReady();
  }
  std::uint64_t pending() const override {
    return owned_.mine() ? owned_.object().downloads().pending() : 0;
  }
  void SetMaxParallelRequests(int max_parallel_requests) override {
    if (owned_.mine())
      owned_.object().downloads().SetMaxRequests(
          std::clamp(max_parallel_requests, 1, kMaxRequests));
  }
  void Cancel() override {
    if (owned_.mine()) owned_.object().downloads().Cancel();
  }

 private:
  const transfer::ProcessBound<OwnedDownloads> owned_;
};

}  // namespace

Result<std::unique_ptr<BulkDownload>> BulkDownload::Create(std::shared_ptr<ObjectStore> store,
                                                           BulkDownloadOptions options) {
  PENSTOCK_TRY(CheckRange("max_parallel_requests", options.max_parallel_requests, kMaxRequests));
  PENSTOCK_TRY(CheckRange("writer_threads", options.writer_threads, kMaxWriters));
  const int writers = options.writer_threads;
  auto owned = std::make_unique<OwnedDownloads>(std::move(store), std::move(options));
  PENSTOCK_TRY(owned->StartWriters(writers));
  return std::unique_ptr<BulkDownload>(std::make_unique<BoundDownload>(std::move(owned)));
}

}  // namespace penstock
