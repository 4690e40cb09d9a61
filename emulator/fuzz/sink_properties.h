// Properties of the parsers of event sinks.
#ifndef PENSTOCK_EMULATOR_FUZZ_SINK_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_SINK_PROPERTIES_H_

#include <string>
#include <string_view>

#include "emulator/events/delivery/response_head.h"
#include "emulator/events/delivery/sink_address.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

// A sink that is written again is the same. No line of a request can be ended by its parts.
inline void CheckSink(std::string_view input) {
  const auto sink = events::ParseSink(input);
  if (!sink.ok()) return;
  const bool is_file = sink->kind == events::SinkAddress::Kind::kFile;
  const std::string target = is_file ? "file:" + sink->path : sink->Describe() + sink->path;
  const auto again = events::ParseSink(sink->pattern + "=" + target);
  PENSTOCK_CHECK(again.ok() && again->pattern == sink->pattern && again->kind == sink->kind);
  PENSTOCK_CHECK(again->path == sink->path && again->host == sink->host);
  PENSTOCK_CHECK(again->tls == sink->tls);
  PENSTOCK_CHECK(again->port == sink->port && sink->port >= 1 && sink->port <= 65535);
  if (is_file) return;
  PENSTOCK_CHECK(sink->path.starts_with('/') && !sink->host.empty());
  for (const std::string& part : {sink->pattern, sink->path, sink->host}) {
    for (const char c : part) PENSTOCK_CHECK(c > ' ' && c < 0x7f);
  }
}

// The connection stays open only after a body that is short.
inline void CheckWebhookResponse(std::string_view input) {
  const auto head = events::ParseResponseHead(std::string(input));
  if (!head) return;
  PENSTOCK_CHECK(head->status >= 100 && head->status <= 999);
  PENSTOCK_CHECK(head->reusable_after.value_or(0) <= events::kMostBodyBytes);
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_SINK_PROPERTIES_H_
