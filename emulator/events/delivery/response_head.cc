#include "emulator/events/delivery/response_head.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>

namespace penstock::emulator::events {
namespace {

// These functions take a head in lower case. Returns 0 if it does not begin with a status.
int StatusOf(std::string_view head) {
  int status = 0;
  if (head.size() < 12 || !head.starts_with("http/1.") || head[8] != ' ') return 0;
  if (head.size() > 12 && head[12] != ' ' && head[12] != '\r') return 0;
  const auto [end, error] = std::from_chars(head.data() + 9, head.data() + 12, status);
  return error == std::errc() && end == head.data() + 12 && status >= 100 ? status : 0;
}

// Returns the value of a header that occurs once.
std::optional<std::string_view> OnlyValue(std::string_view head, std::string_view name) {
  const std::string line = "\r\n" + std::string(name) + ":";
  const std::size_t at = head.find(line);
  if (at == std::string_view::npos || at != head.rfind(line)) return std::nullopt;
  std::string_view value = head.substr(at + line.size());
  value = value.substr(0, value.find('\r'));
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return value;
}

// Returns the length of the body if the connection can be used for a further request.
std::optional<std::size_t> LengthBeforeReuse(std::string_view head, int status) {
  const bool has_connection = head.find("\r\nconnection:") != std::string_view::npos;
  if (!head.starts_with("http/1.1") ||
      (has_connection && OnlyValue(head, "connection") != "keep-alive"))
    return std::nullopt;
  if (status == 204) return 0;
  const auto value = OnlyValue(head, "content-length");
  if (!value || head.find("\r\ntransfer-encoding:") != std::string_view::npos) return std::nullopt;
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), length);
  if (error != std::errc() || end != value->data() + value->size() || length > kMostBodyBytes)
    return std::nullopt;
  return length;
}

}  // namespace

std::optional<ResponseHead> ParseResponseHead(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const int status = StatusOf(text);
  if (status == 0) return std::nullopt;
  return ResponseHead{status, LengthBeforeReuse(text, status)};
}

}  // namespace penstock::emulator::events
