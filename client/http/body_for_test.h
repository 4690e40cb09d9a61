// Bodies in memory for the tests of this module.
#ifndef PENSTOCK_CLIENT_HTTP_BODY_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_BODY_FOR_TEST_H_

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

class TextBody final : public RequestBody {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return declared_size.value_or(text_.size()); }
  void Rewind() override {
    ++rewinds;
    position_ = 0;
  }
  ByteView Next(std::size_t limit) override {
    const std::size_t count = std::min(limit, text_.size() - position_);
    const ByteView piece = AsBytes(text_).subspan(position_, count);
    position_ += count;
    return piece;
  }

  std::optional<std::uint64_t> declared_size;  // if set, size() returns this wrong size
  int rewinds = 0;

 private:
  std::string text_;
  std::size_t position_ = 0;
};

// Collects a body through windows of `window_size` bytes, up to `capacity`.
class Collector final : public ResponseBody {
 public:
  explicit Collector(std::size_t window_size = 1000, std::size_t capacity = std::size_t{1} << 30)
      : window_(window_size), capacity_(capacity) {}

  Result<void> Begin(const ResponseHead& head) override {
    heads.push_back(head);
    text.clear();
    if (begin_error) return *begin_error;
    return Ok();
  }
  MutableByteView Window() override {
    return MutableByteView(window_).first(std::min(window_.size(), capacity_ - text.size()));
  }
  Result<void> Commit(std::size_t count) override {
    if (commit_error) return *commit_error;
    text.append(AsText(ByteView(window_).first(count)));
    return Ok();
  }

  std::vector<ResponseHead> heads;
  std::string text;
  std::optional<Error> begin_error;
  std::optional<Error> commit_error;

 private:
  std::vector<std::byte> window_;
  std::size_t capacity_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_BODY_FOR_TEST_H_
