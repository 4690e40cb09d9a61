#include "client/http/exchange/transfer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/log/caught.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

constexpr std::string_view kResponseBody = "the consumer of the response body";
constexpr std::string_view kRequestBody = "the source of the request body";

}  // namespace

bool Transfer::Fail(Error why) {
  if (!error) error = std::move(why);
  return false;
}

bool Transfer::OnException(std::string_view where) { return Fail(CaughtError(where)); }

void Transfer::OnConnection(const ConnectionUse& use) {
  Contain(kResponseBody, [&] { response_body->OnConnection(use); });
}

bool Transfer::OnHeadLine(std::string_view line) try {
  if (line.starts_with("HTTP/")) first_byte = arrived;
  const bool had_head = head.complete();
  if (Result<void> added = head.Add(line); !added.ok()) {
    Error why = std::move(added).error();
    why.message = Authority(request.endpoint) + ": " + why.message;
    return Fail(std::move(why));
  }
  if (!had_head && head.complete()) last_activity = arrived;
  return true;
} catch (...) {  // out of memory for the head
  return OnException("the head of a response");
}

bool Transfer::BeginOnce() {
  if (begun) return true;
  begun = true;
  Result<void> result = Caught(kResponseBody, [&] { return response_body->Begin(head.head()); });
  if (!result.ok()) return Fail(std::move(result).error());
  return true;
}

bool Transfer::OnBody(ByteView bytes) {
  if (!BeginOnce()) return false;
  while (!bytes.empty()) {
    const MutableByteView window = NextWindow();
    if (window.empty()) return false;
    const std::size_t count = std::min(window.size(), bytes.size());
    std::memcpy(window.data(), bytes.data(), count);
    if (!Commit(count)) return false;
    bytes = bytes.subspan(count);
  }
  return true;
}

MutableByteView Transfer::NextWindow() {
  MutableByteView window;
  try {
    window = response_body->Window();
  } catch (...) {
    OnException(kResponseBody);
    return {};
  }
  if (window.empty()) {
    Fail(Error::Make(ErrorKind::kDataLoss, Authority(request.endpoint) + " sent more than the " +
                                               std::to_string(received) +
                                               " bytes that the destination has room for"));
  }
  return window;
}

bool Transfer::OnReceived(std::size_t count) { return Commit(count); }

bool Transfer::Commit(std::size_t count) {
  Result<void> result = Caught(kResponseBody, [&] { return response_body->Commit(count); });
  if (!result.ok()) return Fail(std::move(result).error());
  received += count;
  last_activity = arrived;
  return true;
}

std::optional<ByteView> Transfer::NextPiece(std::size_t limit) try {
  const std::uint64_t left = request_body == nullptr ? 0 : request_body->size() - sent;
  if (left == 0) return ByteView();
  limit = static_cast<std::size_t>(std::min<std::uint64_t>(limit, left));
  const ByteView piece = request_body->Next(limit);
  if (piece.empty() || piece.size() > limit) {
    Fail(Error::Make(ErrorKind::kInternal, "the request body of " +
                                               std::to_string(request_body->size()) +
                                               " bytes returned " + std::to_string(piece.size()) +
                                               " bytes, expected 1 to " + std::to_string(limit) +
                                               ", after " + std::to_string(sent)));
    return std::nullopt;
  }
  sent += piece.size();
  return piece;
} catch (...) {
  OnException(kRequestBody);
  return std::nullopt;
}

bool Transfer::OnRewind() {
  sent = 0;
  Result<void> result = Caught(kRequestBody, [&] {
    if (request_body != nullptr) request_body->Rewind();
  });
  return result.ok() || Fail(std::move(result).error());
}

}  // namespace penstock::http
