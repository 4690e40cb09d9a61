#include "emulator/store/records/ids.h"

#include <array>
#include <string>
#include <string_view>

#include "base/crc/crc.h"
#include "base/digest.h"

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
static_assert(kAlphabet.size() == 64);
constexpr int kSequenceDigits = 11;  // 66 bits
constexpr std::size_t kVersionIdSize = 32;
constexpr std::size_t kChecksumDigits = 4;  // 24 bits
constexpr std::size_t kUploadIdSize = 128;

void AppendRandom(std::string& out, std::size_t count) {
  std::array<std::byte, kUploadIdSize> random;
  RandomBytes(MutableByteView(random.data(), count));
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(kAlphabet[std::to_integer<unsigned>(random[i]) % 64]);
}

std::string ChecksumOf(std::string_view text) {
  std::string checksum;
  std::uint32_t sum = Crc32c(AsBytes(text));
  for (std::size_t digit = 0; digit < kChecksumDigits; ++digit, sum /= 64)
    checksum.push_back(kAlphabet[sum % 64]);
  return checksum;
}

// Consists of the sequence number, random characters and the checksum.
std::string MakeId(std::int64_t sequence, std::size_t size) {
  std::string id;
  id.reserve(size);
  auto number = static_cast<std::uint64_t>(sequence);
  for (int digit = 0; digit < kSequenceDigits; ++digit) {
    id.push_back(kAlphabet[number % 64]);
    number /= 64;
  }
  AppendRandom(id, size - kSequenceDigits - kChecksumDigits);
  id += ChecksumOf(id);
  return id;
}

bool HasChecksum(std::string_view id, std::size_t size) {
  return id.size() == size &&
         id.substr(size - kChecksumDigits) == ChecksumOf(id.substr(0, size - kChecksumDigits));
}

std::optional<std::int64_t> ReadSequence(std::string_view id) {
  std::uint64_t number = 0;
  for (int digit = kSequenceDigits - 1; digit >= 0; --digit) {
    const std::size_t value = kAlphabet.find(id[static_cast<std::size_t>(digit)]);
    if (value == std::string_view::npos) return std::nullopt;
    number = number * 64 + value;
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace

VersionId MakeVersionId(std::int64_t sequence) {
  return VersionId(MakeId(sequence, kVersionIdSize));
}

bool IsIssued(const VersionId& id) {
  return id.value == "null" || HasChecksum(id.value, kVersionIdSize);
}

std::optional<std::int64_t> SequenceOf(const VersionId& id) {
  if (id.value.size() != kVersionIdSize) return std::nullopt;
  return ReadSequence(id.value);
}

UploadId MakeUploadId(std::int64_t sequence) { return UploadId(MakeId(sequence, kUploadIdSize)); }

std::optional<std::int64_t> SequenceOf(const UploadId& id) {
  if (!HasChecksum(id.value, kUploadIdSize)) return std::nullopt;
  return ReadSequence(id.value);
}

}  // namespace penstock::emulator::store
