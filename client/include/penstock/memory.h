// Memory for data in transfer: one budget per process, and a pool of buffers within it.
//
// Prefetched blocks and parts in flight take their memory here, so that many concurrent transfers
// wait for each other instead of exhausting memory. Memory that the caller owns is not counted, for
// example a tensor or the Python `bytes` that a read returns.
#ifndef PENSTOCK_MEMORY_H_
#define PENSTOCK_MEMORY_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/export.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// The smallest useful budget: one part in flight and one being filled.
inline constexpr std::uint64_t kMinMemoryLimitBytes = 16ull << 20;

// Returns a quarter of the memory of the machine or of the process's control group, at most 2 GiB.
std::uint64_t DefaultMemoryLimit();

// Sets the limit in bytes on blocks and parts in transfer, for all Clients of the process. It takes
// effect at once; memory already held is kept. Before the first call the limit is
// PENSTOCK_MEMORY_LIMIT ("268435456", "256MiB", "2GiB"), which is read at the first use, else
// DefaultMemoryLimit(). A forked child starts with the limit of its parent. Returns
// kInvalidArgument below kMinMemoryLimitBytes.
//
// Thread safety: may be called from any thread.
Result<void> SetMemoryLimit(std::uint64_t limit_bytes);

// Returns kInvalidArgument if PENSTOCK_MEMORY_LIMIT is set and is not a valid limit. Client::Create
// reports the same error.
Result<void> CheckMemoryLimitVariable();

// Returns the current limit in bytes.
std::uint64_t MemoryLimit();

// ---- MemoryBudget ----

// A limit on bytes held at a time. Requests over the limit wait in FIFO order.
//
// The budget never deadlocks:
// - Prefetched memory that no caller waits for is reclaimed at once (`Evictable`).
// - A request larger than the limit proceeds when nothing else is held.
// - The holders of the rest may wait for the oldest waiter, for example one thread that writes many
//   objects. The oldest waiter may therefore exceed the limit if no held memory is in flight (it
//   would be released without help): at once if the threads that wait here, and idle threads, hold
//   so much that the request cannot fit otherwise, else after `kStallLimit` without a release.
//   A thread is idle if its memory was neither taken, released nor in flight for `kStallLimit`.
//   `Usage::beyond_limit` counts these cases.
//
// Memory belongs to the thread that took it. If another thread releases it, the oldest waiter may
// exceed the limit although it need not. A writer requests memory only while its part is too small
// to be sent, and a reader only without a block. So the limit is exceeded by at most one buffer and
// one minimum part per open writer, and by one block per reader.
//
// Thread safety: may be used from any thread, also in a forked child. Memory held since before the
// fork is not released in the child.
class MemoryBudget {
 public:
  static constexpr std::chrono::milliseconds kStallLimit{1000};

  // Held bytes, released on destruction. The budget must outlive it.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept;
    ~Share() { Release(); }

    std::uint64_t bytes() const { return bytes_; }
    explicit operator bool() const { return budget_ != nullptr; }
    // Marks the memory as in use by the network: it will be released without action by the caller.
    // Must not run concurrently with another call on this Share.
    void SetInFlight(bool in_flight);
    void Release();

   private:
    friend class MemoryBudget;
    Share(MemoryBudget& budget, std::uint64_t bytes, std::thread::id taker)
        : budget_(&budget), bytes_(bytes), taker_(taker) {}

    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
    std::thread::id taker_;
    bool in_flight_ = false;
  };

  // Holds memory that no caller waits for and that can be filled again, such as prefetched blocks.
  // The budget may destroy it under its lock, so it must not own shares itself.
  class Evictable {
   public:
    virtual ~Evictable() = default;
    // Releases about `bytes`, or everything if that is less. Memory in flight must follow soon
    // without further action. Returns the number of bytes. Runs on a waiting thread that does not
    // hold the budget's lock. Must not wait for memory.
    virtual std::uint64_t GiveUp(std::uint64_t bytes) = 0;

   private:
    friend class MemoryBudget;
    // Guarded by the budget's lock.
    std::optional<std::list<std::shared_ptr<Evictable>>::iterator> place_;
    bool withdrawn_ = false;
  };

  struct Usage {
    std::uint64_t limit = 0;
    std::uint64_t held = 0;          // Bytes.
    std::uint64_t peak_held = 0;     // Bytes, since the budget was created.
    std::uint64_t in_flight = 0;     // Bytes, included in `held`.
    std::uint64_t waiting = 0;       // Callers.
    std::uint64_t beyond_limit = 0;  // Times that a waiter exceeded the limit.
    std::uint64_t taken_back = 0;    // Bytes that Evictables released for waiters.
  };

  explicit MemoryBudget(std::uint64_t limit_bytes,
                        std::chrono::milliseconds stall_limit = kStallLimit);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // The budget of this process, with MemoryLimit() as its limit. A forked child has its own empty
  // budget with the same limit.
  static MemoryBudget& PerProcess();

  // Does not wait: returns nullopt if the bytes do not fit or other callers wait. For optional work
  // such as prefetching.
  std::optional<Share> TryTake(std::uint64_t bytes);
  // Waits. Returns kCancelled after `interrupt`, which is polled about every 100 ms, returned true.
  // Returns kInvalidArgument on an I/O thread.
  Result<Share> Take(std::uint64_t bytes, const std::function<bool()>& interrupt = {});

  // Marks `evictable` as the most recently used. The least recently used one is asked to release
  // memory first. It stays registered until it released less than it was asked for, or until
  // Unregister. It is shared because GiveUp may run while its owner withdraws it.
  void Register(const std::shared_ptr<Evictable>& evictable);
  // `evictable` holds nothing now. A concurrent GiveUp may still run.
  void Unregister(Evictable& evictable);
  // Same, permanently: later calls of Register do nothing.
  void Withdraw(Evictable& evictable);
  // Returns the bytes that each registered Evictable may hold so that all together stay within the
  // limit.
  std::uint64_t FairShare() const;

  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Sets the limit for later requests; memory already held is kept.
  void SetLimit(std::uint64_t limit_bytes);
  Usage usage() const;

 private:
  struct Waiter {
    std::thread::id thread;
  };
  // Bytes that Evictables promised to one waiter, and the bytes held at that time.
  struct Promised {
    std::uint64_t Missing(std::uint64_t held_now) const;
    std::uint64_t bytes = 0;
    std::uint64_t held = 0;
  };
  struct Taken {
    std::uint64_t bytes = 0;
    std::chrono::steady_clock::time_point last_change{};
  };
  static constexpr bool kForGood = true;
  void Unlist(Evictable& evictable, bool for_good);
  void TakeBack(std::uint64_t bytes, Promised& promised) PENSTOCK_REQUIRES(mutex_);
  bool Fits(std::uint64_t bytes) const PENSTOCK_REQUIRES(mutex_);
  bool IsStuck(std::uint64_t bytes, const Promised& promised) const PENSTOCK_REQUIRES(mutex_);
  std::uint64_t HeldByWaitersAndIdle(std::chrono::steady_clock::time_point now) const
      PENSTOCK_REQUIRES(mutex_);
  Share Grant(std::uint64_t bytes) PENSTOCK_REQUIRES(mutex_);
  void Release(const Share& share);
  void ChangeInFlight(const Share& share);
  bool mine() const;

  const int process_;  // The creating process. In a forked child the lock may be locked for ever.
  const std::chrono::milliseconds stall_limit_;
  std::atomic<std::uint64_t> limit_;
  mutable Mutex mutex_;
  CondVar changed_;
  Usage usage_ PENSTOCK_GUARDED_BY(mutex_);
  // Bytes held, by the thread that took them.
  std::map<std::thread::id, Taken> taken_ PENSTOCK_GUARDED_BY(mutex_);
  // In FIFO order. Each element belongs to one waiting caller.
  std::list<Waiter> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  // Least recently used first.
  std::list<std::shared_ptr<Evictable>> evictables_ PENSTOCK_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point last_change_ PENSTOCK_GUARDED_BY(mutex_);
};

// ---- BufferPool ----

// A buffer of a BufferPool, not zeroed. It returns to the pool on destruction. Movable; empty by
// default. The pool must outlive it.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept { *this = std::move(other); }
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer() { Release(); }

  std::byte* data() const { return data_; }
  // Usable bytes: the requested size, rounded up.
  std::size_t size() const { return size_; }
  MutableByteView bytes() const { return {data_, size_}; }
  explicit operator bool() const { return data_ != nullptr; }
  void SetInFlight(bool in_flight) { share_.SetInFlight(in_flight); }
  void Release();

 private:
  friend class BufferPool;

  class BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  MemoryBudget::Share share_;
};

// Buffers in units of 2 MiB, aligned to 2 MiB and advised to use huge pages. A page fault on a new
// small page costs five times the time to receive its bytes. Small buffers are available on
// request.
//
// All buffers are mapped, so freed memory returns to the system. Released buffers are kept for
// reuse, up to a quarter of the limit and 256 MiB. Kept buffers are unmapped when other sizes are
// requested, so that kept and held memory stay within the limit.
//
// Thread safety: same as MemoryBudget.
class BufferPool {
 public:
  static constexpr std::size_t kUnit = 2 << 20;
  // A small buffer of at least this many bytes becomes a huge one.
  static constexpr std::size_t kMinHugeBytes = 1 << 20;
  enum class Grain { kHuge, kSmall };
  // Returns the buffer size in bytes for a request of `bytes`. Small buffers are multiples of 64
  // KiB, or of 4 KiB if they are smaller than 64 KiB.
  static std::size_t SizeFor(std::size_t bytes, Grain grain);

  explicit BufferPool(MemoryBudget& budget);  // Must outlive the pool.
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // Uses MemoryBudget::PerProcess().
  static BufferPool& PerProcess();

  // Same as MemoryBudget. Returns kResourceExhausted if the system has no memory.
  Result<std::optional<PooledBuffer>> TryTake(std::size_t bytes, Grain grain = Grain::kHuge);
  Result<PooledBuffer> Take(std::size_t bytes, const std::function<bool()>& interrupt = {},
                            Grain grain = Grain::kHuge);

  // Returns all kept memory to the system.
  void Trim();
  // Unmaps kept buffers until kept and held memory together are within the limit. For callers that
  // take memory from the budget directly.
  void MakeRoom();
  std::uint64_t kept_bytes() const;
  MemoryBudget& budget() const { return budget_; }

 private:
  friend class PooledBuffer;
  using Freed = std::vector<std::pair<std::byte*, std::size_t>>;
  Result<PooledBuffer> Fill(MemoryBudget::Share share, std::size_t size);
  void Keep(std::byte* data, std::size_t size);
  // Drops kept buffers until at most `most` bytes remain. The caller unmaps them after it releases
  // the lock.
  void DropKept(std::uint64_t most, Freed& freed) PENSTOCK_REQUIRES(mutex_);
  std::uint64_t Room() const;  // The limit minus the bytes held.
  std::uint64_t MaxKept() const;

  const int process_;
  MemoryBudget& budget_;
  mutable Mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> kept_ PENSTOCK_GUARDED_BY(mutex_);  // By size.
  std::uint64_t kept_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_MEMORY_H_
