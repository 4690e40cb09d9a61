#include "client/s3/response_bodies.h"

#include <algorithm>
#include <utility>

namespace penstock::s3 {
namespace {

// A listing page of 1000 keys of 1024 bytes, each percent-encoded, stays below 8 MiB.
constexpr std::size_t kMaxDocumentBytes = 32 << 20;
constexpr std::size_t kMaxErrorBytes = 1 << 20;
constexpr std::size_t kFirstWindow = 16 << 10;

}  // namespace

Result<void> ObjectBody::Begin(const http::ResponseHead& head) {
  received_ = 0;
  refused_by_caller_ = false;
  verifier_.reset();
  PENSTOCK_ASSIGN(answer_, ReadObjectHead(request_, head));
  if (verify_ && answer_.whole_object) verifier_ = ChecksumVerifier::For(answer_.metadata);
  auto begun = request_.sink->Begin(answer_.metadata, answer_.body_length);
  refused_by_caller_ = !begun.ok();
  return begun;
}

MutableByteView ObjectBody::Window() {
  window_ = request_.sink->Window();
  return window_;
}

Result<void> ObjectBody::Commit(std::size_t count) {
  received_ += count;
  if (verifier_) verifier_->Update(window_.first(count));
  auto committed = request_.sink->Commit(count);
  refused_by_caller_ = !committed.ok();
  return committed;
}

Result<ObjectMetadata> ObjectBody::Finish() {
  if (received_ != answer_.body_length) {
    return Error::Make(ErrorKind::kDataLoss, std::to_string(received_) + " bytes came, but the answer announced " +
                                                 std::to_string(answer_.body_length));
  }
  if (verifier_) PENSTOCK_TRY(verifier_->Finish());
  return answer_.metadata;
}

void AttemptBody::Reset() {
  to_success_body_ = false;
  head_.reset();
  text_.clear();
  filled_ = 0;
}

Result<void> AttemptBody::Begin(const http::ResponseHead& head) {
  head_ = head;
  filled_ = 0;
  to_success_body_ = success_body_ != nullptr && IsSuccess(info_, head.status);
  return to_success_body_ ? success_body_->Begin(head) : Ok();
}

MutableByteView AttemptBody::Window() {
  if (to_success_body_) return success_body_->Window();
  if (filled_ == text_.size()) {
    const std::size_t limit = IsSuccess(info_, head_->status) ? kMaxDocumentBytes : kMaxErrorBytes;
    text_.resize(std::min(std::max(kFirstWindow, text_.size() * 2), limit));
  }
  return {reinterpret_cast<std::byte*>(text_.data()) + filled_, text_.size() - filled_};
}

Result<void> AttemptBody::Commit(std::size_t count) {
  if (to_success_body_) return success_body_->Commit(count);
  filled_ += count;
  return Ok();
}

std::string AttemptBody::TakeText() {
  text_.resize(filled_);
  filled_ = 0;
  return std::exchange(text_, {});
}

}  // namespace penstock::s3
