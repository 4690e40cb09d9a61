#include "base/crc/named_crc.h"

#include <array>
#include <string_view>

#include "base/crc/crc.h"
#include "base/encoding.h"

namespace penstock {
namespace {

struct Kind {
  Crc crc;
  std::string_view key;
  std::string_view name;
  std::size_t bytes;
};
// In order of preference.
constexpr std::array<Kind, 3> kKinds = {{{Crc::kCrc64Nvme, "crc64nvme", "CRC64NVME", 8},
                                         {Crc::kCrc32c, "crc32c", "CRC32C", 4},
                                         {Crc::kCrc32, "crc32", "CRC32", 4}}};

const Kind* KindOf(Crc crc) {
  for (const Kind& kind : kKinds) {
    if (kind.crc == crc) return &kind;
  }
  return nullptr;
}

}  // namespace

ExpectedCrc FindCrc(const std::vector<std::pair<std::string, std::string>>& checksums) {
  for (const Kind& kind : kKinds) {
    for (const auto& [name, value] : checksums) {
      if (name == kind.key) return {kind.crc, value};
    }
  }
  return {};
}

std::uint64_t UpdateCrc(Crc crc, ByteView bytes, std::uint64_t previous) {
  switch (crc) {
    case Crc::kCrc64Nvme: return Crc64Nvme(bytes, previous);
    case Crc::kCrc32c: return Crc32c(bytes, static_cast<std::uint32_t>(previous));
    case Crc::kCrc32: return Crc32(bytes, static_cast<std::uint32_t>(previous));
    case Crc::kNone: break;
  }
  return 0;
}

std::uint64_t CombineCrc(Crc crc, std::uint64_t first, std::uint64_t second,
                         std::uint64_t second_length) {
  const auto short_first = static_cast<std::uint32_t>(first);
  const auto short_second = static_cast<std::uint32_t>(second);
  switch (crc) {
    case Crc::kCrc64Nvme: return CombineCrc64Nvme(first, second, second_length);
    case Crc::kCrc32c: return CombineCrc32c(short_first, short_second, second_length);
    case Crc::kCrc32: return CombineCrc32(short_first, short_second, second_length);
    case Crc::kNone: break;
  }
  return 0;
}

std::string CrcText(Crc crc, std::uint64_t value) {
  const Kind* kind = KindOf(crc);
  if (kind == nullptr) return {};
  std::array<std::byte, 8> big_endian{};
  for (std::size_t i = 0; i < kind->bytes; ++i) {
    big_endian[i] = static_cast<std::byte>(value >> (8 * (kind->bytes - 1 - i)));
  }
  return Base64Encode(ByteView(big_endian).first(kind->bytes));
}

Result<void> CompareCrc(const ExpectedCrc& expected, std::uint64_t value) {
  const Kind* kind = KindOf(expected.crc);
  if (kind == nullptr) return Ok();
  const std::string actual = CrcText(expected.crc, value);
  if (actual == expected.expected) return Ok();
  return Error::Make(ErrorKind::kDataLoss, "checksum mismatch: the received bytes have " +
                                               std::string(kind->name) + " " + actual +
                                               ", expected " + expected.expected);
}

}  // namespace penstock
