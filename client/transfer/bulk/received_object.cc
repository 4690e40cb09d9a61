#include "client/transfer/bulk/received_object.h"

#include <new>
#include <string>

#include "client/transfer/listed_object.h"

namespace penstock::transfer {
namespace {

Error NotTheListed(const std::string& what) {
  return Error::Make(ErrorKind::kPreconditionFailed,
                     "the object changed since it was listed: " + what + "; list it again");
}

}  // namespace

Result<bool> ReceivedObject::TakeMemory(Memory memory) {
  const auto size = static_cast<std::size_t>(file_.size);
  if (size == 0) return true;
  if (memory == Memory::kInBudget) {
    PENSTOCK_ASSIGN(block_, BlockMemory::TryTake(BufferPool::PerProcess(), size));
    if (!block_) return false;
    block_->SetInFlight(true);
    memory_ = block_->bytes();
    return true;
  }
  heap_.reset(new (std::nothrow) std::byte[size]);
  if (heap_ == nullptr) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "no memory for an object of " + std::to_string(size) + " bytes");
  }
  memory_ = {heap_.get(), size};
  return true;
}

void ReceivedObject::ReleaseMemory() {
  memory_ = {};
  position_ = 0;
  block_.reset();
  heap_.reset();
}

Result<void> ReceivedObject::Begin(const ObjectMetadata& metadata,
                                   std::optional<std::uint64_t> /*body_length*/) {
  position_ = 0;
  if (metadata.etag != file_.etag)
    return NotTheListed("ETag " + metadata.etag.value + " instead of " + file_.etag.value);
  return CheckListed(metadata, {file_.size, file_.etag});
}

Result<void> ReceivedObject::CheckComplete(const ObjectMetadata& metadata) {
  if (file_.size == 0) return Begin(metadata, 0);
  if (position_ == memory_.size()) return Ok();
  return Error::Make(ErrorKind::kDataLoss, "received only " + std::to_string(position_) + " of " +
                                               std::to_string(memory_.size()) + " bytes");
}

}  // namespace penstock::transfer
