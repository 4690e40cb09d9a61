// Bodies from and to text, for the tests of this module.
#ifndef PENSTOCK_CLIENT_TESTING_TEST_BODIES_H_
#define PENSTOCK_CLIENT_TESTING_TEST_BODIES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "penstock/object_store.h"

namespace penstock::testing {

class TextSource final : public BodySource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)), claimed_(text_.size()) {}
  TextSource(std::string text, std::uint64_t claimed_size)
      : text_(std::move(text)), claimed_(claimed_size) {}

  std::uint64_t size() const override { return claimed_; }
  void Rewind() override { position_ = 0; }
  ByteView Next(std::size_t limit) override {
    const ByteView piece =
        AsBytes(text_).subspan(position_, std::min(limit, text_.size() - position_));
    position_ += piece.size();
    return piece;
  }

 private:
  const std::string text_;
  const std::uint64_t claimed_;
  std::size_t position_ = 0;
};

// Accepts a body in windows of three bytes.
class TextSink final : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
    text_.clear();
    ++begins_;
    return Ok();
  }
  MutableByteView Window() override { return window_; }
  Result<void> Commit(std::size_t count) override {
    text_ += AsText(window_).substr(0, count);
    return Ok();
  }
  const std::string& text() const { return text_; }
  int begins() const { return begins_; }

 private:
  std::array<std::byte, 3> window_{};
  std::string text_;
  int begins_ = 0;
};

}  // namespace penstock::testing

#endif  // PENSTOCK_CLIENT_TESTING_TEST_BODIES_H_
