#include "client/s3/endpoint/bucket_name.h"

#include <algorithm>

#include "client/s3/endpoint/endpoint_url.h"

namespace penstock::s3 {
namespace {

bool IsLabelChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

bool IsOneLabel(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), IsLabelChar);
}

}  // namespace

bool IsHostLabel(std::string_view text, Dots dots) {
  if (dots == Dots::kRefused) return IsOneLabel(text);
  for (std::string_view rest = text;;) {
    const std::size_t dot = rest.find('.');
    if (!IsOneLabel(rest.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    rest.remove_prefix(dot + 1);
  }
}

bool IsVirtualHostable(std::string_view bucket, Dots dots) {
  if (bucket.size() < 3 || bucket.size() > 63 || IsIpv4Literal(bucket)) return false;
  if (std::any_of(bucket.begin(), bucket.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    return false;
  return IsHostLabel(bucket, dots);
}

std::string_view ZoneOfBucket(std::string_view bucket) {
  const std::string_view suffix = bucket.ends_with("--x-s3") ? "--x-s3" : "--xa-s3";
  if (!bucket.ends_with(suffix)) return {};
  bucket.remove_suffix(suffix.size());
  for (const std::size_t length : {8, 9, 13, 14, 20}) {
    if (bucket.size() < length + 2) continue;
    const std::string_view zone = bucket.substr(bucket.size() - length);
    if (bucket.substr(0, bucket.size() - length).ends_with("--")) return zone;
  }
  return {};
}

}  // namespace penstock::s3
