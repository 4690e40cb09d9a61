// A response as a value.
#ifndef PENSTOCK_EMULATOR_MESSAGE_RESPONSE_H_
#define PENSTOCK_EMULATOR_MESSAGE_RESPONSE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/io/blob.h"
#include "emulator/message/delivery.h"
#include "emulator/message/text_stream.h"

namespace penstock::emulator::message {

// What the HTTP layer does with the response. Faults set it.
enum class WireAction { kSend, kReset, kClose };

// The HTTP layer sends `headers` in this order. It adds Connection, the framing header and, unless
// present, x-amz-id-2, x-amz-request-id, Date and Server. A HEAD response sends `content_length`
// and no body.
struct Response {
  int status = 200;
  std::string reason;  // Empty: the standard phrase.
  std::vector<std::pair<std::string, std::string>> headers;
  std::variant<std::monostate, std::string, Content> body;
  // Sent instead of `body` and without `delivery`: chunked, or to an HTTP/1.0 client until the
  // connection closes. Null: none.
  std::unique_ptr<TextStream> stream;
  std::optional<std::uint64_t> content_length;  // Overrides the size of the body (HEAD).
  // Send `body` with Transfer-Encoding: chunked (S3's error documents).
  bool chunked = false;
  bool close = false;  // Close the connection after this response.
  WireAction action = WireAction::kSend;
  std::unique_ptr<Delivery> delivery;  // Null: send the whole response at once.
  // The S3 error code, for example "NoSuchKey". Also set if the response has no document (HEAD,
  // 304). Never sent.
  std::string error_code;
  // Details for the log only, such as file paths of the server. Never sent.
  std::string error_detail;

  // Returns `delivery`; creates it if it is null.
  Delivery& Delivering();
  // Appends a header without a check for duplicates.
  void Add(std::string name, std::string value);
  std::optional<std::string_view> Find(std::string_view name) const;
};

// Returns the size of the body itself, not the size that the headers declare.
std::uint64_t BodySize(const Response& response);

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_RESPONSE_H_
