// Where the bytes of an answer go: an object into the caller's sink, a document or error into
// memory.
#ifndef PENSTOCK_CLIENT_S3_RESPONSE_BODIES_H_
#define PENSTOCK_CLIENT_S3_RESPONSE_BODIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/http/transport.h"
#include "client/s3/body_checksum.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/speed_floor.h"
#include "client/s3/verbs/get_object.h"

namespace penstock::s3 {

// The body of a success that does not go into memory. Begin starts it anew.
class SuccessBody : public http::ResponseBody {
 public:
  // The caller's sink gave an error: no retry can help.
  virtual bool refused_by_caller() const = 0;
  // Before each sending: what this attempt has to ask for, given what earlier ones brought.
  virtual void Prepare(WireRequest& wire) = 0;
};

// Passes an object on to the request's sink without a copy, after ReadObjectHead; follows its
// checksum when the whole object comes. After a body that broke off it asks for what is missing, of
// the same version; the sink sees one body.
class ObjectBody final : public SuccessBody {
 public:
  // `request` outlives this.
  explicit ObjectBody(const GetObjectRequest& request, bool verify)
      : request_(request), verify_(verify) {}

  Result<void> Begin(const http::ResponseHead& head) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;
  bool refused_by_caller() const override { return refused_by_caller_; }
  void Prepare(WireRequest& wire) override;

  // After the last byte, once: the metadata, or kDataLoss when bytes are missing or the checksum
  // differs.
  Result<ObjectMetadata> Finish();

 private:
  bool CanResume() const;
  GetObjectRequest Remainder() const;
  Result<void> BeginRemainder(const http::ResponseHead& head);

  const GetObjectRequest& request_;
  const bool verify_;
  std::vector<http::Header> asked_;  // the headers of a request from the start
  bool resuming_ = false;            // this attempt asked for the remainder only
  bool resumable_ = true;            // no remainder has been answered with something else
  ObjectAnswer answer_;              // of the attempt that began at the start
  std::optional<ChecksumVerifier> verifier_;
  MutableByteView window_;
  std::uint64_t received_ = 0;
  bool refused_by_caller_ = false;
};

class AttemptBody;

// Where two attempts are on their way for one answer: which of them may deliver it.
class AnswerRace {
 public:
  virtual ~AnswerRace() = default;
  // True for the first one that asks.
  virtual bool Win(const AttemptBody& body) = 0;
};

// What one attempt hands to the transport: decides by status and keeps head and text.
class AttemptBody final : public http::ResponseBody {
 public:
  // `success_body` may be null: successes are documents.
  AttemptBody(const OperationInfo& info, SuccessBody* success_body, SpeedFloor floor = {})
      : info_(info), success_body_(success_body), floor_(floor) {}

  // Before each sending.
  void Reset();
  // After Reset: the success body is delivered to only by whoever wins. `race` outlives the
  // sending.
  void set_race(AnswerRace* race) { race_ = race; }
  void OnConnection(const http::ConnectionUse& use) override { connections_.Add(use); }
  Result<void> Begin(const http::ResponseHead& head) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;

  // Of a success only its status and request ids.
  const std::optional<http::ResponseHead>& head() const { return head_; }
  std::uint64_t body_bytes() const { return body_bytes_; }  // of this attempt
  const ConnectionsUsed& connections() const { return connections_; }
  // The document of a success, or the start of an error's body; call once.
  std::string TakeText();
  bool refused_by_caller() const {
    return success_body_ != nullptr && success_body_->refused_by_caller();
  }

 private:
  const OperationInfo& info_;
  SuccessBody* const success_body_;
  SpeedFloor floor_;
  AnswerRace* race_ = nullptr;
  bool to_success_body_ = false;
  std::optional<http::ResponseHead> head_;
  std::string text_;  // grown ahead of what is filled
  std::size_t filled_ = 0;
  std::uint64_t body_bytes_ = 0;
  ConnectionsUsed connections_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RESPONSE_BODIES_H_
