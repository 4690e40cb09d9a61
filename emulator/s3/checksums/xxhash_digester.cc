#include "emulator/s3/checksums/xxhash_digester.h"

// Compiled in, so that executables and wheels do not need libxxhash at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <variant>

namespace penstock::emulator::s3 {

struct XxhashDigester::State {
  XxhashKind kind;
  std::variant<XXH64_state_t, XXH3_state_t> value;  // XXH3's state serves both of its widths.
};

XxhashDigester::XxhashDigester(XxhashKind kind) : state_(std::make_unique<State>()) {
  state_->kind = kind;
  switch (kind) {
    case XxhashKind::kXxh64: XXH64_reset(&state_->value.emplace<XXH64_state_t>(), 0); break;
    case XxhashKind::kXxh3: XXH3_64bits_reset(&state_->value.emplace<XXH3_state_t>()); break;
    case XxhashKind::kXxh128: XXH3_128bits_reset(&state_->value.emplace<XXH3_state_t>()); break;
  }
}

XxhashDigester::~XxhashDigester() = default;
XxhashDigester::XxhashDigester(XxhashDigester&&) noexcept = default;
XxhashDigester& XxhashDigester::operator=(XxhashDigester&&) noexcept = default;

void XxhashDigester::Update(ByteView bytes) {
  if (bytes.empty()) return;
  switch (state_->kind) {
    case XxhashKind::kXxh64:
      XXH64_update(std::get_if<XXH64_state_t>(&state_->value), bytes.data(), bytes.size());
      break;
    case XxhashKind::kXxh3:
      XXH3_64bits_update(std::get_if<XXH3_state_t>(&state_->value), bytes.data(), bytes.size());
      break;
    case XxhashKind::kXxh128:
      XXH3_128bits_update(std::get_if<XXH3_state_t>(&state_->value), bytes.data(), bytes.size());
      break;
  }
}

std::string XxhashDigester::Finish() const {
  if (state_->kind == XxhashKind::kXxh128) {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes,
                             XXH3_128bits_digest(std::get_if<XXH3_state_t>(&state_->value)));
    return std::string(reinterpret_cast<const char*>(bytes.digest), sizeof(bytes.digest));
  }
  const XXH64_hash_t hash = state_->kind == XxhashKind::kXxh64
                                ? XXH64_digest(std::get_if<XXH64_state_t>(&state_->value))
                                : XXH3_64bits_digest(std::get_if<XXH3_state_t>(&state_->value));
  XXH64_canonical_t bytes;
  XXH64_canonicalFromHash(&bytes, hash);
  return std::string(reinterpret_cast<const char*>(bytes.digest), sizeof(bytes.digest));
}

}  // namespace penstock::emulator::s3
