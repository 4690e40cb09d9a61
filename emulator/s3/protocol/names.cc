#include "emulator/s3/protocol/names.h"

#include <algorithm>
#include <string>

#include "base/text/utf8.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxKeyBytes = 1024;

constexpr std::string_view kReservedPrefixes[] = {"xn--", "sthree-", "amzn-s3-demo-"};
constexpr std::string_view kReservedSuffixes[] = {"-s3alias", "--ol-s3", ".mrap",
                                                  "--x-s3",   "--xa-s3", "--table-s3"};

constexpr std::string_view kRegions[] = {
    "af-south-1",     "ap-east-1",      "ap-east-2",      "ap-northeast-1", "ap-northeast-2",
    "ap-northeast-3", "ap-south-1",     "ap-south-2",     "ap-southeast-1", "ap-southeast-2",
    "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
    "ca-central-1",   "ca-west-1",      "cn-north-1",     "cn-northwest-1", "eu-central-1",
    "eu-central-2",   "eu-north-1",     "eu-south-1",     "eu-south-2",     "eu-west-1",
    "eu-west-2",      "eu-west-3",      "il-central-1",   "me-central-1",   "me-south-1",
    "mx-central-1",   "sa-east-1",      "us-east-1",      "us-east-2",      "us-gov-east-1",
    "us-gov-west-1",  "us-west-1",      "us-west-2",
};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}
bool IsPunctuation(char c) { return c == '.' || c == '-'; }

// True for four groups of digits separated by dots, whatever the numbers.
bool LooksLikeIpv4(std::string_view name) {
  return std::count(name.begin(), name.end(), '.') == 3 &&
         name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

// "prefix-<account>-<region>-an": only these names may end in "-an".
bool IsAccountRegional(std::string_view name) {
  name.remove_suffix(std::string_view("-an").size());
  for (std::size_t dash = name.find('-'); dash != std::string_view::npos;
       dash = name.find('-', dash + 1)) {
    const std::string_view rest = name.substr(dash + 1);
    if (dash > 0 && rest.size() > 13 && rest[12] == '-' && ParseDecimal(rest.substr(0, 12)) &&
        IsAwsRegion(rest.substr(13))) {
      return true;
    }
  }
  return false;
}

// Labels must begin and end with a letter or a digit. The S3 User Guide, "Bucket naming rules",
// forbids only the first pair. AWS refuses all three with InvalidBucketName, according to comments
// at test_bucket_create_naming_dns_* in ceph/s3-tests.
bool HasBadLabel(std::string_view name) {
  constexpr std::string_view kPairs[] = {"..", ".-", "-."};
  return std::any_of(std::begin(kPairs), std::end(kPairs), [&](std::string_view pair) {
    return name.find(pair) != std::string_view::npos;
  });
}

bool IsBucketName(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) return false;
  if (IsPunctuation(name.front()) || IsPunctuation(name.back())) return false;
  if (HasBadLabel(name) || LooksLikeIpv4(name)) return false;
  if (name.ends_with("-an") && !IsAccountRegional(name)) return false;
  const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  return std::none_of(std::begin(kReservedPrefixes), std::end(kReservedPrefixes), starts) &&
         std::none_of(std::begin(kReservedSuffixes), std::end(kReservedSuffixes), ends);
}

bool IsRelaxedBucketName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return IsNameCharacter(c) || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 255 && !IsPunctuation(name.front()) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

// S3 refuses "../x" and "a/../../b" but accepts "a/../b".
bool ClimbsAboveRoot(std::string_view key) {
  int depth = 0;
  while (!key.empty()) {
    const auto slash = key.find('/');
    const std::string_view segment = key.substr(0, slash);
    if (segment == "..") {
      if (--depth < 0) return true;
    } else if (!segment.empty() && segment != ".") {
      ++depth;
    }
    if (slash == std::string_view::npos) break;
    key.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace

Result<void> CheckBucketName(std::string_view name, BucketNameRules allowed) {
  if (IsDirectoryBucketName(name)) return CheckDirectoryBucketName(name);
  if (IsBucketName(name) || (allowed == BucketNameRules::kRelaxed && IsRelaxedBucketName(name)))
    return Ok();
  return MakeError("InvalidBucketName", {{"BucketName", std::string(name)}});
}

Result<void> CheckKey(std::string_view key) {
  if (key.size() > kMaxKeyBytes) {
    return MakeError("KeyTooLongError", {{"Size", std::to_string(key.size())},
                                         {"MaxSizeAllowed", std::to_string(kMaxKeyBytes)}});
  }
  if (!IsAscii(key) && !IsValidUtf8(key))
    return MakeError("InvalidURI", {{"URI", PathEncode(key)}});
  if (key.find("..") != std::string_view::npos && ClimbsAboveRoot(key)) return MakeError("400");
  return Ok();
}

bool IsVersionId(std::string_view text) {
  if (text == "null") return true;
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_';
         });
}

bool IsAwsRegion(std::string_view text) {
  return std::find(std::begin(kRegions), std::end(kRegions), text) != std::end(kRegions);
}

std::string_view RegionOfConstraint(std::string_view constraint) {
  return constraint == "EU" ? std::string_view("eu-west-1") : constraint;
}

std::string_view ResourceOfBucketArn(std::string_view arn) {
  for (const std::string_view partition :
       {"arn:aws:s3:::", "arn:aws-cn:s3:::", "arn:aws-us-gov:s3:::"}) {
    if (arn.starts_with(partition)) return arn.substr(partition.size());
  }
  return {};
}

}  // namespace penstock::emulator::s3
