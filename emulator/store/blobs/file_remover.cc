#include "emulator/store/blobs/file_remover.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log/caught.h"
#include "base/log/diagnostics.h"

#include "emulator/store/blobs/own_thread.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent not_removed("store.blob_file_not_removed");  // the next start deletes it

// Lowers the thread's priority. The thread that deletes a file responds to a client next, and must
// not lose its processor to the removal: unlinking 8 MiB takes 0.5 ms. Real-time scheduling is left
// unchanged.
void LowerPriority() {
  const sched_param lowest{};
  if (::sched_getscheduler(0) == SCHED_OTHER)
    ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &lowest);
}

}  // namespace

FileRemover::~FileRemover() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.NotifyAll();
  }
  if (thread.joinable()) thread.join();
}

void FileRemover::Remove(std::string path, std::function<void()> removed) {
  File file{std::move(path), std::move(removed)};
  {
    const MutexLock lock(mutex_);
    while (waiting_.size() >= kMaxWaiting) changed_.WaitIdle(mutex_);
    if (EnsureThread(thread_, [this] { Work(); })) {
      waiting_.push_back(std::move(file));
      ++unfinished_;
      if (waiting_.size() == 1) changed_.NotifyAll();
      return;
    }
  }
  Unlink(file);
}

void FileRemover::Flush() {
  const MutexLock lock(mutex_);
  while (unfinished_ != 0) changed_.WaitIdle(mutex_);
}

void FileRemover::Unlink(const File& file) {
  if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
    not_removed.ReportSystemError(file.path, errno);
  Contain("the callback of a removed file", file.removed);
}

void FileRemover::Work() {
  LowerPriority();
  std::vector<File> files;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      unfinished_ -= files.size();
      files.clear();
      changed_.NotifyAll();
      while (waiting_.empty() && !stopping_) changed_.WaitIdle(mutex_);
      if (waiting_.empty()) return;
      files.swap(waiting_);
    }
    for (const File& file : files) Unlink(file);
  }
}

}  // namespace penstock::emulator::store
