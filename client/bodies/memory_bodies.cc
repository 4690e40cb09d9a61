// Bodies in memory.
#include <algorithm>
#include <string>
#include <utility>

#include "penstock/bodies.h"

namespace penstock {
namespace {

// Reads memory, which it may own.
template <class Owner>
class MemoryBody final : public BodySource {
 public:
  explicit MemoryBody(Owner owner) : owner_(std::move(owner)) {}
  std::uint64_t size() const override { return bytes().size(); }
  void Rewind() override { position_ = 0; }
  ByteView Next(std::size_t limit) override {
    const ByteView rest = bytes().subspan(position_);
    const ByteView next = rest.first(std::min(limit, rest.size()));
    position_ += next.size();
    return next;
  }

 private:
  ByteView bytes() const { return std::as_bytes(std::span(owner_)); }
  const Owner owner_;
  std::size_t position_ = 0;
};

// The largest first allocation, and the window of a body of unknown length.
constexpr std::uint64_t kMaxFirstBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kWindowBytes = std::uint64_t{64} << 10;

}  // namespace

Body::Body(std::string text)
    : source_(std::make_unique<MemoryBody<std::string>>(std::move(text))) {}
Body::Body(const char* text) : Body(std::string(text)) {}
Body::Body(std::vector<std::byte> data)
    : source_(std::make_unique<MemoryBody<std::vector<std::byte>>>(std::move(data))) {}

Body Body::View(ByteView bytes) { return Body(std::make_unique<MemoryBody<ByteView>>(bytes)); }

Result<void> GrowingSink::Begin(const ObjectMetadata&, std::optional<std::uint64_t> body_length) {
  if (body_length.value_or(0) > max_bytes_) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "the body has " + std::to_string(*body_length) +
                           " bytes, more than the limit of " + std::to_string(max_bytes_) +
                           " bytes of this sink");
  }
  announced_ = body_length;
  used_ = 0;
  memory_ = Resize(static_cast<std::size_t>(std::min(body_length.value_or(0), kMaxFirstBytes)));
  return Ok();
}

MutableByteView GrowingSink::Window() {
  if (used_ < memory_.size()) return memory_.subspan(used_);
  if (announced_ && used_ >= *announced_) return {};
  const std::uint64_t size = announced_ ? std::min(std::uint64_t{used_} * 2, *announced_)
                                        : std::uint64_t{used_} + kWindowBytes;
  memory_ = Resize(static_cast<std::size_t>(size));
  return memory_.subspan(used_);
}

Result<void> GrowingSink::Commit(std::size_t count) {
  used_ += count;
  if (used_ > max_bytes_) {
    return Error::Make(ErrorKind::kResourceExhausted, "the body is longer than the limit of " +
                                                          std::to_string(max_bytes_) +
                                                          " bytes of this sink");
  }
  // The end of a body of unknown length is not reported, so its memory always ends there.
  if (!announced_) memory_ = Resize(used_).first(used_);
  return Ok();
}

MutableByteView StringSink::Resize(std::size_t size) {
  text_.resize(size);
  return std::as_writable_bytes(std::span(text_));
}

MutableByteView VectorSink::Resize(std::size_t size) {
  bytes_.resize(size);
  return bytes_;
}

Result<void> SpanSink::Begin(const ObjectMetadata&, std::optional<std::uint64_t> body_length) {
  used_ = 0;
  if (body_length.value_or(0) <= memory_.size()) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument, "the body has " + std::to_string(*body_length) +
                                                      " bytes, more than the memory of " +
                                                      std::to_string(memory_.size()) +
                                                      " bytes; pass more memory or a range");
}

Result<void> SpanSink::Commit(std::size_t count) {
  used_ += count;
  return Ok();
}

}  // namespace penstock
