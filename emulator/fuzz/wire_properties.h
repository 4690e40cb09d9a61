// Properties of the parsers of HTTP/1.1 heads and chunked bodies.
#ifndef PENSTOCK_EMULATOR_FUZZ_WIRE_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_WIRE_PROPERTIES_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "emulator/http/parsing/chunked_decoder.h"
#include "emulator/http/parsing/framing.h"
#include "emulator/http/parsing/head_parser.h"
#include "penstock/base/check.h"

namespace penstock::emulator::http {

inline bool LiesWithin(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// The end of the head does not depend on the read size. The parts of a parsed head are valid and
// point into the input.
inline void CheckHead(std::string_view input) {
  std::size_t scanned = 0;
  const std::size_t end = FindHeadEnd(input, scanned);
  std::size_t resumed = 0;
  std::size_t found = 0;
  for (std::size_t available = 1; available <= input.size() && found == 0; ++available)
    found = FindHeadEnd(input.substr(0, available), resumed);
  PENSTOCK_CHECK(found == end);
  if (end == 0) return;
  const std::string_view head_bytes = input.substr(0, end);
  s3::RequestHead head;
  const Result<void> parsed = ParseHead(
      head_bytes, HeadLimits{.max_head_bytes = 4096, .max_target_bytes = 1024, .max_headers = 32},
      head);
  if (!parsed.ok()) {
    PENSTOCK_CHECK(parsed.error().http_status >= 400 && !parsed.error().code.empty());
    return;
  }
  PENSTOCK_CHECK(IsToken(head.method) && LiesWithin(head.method, head_bytes));
  PENSTOCK_CHECK(head.target.front() == '/' || head.target == "*");
  PENSTOCK_CHECK(head.headers.size() <= 32);
  for (const s3::HeaderView& header : head.headers) {
    PENSTOCK_CHECK(IsToken(header.name) && LiesWithin(header.name, head_bytes));
    PENSTOCK_CHECK(IsFieldValue(header.value) && TrimBlanks(header.value) == header.value);
    PENSTOCK_CHECK(header.value.empty() || LiesWithin(header.value, head_bytes));
  }
  const Result<Framing> framing = ReadFraming(head);
  PENSTOCK_CHECK(!framing.ok() || framing->body == BodyFraming::kLength || framing->length == 0);
}

struct ChunkOutcome {
  std::string body;
  std::size_t used = 0;
  bool done = false;
  bool failed = false;
  bool operator==(const ChunkOutcome&) const = default;
};

inline ChunkOutcome DecodeInSteps(std::string_view input, std::size_t step) {
  ChunkedDecoder decoder;
  ChunkOutcome outcome;
  std::size_t available = 0;
  while (available < input.size() && !decoder.done()) {
    available = std::min(available + step, input.size());
    while (outcome.used < available && !decoder.done()) {
      const std::string_view rest = input.substr(outcome.used, available - outcome.used);
      if (decoder.data_left() > 0) {
        const std::size_t count = std::min<std::uint64_t>(rest.size(), decoder.data_left());
        outcome.body.append(rest.substr(0, count));
        decoder.TakeData(count);
        outcome.used += count;
        continue;
      }
      const Result<std::size_t> used = decoder.Advance(rest);
      // The position of the error depends on the step.
      if (!used.ok()) return {outcome.body, 0, false, true};
      PENSTOCK_CHECK(*used > 0 && *used <= rest.size());
      outcome.used += *used;
    }
  }
  outcome.done = decoder.done();
  PENSTOCK_CHECK(decoder.trailers().size() <= ChunkedDecoder::kMaxTrailers);
  return outcome;
}

// The result does not depend on the read size.
inline void CheckChunks(std::string_view input) {
  const ChunkOutcome whole = DecodeInSteps(input, std::max<std::size_t>(input.size(), 1));
  PENSTOCK_CHECK(DecodeInSteps(input, 1) == whole);
  PENSTOCK_CHECK(DecodeInSteps(input, 7) == whole);
}

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_FUZZ_WIRE_PROPERTIES_H_
