#include "client/http/transport.h"

#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"

namespace penstock::http {

std::string ConnectSettings::PoolKey() const {
  std::string key;
  for (const std::string* part :
       {&ca_directory_path, &client_certificate_path, &client_key_path, &client_key_password})
    key.append(*part).append(1, '\n');
  return key;
}

bool internal::SameIgnoringCase(const char* a, const char* b, std::size_t size) {
  std::size_t i = 0;
  for (std::uint64_t x = 0, y = 0; size - i >= sizeof x; i += sizeof x) {
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    const std::uint64_t difference = x ^ y;
    if (difference == 0) continue;
    constexpr std::uint64_t kCaseBits = 0x2020202020202020;
    if ((difference & ~kCaseBits) != 0) return false;
    for (std::size_t at = i; at < i + sizeof x; ++at) {
      if (AsciiLower(a[at]) != AsciiLower(b[at])) return false;
    }
  }
  for (; i < size; ++i) {
    if (a[i] != b[i] && AsciiLower(a[i]) != AsciiLower(b[i])) return false;
  }
  return true;
}

std::optional<std::string_view> FindHeader(const std::vector<Header>& headers,
                                           std::string_view name) {
  for (const Header& header : headers) {
    if (EqualsIgnoringCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ResponseHead::Find(std::string_view name) const {
  return FindHeader(headers, name);
}

std::optional<std::uint64_t> ContentLength(const ResponseHead& head) {
  const auto text = head.Find("Content-Length");
  std::uint64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

}  // namespace penstock::http
