// The configuration of sinks: where the events of a destination are sent.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_ADDRESS_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_ADDRESS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::events {

struct SinkAddress {
  enum class Kind { kFile, kWebhook };
  std::string pattern;  // of ARNs: '*' matches any characters, '?' one
  Kind kind = Kind::kFile;
  std::string path;  // of the file; or path and query of the URL, with leading '/'
  std::string host;  // without brackets
  int port = 80;
  bool tls = false;  // https

  // "file '/var/events'" or "https://host:443". Paths and queries of URLs may have secrets.
  std::string Describe() const;
};

// Each sink has a thread.
inline constexpr std::size_t kMostSinks = 64;

// Parses "ARN=file:PATH" or "ARN=http://HOST[:PORT][/PATH][?QUERY]", also with https. Returns
// kInvalidArgument with the ARN, the reason and the fix.
Result<SinkAddress> ParseSink(std::string_view text);
// Also refuses an ARN that is given twice, and more than kMostSinks.
Result<std::vector<SinkAddress>> ParseSinks(const std::vector<std::string>& texts);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_ADDRESS_H_
