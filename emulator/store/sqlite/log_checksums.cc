#include "emulator/store/sqlite/log_checksums.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/crc/crc.h"

namespace penstock::emulator::store {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit is the byte order of checksums
constexpr int kPageSizeAt = 8;                // offsets in the log's header
constexpr int kSequenceAt = 12;
constexpr std::uint32_t kSmallestPage = 512;
constexpr std::uint32_t kLargestPage = 64 << 10;

std::uint32_t BigEndian(const std::byte* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

std::uint32_t ChecksumOf(const LogPart& part, const std::byte* bytes) {
  return std::max<std::uint32_t>(1, Crc32c({bytes, static_cast<std::size_t>(part.size)}));
}

}  // namespace

void LogChecksums::SetFields(const std::byte* header) noexcept {
  const std::uint32_t size = BigEndian(header + kPageSizeAt);
  const bool is_header = (BigEndian(header) & ~1U) == kMagic && std::has_single_bit(size) &&
                         size >= kSmallestPage && size <= kLargestPage;
  if (!is_header) return;
  checkpoint_sequence_.store(BigEndian(header + kSequenceAt), std::memory_order_release);
  page_size_.store(static_cast<int>(size), std::memory_order_release);
}

void LogChecksums::AdoptHeader(const std::byte* header) noexcept {
  if (page_size() == 0) SetFields(header);
}

void LogChecksums::Restart(const std::byte* header) noexcept {
  const int page_size_before = page_size();
  SetFields(header);
  if (page_size() != page_size_before) Truncate(0);
  ClearDamage();
}

LogPart LogChecksums::PartAt(std::int64_t offset) const {
  if (offset < kLogHeaderBytes) return {0, kLogHeaderBytes, 0, false};
  const int size = page_size();
  const std::int64_t index = (offset - kLogHeaderBytes) / (kFrameHeaderBytes + size);
  const std::int64_t begin = kLogHeaderBytes + index * (kFrameHeaderBytes + size);
  const auto frame = static_cast<std::uint32_t>(index + 1);
  return offset < begin + kFrameHeaderBytes ? LogPart{begin, kFrameHeaderBytes, frame, false}
                                            : LogPart{begin + kFrameHeaderBytes, size, frame, true};
}

bool LogChecksums::Set(const LogPart& part, const std::byte* bytes) noexcept {
  Frame* const frame = frames_.FindOrMake(part.frame);
  if (frame == nullptr) return false;
  (part.is_page ? frame->page : frame->header)
      .store(ChecksumOf(part, bytes), std::memory_order_release);
  return true;
}

void LogChecksums::Forget(std::int64_t begin, std::int64_t end) noexcept {
  while (begin < end && (begin < kLogHeaderBytes || page_size() != 0)) {
    const LogPart part = PartAt(begin);
    if (Frame* const frame = frames_.Find(part.frame))
      (part.is_page ? frame->page : frame->header).store(0, std::memory_order_release);
    begin = part.begin + part.size;
  }
}

void LogChecksums::Truncate(std::int64_t size) noexcept {
  const std::uint32_t first = size < kLogHeaderBytes || page_size() == 0 ? 0 : PartAt(size).frame;
  frames_.VisitFrom(first, [](Frame& frame) {
    frame.header.store(0, std::memory_order_release);
    frame.page.store(0, std::memory_order_release);
  });
  if (size == 0) ClearDamage();
}

LogChecksums::Verdict LogChecksums::Check(const LogPart& part,
                                          const std::byte* bytes) const noexcept {
  const Frame* const frame = frames_.Find(part.frame);
  if (frame == nullptr) return Verdict::kUnknown;
  const std::uint32_t known =
      (part.is_page ? frame->page : frame->header).load(std::memory_order_acquire);
  if (known == 0) return Verdict::kUnknown;
  return known == ChecksumOf(part, bytes) ? Verdict::kMatches : Verdict::kDiffers;
}

void LogChecksums::AddDamage(const LogPart& part) noexcept {
  is_damaged_.store(true, std::memory_order_release);
  damage_.Add(part.frame, part.begin);
}

void LogChecksums::ClearDamage() noexcept {
  is_damaged_.store(false, std::memory_order_release);
  damage_.Clear();
}

}  // namespace penstock::emulator::store
