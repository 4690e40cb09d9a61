// Properties of the response framer, for any response.
#ifndef PENSTOCK_CLIENT_FUZZ_RESPONSE_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_RESPONSE_PROPERTIES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/http/exchange/response_framer.h"
#include "penstock/base/check.h"

namespace penstock::http {

// Collects a body through small windows, up to kRoom bytes.
class BodyCollector final : public ResponseBody {
 public:
  static constexpr std::size_t kRoom = 1 << 16;

  Result<void> Begin(const ResponseHead& head) override {
    ++begins;
    status = head.status;
    return Ok();
  }
  MutableByteView Window() override {
    return MutableByteView(window_).first(std::min(window_.size(), kRoom - text.size()));
  }
  Result<void> Commit(std::size_t count) override {
    text.append(AsText(ByteView(window_).first(count)));
    return Ok();
  }

  int begins = 0;
  int status = 0;
  std::string text;

 private:
  std::vector<std::byte> window_ = std::vector<std::byte>(7);
};

struct ResponseOutcome {
  std::string body;
  int begins = 0;
  int status = 0;
  std::size_t taken = 0;
  bool done = false;
  bool failed = false;
  bool keeps = false;
  bool operator==(const ResponseOutcome&) const = default;
};

// Feeds the framer `step` bytes at a time. With `direct`, body bytes go directly into the window
// where the framer allows it.
inline ResponseOutcome ReadResponse(std::string_view input, std::size_t step, bool direct) {
  BodyCollector body;
  Transfer transfer;
  transfer.response_body = &body;
  ResponseFramer framer;
  framer.Reset(false, false);
  ResponseOutcome outcome;
  while (outcome.taken < input.size() && !framer.done() && !outcome.failed) {
    std::string_view piece = input.substr(outcome.taken, step);
    if (direct && framer.direct_bytes() != 0) {
      const MutableByteView window = transfer.NextWindow();
      piece = piece.substr(0, static_cast<std::size_t>(
                                  std::min<std::uint64_t>(window.size(), framer.direct_bytes())));
      std::ranges::copy(AsBytes(piece), window.begin());
      outcome.failed = window.empty() || !framer.Received(transfer, piece.size()).ok();
      outcome.taken += piece.size();
      continue;
    }
    const Result<std::size_t> taken = framer.Feed(transfer, AsBytes(piece));
    outcome.failed = !taken.ok();
    if (taken.ok()) outcome.taken += *taken;
  }
  if (outcome.failed) return {.failed = true};  // the number of consumed bytes depends on the step
  if (!framer.done()) framer.OnClosed();
  outcome.body = body.text;
  outcome.begins = body.begins;
  outcome.status = body.status;
  outcome.done = framer.done();
  outcome.keeps = framer.keeps_connection();
  return outcome;
}

// The result does not depend on how the response is split, or on whether its body passes through
// the framer. A body starts at most once, with a final status, and is never longer than the input.
inline void CheckResponse(std::string_view input) {
  const ResponseOutcome whole = ReadResponse(input, input.size(), false);
  PENSTOCK_CHECK(whole == ReadResponse(input, 1, false));
  PENSTOCK_CHECK(whole == ReadResponse(input, 1, true));
  PENSTOCK_CHECK(whole == ReadResponse(input, 5, true));
  PENSTOCK_CHECK(whole.begins <= 1 && whole.body.size() <= input.size() &&
                 whole.taken <= input.size());
  PENSTOCK_CHECK(!whole.done || whole.begins == 1);
  PENSTOCK_CHECK(whole.begins == 0 || (whole.status >= 200 && whole.status <= 999));
}

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_FUZZ_RESPONSE_PROPERTIES_H_
