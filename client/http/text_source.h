// A short text as the body of a request.
#ifndef PENSTOCK_CLIENT_HTTP_TEXT_SOURCE_H_
#define PENSTOCK_CLIENT_HTTP_TEXT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

// The bytes of a document, or an empty body (a PUT or POST without a body has Content-Length: 0).
class TextSource final : public RequestBody {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}  // not owned
  std::uint64_t size() const override { return text_.size(); }
  void Rewind() override { sent_ = 0; }
  ByteView Next(std::size_t limit) override {
    const std::string_view piece = text_.substr(sent_, limit);
    sent_ += piece.size();
    return AsBytes(piece);
  }

 private:
  const std::string_view text_;
  std::size_t sent_ = 0;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TEXT_SOURCE_H_
