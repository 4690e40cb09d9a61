// Destinations of response bodies: an object goes to the caller's sink, a document or an error to
// memory.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_RESPONSE_BODIES_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_RESPONSE_BODIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/http/transport.h"
#include "client/s3/attempt/speed_floor.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/verbs.h"

namespace penstock::s3 {

// Body of a success that is not collected in memory. Begin restarts it.
class SuccessBody : public http::ResponseBody {
 public:
  // True: the caller's sink returned an error, other than kDataLoss, so a retry is useless.
  virtual bool refused_by_caller() const = 0;
  // Called before each attempt: adjusts the request to the bytes that earlier attempts delivered.
  virtual void Prepare(WireRequest& wire) = 0;
};

// Passes an object to the request's sink without a copy, after ReadObjectHead. Verifies the
// checksum if the response is the whole object. After an incomplete body it requests the missing
// bytes of the same version; the sink sees one body.
class ObjectBody final : public SuccessBody {
 public:
  // `request` must outlive this object.
  explicit ObjectBody(const GetObjectRequest& request, bool verify)
      : request_(request), verify_(verify) {}

  Result<void> Begin(const http::ResponseHead& head) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;
  bool refused_by_caller() const override { return refused_by_caller_; }
  void Prepare(WireRequest& wire) override;

  // Called once, after the last byte. Returns kDataLoss if bytes are missing or the checksum
  // differs.
  Result<void> Finish();
  // Call once, after Finish has succeeded.
  ObjectMetadata TakeMetadata() { return std::move(head_.metadata); }

 private:
  bool CanResume() const;
  GetObjectRequest Remainder() const;
  Result<void> BeginRemainder(const http::ResponseHead& head);

  const GetObjectRequest& request_;
  const bool verify_;
  std::vector<http::Header> asked_;  // Headers of the request for the whole range.
  bool resuming_ = false;            // This attempt requested only the remainder.
  bool resumable_ = true;            // Every remainder so far was resumed correctly.
  ParsedObjectHead head_;            // Of the attempt that started at the first byte.
  std::optional<ChecksumVerifier> verifier_;
  MutableByteView window_;
  std::uint64_t received_ = 0;
  bool refused_by_caller_ = false;
};

class AttemptBody;

// Decides which of the two requests of a hedged attempt may deliver its response.
class HedgeArbiter {
 public:
  virtual ~HedgeArbiter() = default;
  // Returns true for the first caller.
  virtual bool TryWin(const AttemptBody& body) = 0;
};

// The body that the transport fills for one attempt. Chooses the destination by status and keeps
// head and text.
class AttemptBody final : public http::ResponseBody {
 public:
  // `success_body` may be null: successes are documents.
  AttemptBody(const OperationInfo& info, SuccessBody* success_body, SpeedFloor floor = {})
      : info_(info), success_body_(success_body), floor_(floor) {}

  // Called before each attempt.
  void Reset();
  // Called after Reset: only the winner delivers to the success body. `arbiter` must outlive the
  // attempt.
  void set_arbiter(HedgeArbiter* arbiter) { arbiter_ = arbiter; }
  void OnConnection(const http::ConnectionUse& use) override { connections_.Add(use); }
  Result<void> Begin(const http::ResponseHead& head) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;

  // For a success, only its status and request ids.
  const std::optional<http::ResponseHead>& head() const { return head_; }
  std::uint64_t body_bytes() const { return body_bytes_; }  // Of this attempt.
  const ConnectionsUsed& connections() const { return connections_; }
  // The response arrived before the whole request body was sent, so the request had no effect.
  bool responded_early() const { return responded_early_; }
  void set_responded_early() { responded_early_ = true; }
  // Returns the document of a success, or the start of an error's body. Call once.
  std::string TakeText();
  bool refused_by_caller() const {
    return success_body_ != nullptr && success_body_->refused_by_caller();
  }

 private:
  const OperationInfo& info_;
  SuccessBody* const success_body_;
  SpeedFloor floor_;
  HedgeArbiter* arbiter_ = nullptr;
  bool to_success_body_ = false;
  std::optional<http::ResponseHead> head_;
  std::size_t first_window_ = 0;  // Of a document: its size, if that is announced.
  std::string text_;              // Larger than the filled part.
  std::size_t filled_ = 0;
  std::uint64_t body_bytes_ = 0;
  bool responded_early_ = false;
  ConnectionsUsed connections_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_RESPONSE_BODIES_H_
