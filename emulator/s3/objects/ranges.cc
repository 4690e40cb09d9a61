#include "emulator/s3/objects/ranges.h"

#include <algorithm>
#include <optional>

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kUnit = "bytes=";
constexpr std::string_view kCopySource = "x-amz-copy-source-range";

// Accepts only digits. Numbers over 64 bits become UINT64_MAX: "bytes=5-99999999999999999999" is
// valid.
std::optional<std::uint64_t> ParseOffset(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return ParseDecimal(text).value_or(UINT64_MAX);
}

Error InvalidRange(std::string_view header, std::uint64_t size) {
  return MakeError("InvalidRange", {{"RangeRequested", std::string(header)},
                                    {"ActualObjectSize", std::to_string(size)}});
}

Result<RangeChoice> ChooseSuffix(std::string_view header, std::string_view digits,
                                 std::uint64_t size) {
  const auto count = ParseOffset(digits);
  if (!count) return RangeChoice{false, {0, size}};
  if (*count == 0 || size == 0) return InvalidRange(header, size);
  return RangeChoice{true, {size - std::min(*count, size), size}};
}

}  // namespace

Result<RangeChoice> ChooseRange(std::string_view header, std::uint64_t size) {
  const RangeChoice whole{false, {0, size}};
  if (!header.starts_with(kUnit)) return whole;
  const std::string_view spec = header.substr(kUnit.size());
  const auto dash = spec.find('-');
  if (dash == std::string_view::npos) return whole;
  if (dash == 0) return ChooseSuffix(header, spec.substr(1), size);
  const auto first = ParseOffset(spec.substr(0, dash));
  const std::string_view last_text = spec.substr(dash + 1);
  const auto last_inclusive = last_text.empty() ? UINT64_MAX : ParseOffset(last_text);
  if (!first || !last_inclusive || *last_inclusive < *first) return whole;
  if (*first >= size) return InvalidRange(header, size);
  return RangeChoice{true, {*first, std::min(*last_inclusive, size - 1) + 1}};
}

Result<ByteRange> ParseCopyRange(std::string_view header, std::uint64_t source_size) {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last_inclusive;
  const auto dash = header.find('-');
  if (header.starts_with(kUnit) && dash != std::string_view::npos) {
    first = ParseOffset(header.substr(kUnit.size(), dash - kUnit.size()));
    last_inclusive = ParseOffset(header.substr(dash + 1));
  }
  if (!first || !last_inclusive || *last_inclusive < *first) {
    return InvalidArgument(
        "The x-amz-copy-source-range value must be of the form bytes=first-last where first and "
        "last are the "
        "zero-based offsets of the first and last bytes to copy",
        kCopySource, header);
  }
  if (*first >= source_size) {
    return InvalidRequest("The specified copy range is invalid for the source object size");
  }
  if (*last_inclusive >= source_size) {
    return InvalidArgument(
        "Range specified is not valid for source object of size: " + std::to_string(source_size),
        kCopySource, header);
  }
  return ByteRange{*first, *last_inclusive + 1};
}

std::string ContentRange(ByteRange range, std::uint64_t size) {
  return "bytes " + std::to_string(range.begin) + "-" + std::to_string(range.end - 1) + "/" +
         std::to_string(size);
}

}  // namespace penstock::emulator::s3
