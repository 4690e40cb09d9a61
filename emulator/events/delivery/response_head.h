// The head of a webhook's response: what the sink needs of it.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_RESPONSE_HEAD_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_RESPONSE_HEAD_H_

#include <cstddef>
#include <optional>
#include <string>

namespace penstock::emulator::events {

// The bodies of responses are discarded. The connection is closed instead of reading a longer one.
inline constexpr std::size_t kMostBodyBytes = 64 << 10;

struct ResponseHead {
  int status = 0;  // 100 to 999
  // The length of the body, at most kMostBodyBytes. nullopt: the connection cannot be used for a
  // further request, or the body is too long.
  std::optional<std::size_t> reusable_after;
};

// `text`: without the empty line at its end. nullopt: not HTTP/1.0 or 1.1.
std::optional<ResponseHead> ParseResponseHead(std::string text);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_RESPONSE_HEAD_H_
