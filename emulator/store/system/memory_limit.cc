#include "emulator/store/system/memory_limit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace penstock::emulator::store {
namespace {

constexpr std::uint64_t kMinLimit = 16 << 20;
constexpr std::chrono::seconds kLongestRelease{5};

std::string InMiB(std::uint64_t bytes) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

std::uint64_t DefaultMemoryLimitFor(const SystemMemory& memory) {
  const auto group = ControlGroupMemoryLimit(memory);
  return std::max(group ? *group / 4 * 3 : memory.machine_bytes / 2, kMinLimit);
}

std::uint64_t DefaultMemoryLimitBytes() { return DefaultMemoryLimitFor(ThisSystemMemory()); }

const std::shared_ptr<MemoryLimit>& MemoryLimit::ForProcess() {
  static const auto limit = std::make_shared<MemoryLimit>(DefaultMemoryLimitBytes());
  return limit;
}

bool MemoryLimit::HasRoomFor(std::uint64_t bytes) {
  const auto fits = [&] {
    const std::uint64_t used = used_bytes();
    return used <= limit_ && bytes <= limit_ - used;
  };
  if (fits()) return true;
  Reclaim();
  return fits();
}

MemoryLimit::Use MemoryLimit::CurrentUse() const {
  // At every moment document_bytes_ has at least the documents of used_. So a later value has too,
  // unless a document was released in between.
  Use use;
  std::uint64_t releases = 0;
  do {
    releases = document_releases_.load(std::memory_order_acquire);
    use.all = used_.load(std::memory_order_acquire);
    use.documents = document_bytes_.load(std::memory_order_acquire);
  } while (document_releases_.load(std::memory_order_relaxed) != releases);
  return use;
}

bool MemoryLimit::FitsWithoutDocuments(const Use& use, std::uint64_t bytes) const {
  const std::uint64_t lasting = use.all - std::min(use.all, use.documents);
  return lasting <= limit_ && bytes <= limit_ - lasting;
}

bool MemoryLimit::HasRoomForRecords(std::uint64_t bytes) {
  if (FitsWithoutDocuments(bytes)) return true;
  Reclaim();
  return FitsWithoutDocuments(bytes);
}

Error MemoryLimit::Exceeded(std::uint64_t bytes, std::uint64_t reserve) const {
  if (FitsWithoutDocuments(bytes + reserve)) return DocumentsInTheWay(bytes);
  const std::string kept =
      reserve > 0 ? ", and " + InMiB(reserve) + " are a reserve for writes after deletions" : "";
  Error error =
      Error::Make(ErrorKind::kResourceExhausted,
                  "The emulator's memory limit of " + InMiB(limit_) +
                      " would be exceeded: " + InMiB(used_bytes()) + " are in use" +
                      (reserve > 0 ? ", " : " and ") + InMiB(bytes) + " more are needed" + kept +
                      ". Delete objects, namespaces, retry tests, fault "
                      "scenarios or limits, remove settings of buckets, or "
                      "restart the emulator with a larger --memory-limit "
                      "(memory_limit). Objects do not count with --data.");
  error.code = "InsufficientStorage";
  return error;
}

Error MemoryLimit::DocumentsInTheWay(std::uint64_t bytes) const {
  Error error = Error::Make(
      ErrorKind::kThrottled,
      "Please reduce your request rate. The request needs " + InMiB(bytes) + " more memory, and " +
          InMiB(used_bytes()) + " of the emulator's limit of " + InMiB(limit_) + " are in use, " +
          InMiB(document_bytes_.load(std::memory_order_relaxed)) +
          " of them for request documents. Send it again, or start the emulator with a larger "
          "--memory-limit (memory_limit).");
  error.code = "SlowDown";
  return error;
}

bool MemoryLimit::TryReserve(std::uint64_t bytes, Counting counting) {
  for (;;) {
    Use use;
    if (counting == Counting::kAll) {
      use.all = used_.load(std::memory_order_relaxed);
    } else {
      use = CurrentUse();
    }
    if (!FitsWithoutDocuments(use, bytes)) return false;
    if (used_.compare_exchange_weak(use.all, use.all + bytes, std::memory_order_release,
                                    std::memory_order_relaxed))
      return true;
  }
}

bool MemoryLimit::Reserve(std::uint64_t bytes, Counting counting) {
  if (TryReserve(bytes, counting)) return true;
  Reclaim();
  return TryReserve(bytes, counting);
}

void MemoryLimit::AddReclaimable(std::weak_ptr<ReclaimableMemory> memory) {
  const MutexLock lock(mutex_);
  std::erase_if(reclaimable_, [](const auto& it) { return it.expired(); });
  reclaimable_.push_back(std::move(memory));
}

void MemoryLimit::Reclaim() {
  std::vector<std::shared_ptr<ReclaimableMemory>> all;  // called and destroyed outside the lock
  {
    const MutexLock lock(mutex_);
    for (const auto& memory : reclaimable_) {
      if (auto living = memory.lock(); living != nullptr) all.push_back(std::move(living));
    }
  }
  for (const auto& memory : all) memory->Reclaim();
  const auto deadline = std::chrono::steady_clock::now() + kLongestRelease;
  const MutexLock lock(mutex_);
  while (releases_ > 0 && released_.WaitUntil(mutex_, deadline)) {
  }
}

void MemoryLimit::BeginRelease() {
  const MutexLock lock(mutex_);
  ++releases_;
}

void MemoryLimit::EndRelease() {
  const MutexLock lock(mutex_);
  --releases_;
  released_.NotifyAll();
}

Result<void> MemoryCharge::GrowTo(std::uint64_t bytes, MemoryLimit::Counting counting) {
  if (limit_ == nullptr || bytes <= bytes_) return Ok();
  if (!limit_->Reserve(bytes - bytes_, counting)) return limit_->Exceeded(bytes - bytes_);
  bytes_ = bytes;
  return Ok();
}

void MemoryCharge::SetAnyway(std::uint64_t bytes) noexcept {
  if (limit_ == nullptr) return;
  // Modulo 2^64, so it can also decrease.
  limit_->used_.fetch_add(bytes - bytes_, std::memory_order_release);
  bytes_ = bytes;
}

Result<void> DocumentCharge::GrowTo(std::uint64_t text_bytes) {
  MemoryLimit* const limit = charge_.limit();
  const std::uint64_t bytes = text_bytes * kBytesPerTextByte;
  if (limit == nullptr || bytes <= charge_.bytes()) return Ok();
  const std::uint64_t more = bytes - charge_.bytes();
  // first: never less than the documents' part of used_
  limit->document_bytes_.fetch_add(more, std::memory_order_relaxed);
  if (!beyond_) {  // else nothing is reclaimed for each step of the document
    if (charge_.GrowTo(bytes).ok()) return Ok();
    if (limit->document_beyond_.exchange(true)) {
      limit->document_bytes_.fetch_sub(more, std::memory_order_relaxed);
      return limit->DocumentsInTheWay(more);
    }
    beyond_ = true;
  }
  charge_.SetAnyway(bytes);
  return Ok();
}

void DocumentCharge::Release() noexcept {
  MemoryLimit* const limit = charge_.limit();
  if (limit == nullptr || charge_.bytes() == 0) return;
  const std::uint64_t bytes = charge_.bytes();
  charge_.SetAnyway(0);
  limit->document_releases_.fetch_add(1, std::memory_order_release);
  limit->document_bytes_.fetch_sub(bytes, std::memory_order_release);  // last, for the same reason
  if (std::exchange(beyond_, false)) limit->document_beyond_.store(false);
}

}  // namespace penstock::emulator::store
