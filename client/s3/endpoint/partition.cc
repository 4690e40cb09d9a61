#include "client/s3/endpoint/partition.h"

#include <algorithm>
#include <iterator>

namespace penstock::s3 {
namespace {

// A partition, the prefix of its regions, and its global region.
struct Row {
  Partition partition;
  std::string_view prefix;
  std::string_view global_region;
};

constexpr Row kRows[] = {
    {{"aws-cn", "amazonaws.com.cn"}, "cn-", "aws-cn-global"},
    {{"aws-eusc", "amazonaws.eu"}, "eusc-de-", ""},
    {{"aws-iso", "c2s.ic.gov"}, "us-iso-", "aws-iso-global"},
    {{"aws-iso-b", "sc2s.sgov.gov"}, "us-isob-", "aws-iso-b-global"},
    {{"aws-iso-e", "cloud.adc-e.uk"}, "eu-isoe-", "aws-iso-e-global"},
    {{"aws-iso-f", "csp.hci.ic.gov"}, "us-isof-", "aws-iso-f-global"},
    {{"aws-us-gov", "amazonaws.com"}, "us-gov-", "aws-us-gov-global"},
};
constexpr Partition kAws = {"aws", "amazonaws.com"};

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Matches "east-1": a word, a hyphen, a number.
bool IsPlaceAndNumber(std::string_view text) {
  const std::size_t hyphen = text.find('-');
  if (hyphen == 0 || hyphen == std::string_view::npos || hyphen + 1 == text.size()) return false;
  const std::string_view number = text.substr(hyphen + 1);
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(hyphen),
                     IsWordChar) &&
         std::all_of(number.begin(), number.end(), IsDigit);
}

}  // namespace

const Partition& PartitionOf(std::string_view region) {
  for (const Row& row : kRows) {
    if (!row.global_region.empty() && region == row.global_region) return row.partition;
    if (region.starts_with(row.prefix) && IsPlaceAndNumber(region.substr(row.prefix.size())))
      return row.partition;
  }
  return kAws;
}

bool IsAwsHost(std::string_view host) {
  const auto is_below = [host](std::string_view suffix) {
    return host.ends_with(suffix) && host.substr(0, host.size() - suffix.size()).ends_with('.');
  };
  return is_below(kAws.dns_suffix) ||
         std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return is_below(row.partition.dns_suffix); });
}

}  // namespace penstock::s3
