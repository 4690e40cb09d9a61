// Collects a response head line by line.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_HEAD_PARSER_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_HEAD_PARSER_H_

#include <cstddef>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

// Keeps the last head: a status line after a complete head (100 Continue, a rejected Expect) starts
// a new one. Lines after the blank line that are not status lines are trailers and are ignored.
class HeadParser {
 public:
  // Longer heads are rejected.
  static constexpr std::size_t kMaxHeadBytes = 256 << 10;
  // RFC 9110 section 15.2 allows any number of interim (1xx) responses before the final one. More
  // than this number are rejected.
  static constexpr int kMaxInterimHeads = 32;

  // Adds one line with or without its line end. Returns kUnavailable if it is not part of an
  // HTTP/1.x head. Also if headers that determine the body contradict each other: Content-Length
  // (RFC 9112 section 6.3), Content-Range, ETag.
  Result<void> Add(std::string_view line);

  // Returns whether a final head (status 200 or above) is complete.
  bool complete() const { return complete_ && head_.status >= 200; }
  const ResponseHead& head() const { return head_; }
  ResponseHead Take() { return std::move(head_); }

 private:
  Result<void> StartHead(std::string_view line);
  Result<void> AddHeader(Header header);

  ResponseHead head_;
  std::size_t bytes_ = 0;
  int interim_heads_ = 0;
  bool started_ = false;
  bool complete_ = false;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_HEAD_PARSER_H_
