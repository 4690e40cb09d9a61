// Collects a response head from the lines libcurl hands over one by one.
#ifndef PENSTOCK_CLIENT_HTTP_HEAD_PARSER_H_
#define PENSTOCK_CLIENT_HTTP_HEAD_PARSER_H_

#include <cstddef>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

// Keeps the last head: a status line after a finished head (100 Continue, a refused Expect) starts
// over. Lines after the blank one that are no status line are trailers and ignored.
class HeadParser {
 public:
  // A head longer than this in total is refused.
  static constexpr std::size_t kMaxHeadBytes = 256 << 10;
  // RFC 9110 §15.2 allows any number of interim (1xx) responses before the final one. More than
  // this are refused.
  static constexpr int kMaxInterimHeads = 32;

  // One line with or without its line end. kUnavailable when it is not part of an HTTP/1.x head, or
  // when headers that decide about the body contradict each other: Content-Length (RFC 9112 §6.3),
  // Content-Range, ETag.
  Result<void> Add(std::string_view line);

  // A final head (status 200 or above) has been read to its blank line.
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

#endif  // PENSTOCK_CLIENT_HTTP_HEAD_PARSER_H_
