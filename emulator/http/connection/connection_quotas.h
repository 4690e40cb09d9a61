// Limits shared by all connections of a server: threads that wait for request bodies, disk space
// for spooled bodies, memory for unsent responses, and bytes in socket buffers.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_QUOTAS_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_QUOTAS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "penstock/base/result.h"

namespace penstock::emulator::http {

// Thread safety: any thread.
class ConnectionQuotas {
 public:
  // `directory` is for spooled bodies. Empty: the system's temporary directory.
  ConnectionQuotas(int threads, std::string directory, std::uint64_t disk_bytes,
                   std::uint64_t socket_bytes = DefaultSocketBytes(),
                   std::uint64_t response_bytes = kDefaultResponseBytes)
      : free_threads_(threads),
        directory_(std::move(directory)),
        free_bytes_(disk_bytes),
        socket_bytes_(socket_bytes),
        response_bytes_(response_bytes) {}

  // Returns whether one more handler may wait for its request's body on its thread. After true, the
  // caller calls LeaveThread when the handler has returned.
  bool EnterThread();
  void LeaveThread() { free_threads_.fetch_add(1, std::memory_order_relaxed); }

  // Enclose a deliberate delay in a handler. During it the thread counts against no limit: if it
  // holds a place from EnterThread (`entered`), another request may use that place. After EndWait
  // more threads may hold a place than EnterThread grants.
  void BeginWait(bool entered) {
    if (entered) LeaveThread();
    waiting_threads_.fetch_add(1, std::memory_order_relaxed);
  }
  void EndWait(bool entered) {
    waiting_threads_.fetch_sub(1, std::memory_order_relaxed);
    if (entered) free_threads_.fetch_sub(1, std::memory_order_relaxed);
  }
  int waiting_threads() const { return waiting_threads_.load(std::memory_order_relaxed); }

  // Returns false when the disk space for spooled bodies is used up.
  bool ReserveSpace(std::uint64_t bytes);
  void ReleaseSpace(std::uint64_t bytes) {
    free_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // Opens a new unnamed file. Its space is freed when the descriptor is closed. Returns
  // kResourceExhausted on failure.
  Result<int> OpenFile() const;

  // Reserves memory for a generated response until it has been sent. Returns false when the limit
  // is reached. A response larger than the whole limit is granted when no other is held. `last`:
  // the response cannot be replaced by a smaller error and may use twice the limit.
  bool ReserveResponse(std::uint64_t bytes, bool last);
  void ReleaseResponse(std::uint64_t bytes) {
    response_bytes_held_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  static constexpr std::uint64_t kDefaultResponseBytes = 128 << 20;

  // Reports that the bytes of unsent responses in one socket's buffer changed from `before` to
  // `now`.
  void CountHeld(std::uint64_t before, std::uint64_t now) {
    held_bytes_.fetch_add(now - before, std::memory_order_relaxed);
  }
  // Whether socket buffers hold so much that each socket must be limited. By default the system
  // lets each of them grow to a few MiB.
  bool sockets_full() const { return held_bytes_.load(std::memory_order_relaxed) >= socket_bytes_; }
  // Half of what the system's sockets can hold together before it limits them.
  static std::uint64_t DefaultSocketBytes();

 private:
  std::atomic<int> free_threads_;
  std::atomic<int> waiting_threads_{0};
  const std::string directory_;
  std::atomic<std::uint64_t> free_bytes_;
  const std::uint64_t socket_bytes_;
  std::atomic<std::uint64_t> held_bytes_{0};
  const std::uint64_t response_bytes_;
  std::atomic<std::uint64_t> response_bytes_held_{0};
};

// Calls LeaveThread on destruction. Null: does nothing.
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

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_QUOTAS_H_
