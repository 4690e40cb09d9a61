// A BodySource over memory that the caller keeps valid.
#ifndef PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_TEST_SUPPORT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "penstock/object_store.h"

namespace penstock::transfer {

class MemorySource final : public BodySource {
 public:
  explicit MemorySource(ByteView data) : data_(data) {}  // the view must outlive the source

  std::uint64_t size() const override { return data_.size(); }
  void Rewind() override { position_ = 0; }
  ByteView Next(std::size_t limit) override {
    const ByteView piece = data_.subspan(position_, std::min(limit, data_.size() - position_));
    position_ += piece.size();
    return piece;
  }

 private:
  const ByteView data_;
  std::size_t position_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_MEMORY_SOURCE_TEST_SUPPORT_H_
