// The process's memory for moving bytes: one budget, and a pool of buffers within it.
//
// Whoever fetches ahead or holds parts on their way takes its memory here, so that many transfers
// at once wait for each other instead of growing. Memory that a caller brings (a tensor, a Python
// `bytes` that was asked for) is not counted.
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
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock {

// What a budget of fewer bytes could not serve: a part on its way and one being filled.
inline constexpr std::uint64_t kLeastMemoryLimitBytes = 16ull << 20;

// A quarter of the memory that this machine, or the control group this process is in, has; at most
// 2 GiB.
std::uint64_t DefaultMemoryLimit();

// Sets how many bytes this process may hold at a time for blocks and parts in transfer, for all
// Clients. Takes effect at once; bytes that are held already stay. Before the first call the limit
// is that of PENSTOCK_MEMORY_LIMIT ("268435456", "256MiB", "2GiB"), which is read at the first use,
// else DefaultMemoryLimit(). A forked child starts with the limit of its parent. kInvalidArgument
// below kLeastMemoryLimitBytes. Thread safety: safe from any thread.
Result<void> SetMemoryLimit(std::uint64_t limit_bytes);

// The limit that applies now, in bytes.
std::uint64_t MemoryLimit();

// ---- MemoryBudget
// ---------------------------------------------------------------------------------------------

// Bytes that may be held at a time. Those who wait are served in the order they came.
//
// It never deadlocks. What was fetched ahead for somebody who does not wait for it is taken back at
// once (`Evictable`). A request larger than the limit proceeds when nothing else is held. And since
// those who hold the rest may be waiting for the one in front (one thread that writes to many
// objects), he is let beyond the limit once `kPatience` has passed in which nothing was given back
// and nothing held was in flight, that is, would come back by itself. That is counted
// (`Usage::beyond_limit`).
//
// Thread safety: safe from any thread, also in a forked child: what it holds of its parent's is not
// given back there.
class MemoryBudget {
 public:
  static constexpr std::chrono::milliseconds kPatience{1000};

  // Held bytes; gives them back when destroyed. The budget outlives it.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept;
    ~Share() { Release(); }

    std::uint64_t bytes() const { return bytes_; }
    explicit operator bool() const { return budget_ != nullptr; }
    // Says that the memory is with the network and comes back without anybody's help. Not while
    // another thread does.
    void SetInFlight(bool in_flight);
    void Release();

   private:
    friend class MemoryBudget;
    Share(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}

    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
    bool in_flight_ = false;
  };

  // Holds memory that nobody waits for and that can be filled again, such as blocks fetched ahead.
  // The budget may destroy it, under its lock: whatever holds shares is another object.
  class Evictable {
   public:
    virtual ~Evictable() = default;
    // Gives back about `bytes`, or all there is where that is less; memory in flight is to come
    // back soon by itself. Returns how much that is. On the thread of somebody who waits, who holds
    // no lock of the budget. Does not wait for memory.
    virtual std::uint64_t GiveUp(std::uint64_t bytes) = 0;

   private:
    friend class MemoryBudget;
    // The budget's, under its lock.
    std::optional<std::list<std::shared_ptr<Evictable>>::iterator> place_;
    bool withdrawn_ = false;
  };

  struct Usage {
    std::uint64_t limit = 0;
    std::uint64_t held = 0;          // bytes
    std::uint64_t most_held = 0;     // bytes, since the budget was made
    std::uint64_t in_flight = 0;     // bytes, of those held
    std::uint64_t waiting = 0;       // callers
    std::uint64_t beyond_limit = 0;  // times that somebody was let beyond the limit
    std::uint64_t taken_back = 0;    // bytes that spares gave up for somebody who waited
  };

  explicit MemoryBudget(std::uint64_t limit_bytes, std::chrono::milliseconds patience = kPatience);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // The budget of this process, with MemoryLimit() as its limit. A forked child has its own, empty,
  // with the same limit.
  static MemoryBudget& PerProcess();

  // Now or not at all: nullopt also while others wait. For work that can do with less, such as
  // fetching ahead.
  std::optional<Share> TryTake(std::uint64_t bytes);
  // Waits. kCancelled once `interrupt`, polled about every 100 ms, says so; kInvalidArgument on an
  // I/O thread.
  Result<Share> Take(std::uint64_t bytes, const std::function<bool()>& interrupt = {});

  // `spare` was used just now: those not used for longest are asked first. It stays known until it
  // was asked and had less than that, or is retracted. Shared, since it may be asked while its
  // owner withdraws it.
  void Register(const std::shared_ptr<Evictable>& spare);
  // It holds nothing now. It may be being asked all the same.
  void Unregister(Evictable& spare);
  // The same for good: Register does nothing from now on.
  void Withdraw(Evictable& spare);
  // What each of those with spare memory may hold, so that all together stay within the limit.
  std::uint64_t FairShare() const;

  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Holds from now on; what is held already stays.
  void SetLimit(std::uint64_t limit_bytes);
  Usage usage() const;

 private:
  struct Waiter {};
  // What one who waits was promised by spares, and what was held then.
  struct Promised {
    std::uint64_t bytes = 0;
    std::uint64_t held = 0;
  };
  static constexpr bool kForGood = true;
  void Unlist(Evictable& spare, bool for_good);
  void TakeBack(std::uint64_t bytes, Promised& promised) PENSTOCK_REQUIRES(mutex_);
  bool Fits(std::uint64_t bytes) const PENSTOCK_REQUIRES(mutex_);
  bool IsStuck() const PENSTOCK_REQUIRES(mutex_);
  Share Grant(std::uint64_t bytes) PENSTOCK_REQUIRES(mutex_);
  void GiveBack(std::uint64_t bytes, bool in_flight);
  void ChangeInFlight(std::uint64_t bytes, bool in_flight);
  bool mine() const;

  const int process_;  // that made it: in a child its lock may be taken for ever
  const std::chrono::milliseconds patience_;
  std::atomic<std::uint64_t> limit_;
  mutable Mutex mutex_;
  CondVar changed_;
  Usage usage_ PENSTOCK_GUARDED_BY(mutex_);
  // first come, first served; each is its caller's place
  std::list<Waiter> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  // those not used for longest first
  std::list<std::shared_ptr<Evictable>> spares_ PENSTOCK_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point last_change_ PENSTOCK_GUARDED_BY(mutex_);
};

// ---- BufferPool
// -----------------------------------------------------------------------------------------------

// Memory from a BufferPool, not zeroed; goes back to it when destroyed. Movable, empty by default.
// The pool outlives it.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept { *this = std::move(other); }
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer() { Release(); }

  std::byte* data() const { return data_; }
  // bytes that may be used: what was asked for, rounded up
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

// Buffers of whole 2 MiB, aligned to that and advised to be huge pages: a fresh small page costs
// five times what receiving into it does (spec/performance.md §0). Or, where they are asked for,
// small ones. All are mapped, so that what is let go of leaves the process. What is given back is
// kept for the next of that size, up to a quarter of the limit and 256 MiB; kept memory makes room
// when other sizes are asked for, so that kept and held together stay within the limit.
//
// Thread safety: as MemoryBudget.
class BufferPool {
 public:
  static constexpr std::size_t kUnit = 2 << 20;
  // bytes from which on a small buffer is a huge one
  static constexpr std::size_t kLeastHuge = 1 << 20;
  enum class Grain { kHuge, kSmall };
  // Bytes of the buffer for so many. A small one has whole 64 KiB, whole 4 KiB below that.
  static std::size_t SizeFor(std::size_t bytes, Grain grain);

  explicit BufferPool(MemoryBudget& budget);  // outlives the pool
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // Over MemoryBudget::PerProcess().
  static BufferPool& PerProcess();

  // As MemoryBudget's. kResourceExhausted when the system has no memory.
  Result<std::optional<PooledBuffer>> TryTake(std::size_t bytes, Grain grain = Grain::kHuge);
  Result<PooledBuffer> Take(std::size_t bytes, const std::function<bool()>& interrupt = {},
                            Grain grain = Grain::kHuge);

  // Gives kept memory back to the system.
  void Trim();
  // So much of it that kept and held are within the limit together. For who took from the budget,
  // and not from here.
  void MakeRoom();
  std::uint64_t kept_bytes() const;
  MemoryBudget& budget() const { return budget_; }

 private:
  friend class PooledBuffer;
  using Freed = std::vector<std::pair<std::byte*, std::size_t>>;
  Result<PooledBuffer> Fill(MemoryBudget::Share share, std::size_t size);
  void Keep(std::byte* data, std::size_t size);
  // Until at most `most` bytes are kept. They are unmapped by the caller, after the lock.
  void DropKept(std::uint64_t most, Freed& freed) PENSTOCK_REQUIRES(mutex_);
  std::uint64_t Room() const;  // that the budget's limit leaves beside what is held
  std::uint64_t MostKept() const;

  const int process_;
  MemoryBudget& budget_;
  mutable Mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> kept_ PENSTOCK_GUARDED_BY(mutex_);  // by size
  std::uint64_t kept_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_MEMORY_H_
