#include "client/s3/attempt/response_bodies.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/s3/verbs/object_headers.h"

namespace penstock::s3 {
namespace {

// A listing page of 1000 keys of 1024 bytes, each percent-encoded, stays below 8 MiB.
constexpr std::size_t kMaxDocumentBytes = 32 << 20;
constexpr std::size_t kMaxErrorBytes = 1 << 20;
constexpr std::size_t kFirstWindow = 16 << 10;
// Of an announced body. Larger documents are rare, and a Content-Length may be wrong.
constexpr std::uint64_t kMaxFirstWindow = 1 << 20;
constexpr std::string_view kSink = "the sink of a read";

void Set(std::vector<http::Header>& headers, std::string_view name, std::string value) {
  std::erase_if(headers, [name](const http::Header& header) { return header.name == name; });
  headers.push_back({std::string(name), std::move(value)});
}

}  // namespace

// If-Match requires strong comparison, so a weak ETag cannot pin a version. If all bytes arrived,
// the failure concerns the whole object, for example its checksum. A read by part number cannot be
// combined with a range.
bool ObjectBody::CanResume() const {
  const std::string& etag = head_.metadata.etag.value;
  return resumable_ && !request_.part_number && received_ > 0 && received_ < head_.body_length &&
         !etag.empty() && !etag.starts_with("W/");
}

GetObjectRequest ObjectBody::Remainder() const {
  GetObjectRequest remainder = request_;
  const std::uint64_t begin =
      request_.range ? Select(*request_.range, head_.metadata.size).begin : 0;
  remainder.range = RangeRequest{begin + received_, begin + head_.body_length, {}};
  remainder.if_match = head_.metadata.etag;
  return remainder;
}

void ObjectBody::Prepare(WireRequest& wire) {
  if (resuming_) wire.headers = asked_;
  resuming_ = CanResume();
  if (!resuming_) return;
  const GetObjectRequest remainder = Remainder();
  Result<std::string> range = FormatRange(*remainder.range);
  resuming_ = range.ok();
  if (!resuming_) return;
  asked_ = wire.headers;
  Set(wire.headers, "Range", std::move(range).value());
  Set(wire.headers, "If-Match", QuoteETag(*remainder.if_match));
}

Result<void> ObjectBody::BeginRemainder(const http::ResponseHead& head) {
  const auto parsed = ReadObjectHead(Remainder(), head);
  // If the response does not resume the body, the next attempt starts over.
  resumable_ = parsed.ok() && parsed->metadata.size == head_.metadata.size;
  if (resumable_) return Ok();
  if (!parsed.ok()) return parsed.error();
  return Error::Make(ErrorKind::kDataLoss,
                     "the object has " + std::to_string(parsed->metadata.size) +
                         " bytes, but had " + std::to_string(head_.metadata.size) +
                         " when the first response ended early");
}

Result<void> ObjectBody::Begin(const http::ResponseHead& head) {
  refused_by_caller_ = false;
  if (resuming_) return BeginRemainder(head);
  received_ = 0;
  verifier_.reset();
  PENSTOCK_ASSIGN(head_, ReadObjectHead(request_, head));
  if (!verify_) head_.metadata.checksums.clear();
  Result<void> begun =
      Caught(kSink, [&] { return request_.sink->Begin(head_.metadata, head_.body_length); });
  refused_by_caller_ = !begun.ok() && begun.error().kind != ErrorKind::kDataLoss;
  const bool follow = head_.whole_object && begun.ok() && !request_.sink->FollowsChecksum();
  if (follow) verifier_ = ChecksumVerifier::For(head_.metadata);
  return begun;
}

MutableByteView ObjectBody::Window() {
  window_ = request_.sink->Window();
  return window_;
}

Result<void> ObjectBody::Commit(std::size_t count) {
  received_ += count;
  if (verifier_) verifier_->Update(window_.first(count));
  Result<void> committed = Caught(kSink, [&] { return request_.sink->Commit(count); });
  refused_by_caller_ = !committed.ok();
  return committed;
}

Result<void> ObjectBody::Finish() {
  if (received_ != head_.body_length) {
    return Error::Make(ErrorKind::kDataLoss, std::to_string(received_) +
                                                 " bytes received, but the response announced " +
                                                 std::to_string(head_.body_length));
  }
  return verifier_ ? verifier_->Finish() : Ok();
}

void AttemptBody::Reset() {
  arbiter_ = nullptr;
  to_success_body_ = false;
  head_.reset();
  text_.clear();
  filled_ = 0;
  body_bytes_ = 0;
  responded_early_ = false;
  connections_ = {};
}

Result<void> AttemptBody::Begin(const http::ResponseHead& head) {
  filled_ = 0;
  const bool success = IsSuccess(info_, head.status);
  to_success_body_ = success_body_ != nullptr && success;
  if (!success) {
    head_ = head;
  } else {
    // If the body fails, the error needs the status and the request ids. The complete head comes
    // with the outcome.
    head_.emplace().status = head.status;
    head_->headers.reserve(2);
    for (const std::string_view name : {"x-amz-request-id", "x-amz-id-2"}) {
      if (const auto value = head.Find(name))
        head_->headers.push_back({std::string(name), std::string(*value)});
    }
  }
  floor_.Begin();
  if (!to_success_body_) {
    first_window_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(
        http::ContentLength(head).value_or(0), kFirstWindow, kMaxFirstWindow));
    return Ok();
  }
  if (arbiter_ != nullptr && !arbiter_->TryWin(*this))
    return Error::Make(ErrorKind::kCancelled, "the other response was first");
  return success_body_->Begin(head);
}

MutableByteView AttemptBody::Window() {
  if (to_success_body_) return success_body_->Window();
  if (filled_ == text_.size()) {
    const std::size_t limit = IsSuccess(info_, head_->status) ? kMaxDocumentBytes : kMaxErrorBytes;
    text_.resize(std::min(std::max(first_window_, text_.size() * 2), limit));
  }
  return {reinterpret_cast<std::byte*>(text_.data()) + filled_, text_.size() - filled_};
}

Result<void> AttemptBody::Commit(std::size_t count) {
  body_bytes_ += count;
  if (to_success_body_) PENSTOCK_TRY(success_body_->Commit(count));
  if (!to_success_body_) filled_ += count;
  return floor_.Add(count);
}

std::string AttemptBody::TakeText() {
  text_.resize(filled_);
  filled_ = 0;
  return std::exchange(text_, {});
}

}  // namespace penstock::s3
