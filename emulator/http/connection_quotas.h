// What a server grants to all slow peers together: threads that wait for their bodies, disk space
// for bodies that no thread waits for, and sockets that hold as much of an answer as the system
// allows.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_QUOTAS_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_QUOTAS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "penstock/base/result.h"

namespace penstock::emulator::http {

// Thread safety: any thread.
class ConnectionQuotas {
 public:
  // `directory`: of files for gathered bodies; empty: the system's for temporary files.
  ConnectionQuotas(int threads, std::string directory, std::uint64_t disk_bytes,
                   std::uint64_t crowd_bytes = UsualCrowdBytes(),
                   std::uint64_t answer_bytes = kUsualAnswerBytes)
      : free_threads_(threads),
        directory_(std::move(directory)),
        free_bytes_(disk_bytes),
        crowd_bytes_(crowd_bytes),
        answer_bytes_(answer_bytes) {}

  // Whether one more handler may wait for its request's body on its thread. After true, LeaveThread
  // once it has returned.
  bool EnterThread();
  void LeaveThread() { free_threads_.fetch_add(1, std::memory_order_relaxed); }

  // A handler makes its thread wait on purpose between these two calls. The thread counts against
  // no limit in the meantime: its place among those that wait for bodies, where it has one
  // (`entered`), is free for another request. After EndWait more threads may have entered than
  // EnterThread grants.
  void BeginWait(bool entered) {
    if (entered) LeaveThread();
    waiting_threads_.fetch_add(1, std::memory_order_relaxed);
  }
  void EndWait(bool entered) {
    waiting_threads_.fetch_sub(1, std::memory_order_relaxed);
    if (entered) free_threads_.fetch_sub(1, std::memory_order_relaxed);
  }
  int waiting_threads() const { return waiting_threads_.load(std::memory_order_relaxed); }

  // False: the disk space for gathered bodies is used up.
  bool TakeSpace(std::uint64_t bytes);
  void GiveSpace(std::uint64_t bytes) { free_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // A descriptor of a new file without a name, whose space is the system's again once it is closed.
  // kResourceExhausted.
  Result<int> OpenFile() const;

  // Memory for the text of an answer until it has left. False: all of it is used up. A text larger
  // than all of it has its turn when there is no other. `last`: one that nothing can take the place
  // of may use as much again.
  bool TakeAnswer(std::uint64_t bytes, bool last);
  void GiveAnswer(std::uint64_t bytes) {
    answers_held_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  static constexpr std::uint64_t kUsualAnswerBytes = 128 << 20;

  // What sockets hold of answers that wait until their peers take more has changed from `before` to
  // `now`.
  void CountHeld(std::uint64_t before, std::uint64_t now) {
    held_bytes_.fetch_add(now - before, std::memory_order_relaxed);
  }
  // It is so much that a socket may hold no more than a little: by itself the system lets each have
  // a few MiB.
  bool crowded() const { return held_bytes_.load(std::memory_order_relaxed) >= crowd_bytes_; }
  // What the system's sockets can hold together without being held back, halved.
  static std::uint64_t UsualCrowdBytes();

 private:
  std::atomic<int> free_threads_;
  std::atomic<int> waiting_threads_{0};
  const std::string directory_;
  std::atomic<std::uint64_t> free_bytes_;
  const std::uint64_t crowd_bytes_;
  std::atomic<std::uint64_t> held_bytes_{0};
  const std::uint64_t answer_bytes_;
  std::atomic<std::uint64_t> answers_held_{0};
};

// Gives back what EnterThread granted. Null: nothing was.
class HeldThread {
 public:
  explicit HeldThread(ConnectionQuotas* of) : of_(of) {}
  ~HeldThread() {
    if (of_ != nullptr) of_->LeaveThread();
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

 private:
  ConnectionQuotas* const of_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_QUOTAS_H_
