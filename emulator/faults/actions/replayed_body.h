// Request bodies for an operation that runs twice (DuplicateAction).
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::faults {

// Forwards the bytes of `inner` and keeps a copy.
//
// Thread safety: one thread at a time.
class KeptBody final : public s3::BodyWrapper {
 public:
  static constexpr std::size_t kMax = 64 << 20;

  // The copy is charged to `limit`, which must outlive this object. Null: not charged.
  KeptBody(s3::BodyReader& inner, store::MemoryLimit* limit) : BodyWrapper(inner), charge_(limit) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    PENSTOCK_ASSIGN(const std::size_t got, inner().Read(buffer));
    const std::size_t size = size_ + got;
    whole_ = whole_ && size <= kMax && charge_.GrowTo(size).ok();
    if (whole_) {
      size_ = size;
      if (got != 0) pieces_.emplace_back(reinterpret_cast<const char*>(buffer.data()), got);
    } else {
      pieces_ = {};
      charge_.SetAnyway(0);
    }
    return got;
  }

  // Whether every byte was kept: the body has at most kMax bytes, and the limit had room for them.
  bool whole() const { return whole_; }
  // As they were read. A single string would need twice its size while it grows.
  const std::deque<std::string>& pieces() const { return pieces_; }

 private:
  store::MemoryCharge charge_;
  std::deque<std::string> pieces_;
  std::size_t size_ = 0;
  bool whole_ = true;
};

// Reads the kept bytes again.
//
// Thread safety: one thread at a time.
class RepeatedBody final : public s3::BodyWrapper {
 public:
  // Both must outlive this object.
  RepeatedBody(s3::BodyReader& inner, const KeptBody& first) : BodyWrapper(inner), first_(first) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    if (piece_ == first_.pieces().size()) return std::size_t{0};
    const std::string& piece = first_.pieces()[piece_];
    const std::size_t count = std::min(buffer.size(), piece.size() - at_);
    std::memcpy(buffer.data(), piece.data() + at_, count);
    at_ += count;
    if (at_ == piece.size()) {
      ++piece_;
      at_ = 0;
    }
    return count;
  }

 private:
  const KeptBody& first_;
  std::size_t piece_ = 0;
  std::size_t at_ = 0;  // in the piece
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_
