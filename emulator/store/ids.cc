#include "emulator/store/ids.h"

#include <array>
#include <string>
#include <string_view>

#include "base/crc.h"
#include "base/digest.h"

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
static_assert(kAlphabet.size() == 64);
constexpr int kSequenceDigits = 11;  // 66 bits
constexpr std::size_t kVersionIdSize = 32;
constexpr std::size_t kCheckDigits = 4;  // 24 bits
constexpr std::size_t kUploadIdSize = 128;

void AppendRandom(std::string& out, std::size_t count) {
  std::array<std::byte, kUploadIdSize> random;
  RandomBytes(MutableByteView(random.data(), count));
  for (std::size_t i = 0; i < count; ++i) out.push_back(kAlphabet[std::to_integer<unsigned>(random[i]) % 64]);
}

std::string CheckOf(std::string_view text) {
  std::string check;
  std::uint32_t sum = Crc32c(AsBytes(text));
  for (std::size_t digit = 0; digit < kCheckDigits; ++digit, sum /= 64) check.push_back(kAlphabet[sum % 64]);
  return check;
}

}  // namespace

VersionId MakeVersionId(std::int64_t sequence) {
  std::string id;
  id.reserve(kVersionIdSize);
  auto number = static_cast<std::uint64_t>(sequence);
  for (int digit = 0; digit < kSequenceDigits; ++digit) {
    id.push_back(kAlphabet[number % 64]);
    number /= 64;
  }
  AppendRandom(id, kVersionIdSize - kSequenceDigits - kCheckDigits);
  id += CheckOf(id);
  return VersionId(std::move(id));
}

bool IsIssued(const VersionId& id) {
  const std::string_view text = id.value;
  if (text == "null") return true;
  return text.size() == kVersionIdSize &&
         text.substr(kVersionIdSize - kCheckDigits) == CheckOf(text.substr(0, kVersionIdSize - kCheckDigits));
}

std::optional<std::int64_t> SequenceOf(const VersionId& id) {
  if (id.value.size() != kVersionIdSize) return std::nullopt;
  std::uint64_t number = 0;
  for (int digit = kSequenceDigits - 1; digit >= 0; --digit) {
    const std::size_t value = kAlphabet.find(id.value[static_cast<std::size_t>(digit)]);
    if (value == std::string_view::npos) return std::nullopt;
    number = number * 64 + value;
  }
  return static_cast<std::int64_t>(number);
}

UploadId MakeUploadId() {
  std::string id;
  id.reserve(kUploadIdSize);
  AppendRandom(id, kUploadIdSize);
  return UploadId(std::move(id));
}

}  // namespace penstock::emulator::store
