// The memory that receives one small object.
#ifndef PENSTOCK_CLIENT_TRANSFER_BULK_RECEIVED_OBJECT_H_
#define PENSTOCK_CLIENT_TRANSFER_BULK_RECEIVED_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "client/transfer/block_memory.h"
#include "penstock/bulk_download.h"

namespace penstock::transfer {

// One file of a bulk download, and the sink of its request.
class ReceivedObject final : public BodySink {
 public:
  enum class Memory {
    kInBudget,   // returns false if the process's budget is exhausted
    kOutsideIt,  // so that at least one object makes progress
  };

  explicit ReceivedObject(BulkFile file) : file_(std::move(file)) {}

  // Takes memory for the object, without waiting. Returns whether there is some.
  Result<bool> TakeMemory(Memory memory);
  void ReleaseMemory();

  const BulkFile& file() const { return file_; }
  ByteView bytes() const { return memory_.first(position_); }

  // Returns an error if the response is not the version of the listing, or is incomplete. A store
  // may complete an empty body without a call of Begin.
  Result<void> CheckComplete(const ObjectMetadata& metadata);

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override;
  MutableByteView Window() override { return memory_.subspan(position_); }
  Result<void> Commit(std::size_t count) override {
    position_ += count;
    return Ok();
  }

 private:
  const BulkFile file_;
  std::optional<BlockMemory> block_;
  std::unique_ptr<std::byte[]> heap_;  // instead of block_
  MutableByteView memory_;             // of file_.size bytes
  std::size_t position_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_BULK_RECEIVED_OBJECT_H_
