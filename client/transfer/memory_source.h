// A BodySource over memory that somebody else keeps alive.
#ifndef PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_H_
#define PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "client/transfer/progress_meter.h"
#include "penstock/object_store.h"

namespace penstock::transfer {

class MemorySource final : public BodySource {
 public:
  // The view outlives the source, and `progress`, which counts what is taken, too; null: nobody counts.
  explicit MemorySource(ByteView data, ProgressMeter* progress = nullptr) : data_(data), progress_(progress) {}

  std::uint64_t size() const override { return data_.size(); }
  void Rewind() override {
    Count(-static_cast<std::int64_t>(position_));
    position_ = 0;
  }
  ByteView Next(std::size_t limit) override {
    const ByteView piece = data_.subspan(position_, std::min(limit, data_.size() - position_));
    position_ += piece.size();
    Count(static_cast<std::int64_t>(piece.size()));
    return piece;
  }

 private:
  void Count(std::int64_t bytes) {
    if (progress_ != nullptr && bytes != 0) progress_->Add(bytes);
  }

  const ByteView data_;
  ProgressMeter* const progress_;
  std::size_t position_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_H_
