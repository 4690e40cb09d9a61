#include "emulator/store/blobs/block_checksums.h"

#include <algorithm>
#include <utility>

#include "base/crc/crc.h"

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kChecksumBytes = 4;

void Append(std::string& packed, std::uint32_t checksum) {
  for (std::size_t i = 0; i < kChecksumBytes; ++i)
    packed.push_back(static_cast<char>(checksum >> (8 * i)));
}

std::uint64_t MaskOf(std::int64_t id) { return std::uint64_t{1} << (id & 63); }

}  // namespace

void BlockHasher::Update(ByteView bytes) {
  while (!bytes.empty()) {
    const ByteView part = bytes.first(std::min<std::uint64_t>(bytes.size(), kBlockBytes - filled_));
    crc_ = Crc32c(part, crc_);
    filled_ += part.size();
    bytes = bytes.subspan(part.size());
    if (filled_ < kBlockBytes) continue;
    Append(packed_, std::exchange(crc_, 0));
    filled_ = 0;
  }
}

std::string BlockHasher::Finish() {
  if (filled_ > 0) Append(packed_, std::exchange(crc_, 0));
  filled_ = 0;
  return std::exchange(packed_, {});
}

bool FitsSize(std::string_view packed, std::uint64_t size) {
  return packed.size() == kChecksumBytes * BlocksOf(size);
}

std::uint32_t ChecksumOf(std::string_view packed, std::uint64_t block) {
  std::uint32_t checksum = 0;
  for (std::size_t i = 0; i < kChecksumBytes; ++i) {
    checksum |=
        static_cast<std::uint32_t>(static_cast<unsigned char>(packed[kChecksumBytes * block + i]))
        << (8 * i);
  }
  return checksum;
}

bool Matches(std::string_view packed, ByteView bytes) {
  BlockHasher hasher;
  hasher.Update(bytes);
  return hasher.Finish() == packed;
}

std::shared_ptr<BlockBits> VerifiedBlobs::BitsOf(std::int64_t id, std::uint64_t blocks) {
  const MutexLock lock(mutex_);
  const auto group = whole_.find(id >> kGroupShift);
  if (group != whole_.end() &&
      ((*group->second)[(id / 64) % group->second->size()] & MaskOf(id)) != 0)
    return nullptr;
  // A blob of one block needs no entry: once the block is verified, so is the blob.
  if (blocks <= 1 || damaged_.contains(id)) return std::make_shared<BlockBits>(blocks);
  std::shared_ptr<BlockBits>& bits = partly_[id];
  if (bits == nullptr) bits = std::make_shared<BlockBits>(blocks);
  return bits;
}

void VerifiedBlobs::MarkWhole(std::int64_t id) {
  const MutexLock lock(mutex_);
  if (damaged_.contains(id)) return;
  std::unique_ptr<Group>& group = whole_[id >> kGroupShift];
  if (group == nullptr) group = std::make_unique<Group>();
  (*group)[(id / 64) % group->size()] |= MaskOf(id);
  partly_.erase(id);
}

void VerifiedBlobs::MarkDamaged(std::int64_t id) {
  const MutexLock lock(mutex_);
  damaged_.insert(id);
  if (const auto group = whole_.find(id >> kGroupShift); group != whole_.end())
    (*group->second)[(id / 64) % group->second->size()] &= ~MaskOf(id);
  partly_.erase(id);
}

void VerifiedBlobs::Forget(std::int64_t id) {
  const MutexLock lock(mutex_);
  partly_.erase(id);
  damaged_.erase(id);
}

}  // namespace penstock::emulator::store
