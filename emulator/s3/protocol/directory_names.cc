#include "emulator/s3/protocol/directory_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kSuffix = "--x-s3";
constexpr std::string_view kSeparator = "--";
constexpr std::size_t kZoneLengths[] = {8, 9, 13, 14, 20};
constexpr std::size_t kLongestName = 63;
constexpr std::string_view kReservedPrefixes[] = {"xn--", "sthree-", "amzn-s3-demo-"};

bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error Refuse(std::string_view name, const std::string& why) {
  return MakeError("InvalidBucketName", {{"BucketName", std::string(name)}},
                   "The specified bucket is not valid: " + why);
}

// Removes and returns the part before the first '-'.
std::string_view TakePiece(std::string_view& rest) {
  const std::string_view piece = rest.substr(0, rest.find('-'));
  rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
  return piece;
}

// "use1", "lax1": letters, then digits.
bool IsPlace(std::string_view piece) {
  const auto digits = std::find_if_not(piece.begin(), piece.end(), IsLetter);
  return digits != piece.begin() && digits != piece.end() &&
         std::all_of(digits, piece.end(), IsDigit);
}

constexpr std::string_view kZonalPrefix = "s3express-";
constexpr std::string_view kFips = "fips-";

// Removes and returns the last label, with the dot before it.
std::string_view TakeLast(std::string_view& labels) {
  const auto dot = labels.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? labels : labels.substr(dot + 1);
  labels = labels.substr(0, dot == std::string_view::npos ? 0 : dot);
  return last;
}

}  // namespace

bool IsDirectoryBucketName(std::string_view name) { return name.ends_with(kSuffix); }

bool IsZoneId(std::string_view text) {
  std::string_view rest = text;
  if (!IsPlace(TakePiece(rest))) return false;
  std::string_view last = TakePiece(rest);
  if (!last.starts_with("az") || !rest.empty()) {  // A local zone has a second place.
    if (!IsPlace(last)) return false;
    last = TakePiece(rest);
  }
  return rest.empty() && !text.ends_with('-') && last.starts_with("az") && IsPlace(last);
}

bool IsLocalZone(std::string_view zone) { return std::count(zone.begin(), zone.end(), '-') == 2; }

std::optional<std::string_view> ZoneOf(std::string_view bucket) {
  if (!IsDirectoryBucketName(bucket)) return std::nullopt;
  const std::string_view front = bucket.substr(0, bucket.size() - kSuffix.size());
  for (const std::size_t length : kZoneLengths) {
    if (front.size() < length + kSeparator.size()) continue;
    const std::string_view before = front.substr(0, front.size() - length);
    if (before.ends_with(kSeparator)) return front.substr(before.size());
  }
  return std::nullopt;
}

Result<void> CheckDirectoryBucketName(std::string_view name) {
  if (name.size() > kLongestName) {
    return Refuse(name, "the name has " + std::to_string(name.size()) +
                            " characters; the limit for a directory bucket is " +
                            std::to_string(kLongestName) +
                            ", including the suffix; shorten the base name");
  }
  const auto* const bad = std::find_if_not(
      name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
  if (bad != name.end()) {
    return Refuse(name, "unexpected character '" + std::string(1, *bad) +
                            "': use only lower-case letters, digits and hyphens");
  }
  if (name.front() == '-') return Refuse(name, "a name must begin with a letter or a digit");
  for (const std::string_view prefix : kReservedPrefixes) {
    if (name.starts_with(prefix))
      return Refuse(name, "names that begin with '" + std::string(prefix) + "' are reserved");
  }
  const auto zone = ZoneOf(name);
  if (!zone || !IsZoneId(*zone)) {
    return Refuse(name, "expected BASE--ZONE--x-s3, where ZONE is a zone id such as use1-az4");
  }
  if (zone->size() + kSeparator.size() + kSuffix.size() == name.size())
    return Refuse(name, "the base name before the zone is empty");
  return Ok();
}

DirectoryHost ParseDirectoryHost(std::string_view labels) {
  DirectoryHost host;
  host.region = TakeLast(labels);
  if (!IsAwsRegion(host.region)) return {};
  std::string_view service = TakeLast(labels);
  if (service == "dualstack") service = TakeLast(labels);
  if (service == "s3express-control" || service == "s3express-control-fips") {
    if (!labels.empty()) return {};  // Path-style only.
    host.endpoint = DirectoryEndpoint::kControl;
    return host;
  }
  if (!service.starts_with(kZonalPrefix)) return {};
  service.remove_prefix(kZonalPrefix.size());
  if (service.starts_with(kFips)) service.remove_prefix(kFips.size());
  if (!IsZoneId(service)) return {};
  host.endpoint = DirectoryEndpoint::kZonal;
  host.zone = service;
  host.bucket = labels;
  return host;
}

}  // namespace penstock::emulator::s3
