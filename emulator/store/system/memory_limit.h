// The memory limit of all stores without a directory, of request documents, fault scenarios and
// namespaces together.
//
// The limit applies to the process: the stores of all namespaces charge the same MemoryLimit. Bytes
// are charged before memory is allocated for them, so that an upload that does not fit is rejected
// before memory runs out.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_MEMORY_LIMIT_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_MEMORY_LIMIT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system_memory.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// A cache of memory that is not in use.
class ReclaimableMemory {
 public:
  virtual ~ReclaimableMemory() = default;
  // Frees the memory before it returns.
  virtual void Reclaim() = 0;
};

// Thread safety: any thread.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes) : limit_(bytes) {}
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  // The limit of all stores of this process that have no limit of their own:
  // DefaultMemoryLimitBytes.
  static const std::shared_ptr<MemoryLimit>& ForProcess();

  // What a charge must fit beside: all used bytes, or all but those of request documents.
  enum class Counting { kAll, kWithoutDocuments };

  std::uint64_t limit_bytes() const { return limit_; }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }

  // Whether `bytes` more fit now. Reclaims memory if they do not. Reserves nothing.
  bool HasRoomFor(std::uint64_t bytes);
  // The same for records: request documents do not count, since one of them may be the request that
  // writes the records.
  bool HasRoomForRecords(std::uint64_t bytes);
  // An InsufficientStorage error that names the limit, the bytes in use and the option to change.
  // SlowDown if the bytes would fit without the request documents that are in memory at the moment.
  // `reserve`: what must be free besides (RowMemory).
  Error Exceeded(std::uint64_t bytes, std::uint64_t reserve = 0) const;
  // Adds a cache to reclaim when the limit is reached. The cache is dropped once it has expired.
  void AddReclaimable(std::weak_ptr<ReclaimableMemory> memory);
  // Surround the destruction of a store on another thread. A charge that does not fit waits for the
  // end, at most 5 s.
  void BeginRelease();
  void EndRelease();

 private:
  friend class MemoryCharge;
  friend class DocumentCharge;
  struct Use {
    std::uint64_t all = 0;
    std::uint64_t documents = 0;
  };
  // False, with nothing charged, if the limit would be exceeded even after all memory was
  // reclaimed.
  bool Reserve(std::uint64_t bytes, Counting counting);
  bool TryReserve(std::uint64_t bytes, Counting counting);
  Use CurrentUse() const;
  bool FitsWithoutDocuments(const Use& use, std::uint64_t bytes) const;
  void Reclaim();
  bool FitsWithoutDocuments(std::uint64_t bytes) const {
    return FitsWithoutDocuments(CurrentUse(), bytes);
  }
  Error DocumentsInTheWay(std::uint64_t bytes) const;  // SlowDown

  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
  // part of used_; more than that while a charge changes
  std::atomic<std::uint64_t> document_bytes_{0};
  std::atomic<std::uint64_t> document_releases_{0};
  std::atomic<bool> document_beyond_{false};  // a DocumentCharge exceeds the limit
  Mutex mutex_;
  CondVar released_;
  int releases_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // releases in progress
  std::vector<std::weak_ptr<ReclaimableMemory>> reclaimable_ PENSTOCK_GUARDED_BY(mutex_);
};

// Bytes charged to a limit and released by the destructor. Without a limit it does nothing. The
// limit must outlive it.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  explicit MemoryCharge(MemoryLimit* limit) : limit_(limit) {}
  ~MemoryCharge() { SetAnyway(0); }
  MemoryCharge(MemoryCharge&& other) noexcept
      : limit_(std::exchange(other.limit_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(limit_, other.limit_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::uint64_t bytes() const { return bytes_; }
  MemoryLimit* limit() const { return limit_; }
  // Raises the charge to `bytes` if it is lower. Fails with MemoryLimit::Exceeded and changes
  // nothing.
  Result<void> GrowTo(std::uint64_t bytes,
                      MemoryLimit::Counting counting = MemoryLimit::Counting::kAll);
  // Sets the charge to `bytes`, even above the limit, for memory that is already in use.
  void SetAnyway(std::uint64_t bytes) noexcept;

 private:
  MemoryLimit* limit_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// A charge for what stays until it is removed: a fault scenario, a namespace. It keeps the limit
// alive. Request documents do not count, since one of them is the request that adds it.
class LastingCharge {
 public:
  // Null: counts nothing.
  explicit LastingCharge(std::shared_ptr<MemoryLimit> limit = nullptr)
      : limit_(std::move(limit)), charge_(limit_.get()) {}

  std::uint64_t bytes() const { return charge_.bytes(); }
  // Raises the charge to `bytes` if it is lower. Fails with MemoryLimit::Exceeded and changes
  // nothing.
  Result<void> GrowTo(std::uint64_t bytes) {
    return charge_.GrowTo(bytes, MemoryLimit::Counting::kWithoutDocuments);
  }
  void SetAnyway(std::uint64_t bytes) noexcept { charge_.SetAnyway(bytes); }

 private:
  std::shared_ptr<MemoryLimit> limit_;  // outlives the charge
  MemoryCharge charge_;
};

// The memory that one request document (XML or JSON) takes while the request is handled: its text
// and what is parsed from it. Charged by the size of the text that has arrived.
//
// One document at a time may exceed the limit, so that a request that deletes objects succeeds also
// in a full store. Others are refused with SlowDown (503), which S3 clients retry: the memory is
// free again once the documents ahead are handled. They do not retry InsufficientStorage (507).
class DocumentCharge {
 public:
  // Measured peaks: up to 32 bytes for each byte of XML ("<Event/>\n") and 37 for each byte of JSON
  // ("{\"\":1},").
  static constexpr std::uint64_t kBytesPerTextByte = 40;

  // `limit` outlives this. Null: counts nothing.
  explicit DocumentCharge(MemoryLimit* limit = nullptr) : charge_(limit) {}
  ~DocumentCharge() { Release(); }
  DocumentCharge(DocumentCharge&& other) noexcept
      : charge_(std::move(other.charge_)), beyond_(std::exchange(other.beyond_, false)) {}
  DocumentCharge& operator=(DocumentCharge&&) = delete;

  // Charges for a text of `text_bytes`, if less is charged. SlowDown, and nothing changes.
  Result<void> GrowTo(std::uint64_t text_bytes);
  void Release() noexcept;

 private:
  MemoryCharge charge_;
  bool beyond_ = false;
};

// Three quarters of the memory limit of this process's control groups. Without such a limit, half
// of the machine's memory, the default of tmpfs.
std::uint64_t DefaultMemoryLimitBytes();
std::uint64_t DefaultMemoryLimitFor(const SystemMemory& memory);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_MEMORY_LIMIT_H_
