// A request to S3 and the response that handlers build for it.
//
// emulator/message defines HTTP messages as values. Authentication, faults, throttling and the
// journal are filters (filter_chain.h) before the router, which knows the meaning of requests.
#ifndef PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_
#define PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/message/exchange.h"
#include "emulator/policy/document.h"
#include "emulator/s3/protocol/directory_session.h"
#include "emulator/s3/protocol/target.h"
#include "emulator/store/store.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/request_signature.h"

namespace penstock::emulator::s3 {

using message::AsyncResponse;
using message::BodyReader;
using message::BodySize;
using message::BodyWrapper;
using message::Connection;
using message::Delivery;
using message::DeliveryStep;
using message::HeaderView;
using message::HoldBack;
using message::KeepPace;
using message::PendingResponse;
using message::RequestHead;
using message::Response;
using message::Wire;
using message::WireAction;

struct Form;
struct Operation;

// An account as S3 shows it. The account owns what its users create.
struct Owner {
  std::string id;  // Canonical id, 64 hexadecimal digits.
  std::string display_name;
  std::string account_id;  // 12 digits.
};

// Looks up accounts. Thread safety: safe from any thread.
class OwnerDirectory {
 public:
  virtual ~OwnerDirectory() = default;
  // Returns nullopt if no account has that canonical id.
  virtual std::optional<Owner> FindOwner(std::string_view canonical_id) const = 0;
};

// What the emulator's server keeps with a namespace besides its buckets. Opaque to S3's operations.
class NamespaceControls {
 public:
  virtual ~NamespaceControls() = default;
};

// A namespace of buckets, selected by the access key of the request.
struct Namespace {
  std::string name;
  std::shared_ptr<store::Store> store;
  const Clock* clock = nullptr;                      // Never null once requests are served.
  const OwnerDirectory* owners = nullptr;            // Null: only the requester is known.
  std::shared_ptr<NamespaceControls> controls = {};  // Null: none.
};

// The requester: a user or the root of an account. Anonymous if the access key is empty.
struct Identity {
  std::string access_key_id;
  std::string owner_id;        // Canonical id of the account, 64 hexadecimal digits.
  std::string display_name;    // Of the account.
  std::string account_id;      // 12 digits.
  std::string arn = {};        // "arn:aws:iam::111122223333:user/ann", or ":root".
  std::string user_name = {};  // Empty: the account's root.
  // Null: not authenticated by session credentials.
  std::shared_ptr<const DirectorySession> session = {};
  // Null: an account's root, whose account limits it by nothing. Shared by the user's requests.
  std::shared_ptr<const policy::PrincipalPolicies> policies = {};
  // "arn:aws:iam::111122223333:role/team/reader" for an assumed role, whose `arn` is
  // "arn:aws:sts::111122223333:assumed-role/reader/session". Otherwise empty.
  std::string role_arn = {};
  // aws:userid: "AIDA..." of a user, "AROA...:session" of an assumed role. Empty: the account id.
  std::string user_id = {};
  bool temporary = false;               // Credentials with a session token.
  std::optional<WallTime> issued = {};  // When temporary credentials were; nullopt: unknown.
  bool anonymous() const { return access_key_id.empty(); }
};

// State that faults keep with a request until its response has been sent.
class RequestNotes {
 public:
  virtual ~RequestNotes() = default;
  // Upper bound of the length of FiredRules().
  virtual std::size_t MostFiredBytes() const = 0;
  // Comma-separated ids of the fault rules that have fired for the request so far.
  virtual std::string FiredRules() const = 0;
  // Returns an error for one entry of a request with many objects (DeleteObjects), or nullopt.
  // Called for each entry in order, with `place` from 0, before any entry is processed.
  virtual std::optional<Error> RefuseEntry(std::size_t /*place*/, std::string_view /*key*/) {
    return std::nullopt;
  }
};

class Exchange final : public message::Exchange {
 public:
  using message::Exchange::Exchange;

  // The namespace's time for this request.
  std::optional<WallTime> Now() const override;
  void ReportDamage(const std::string& detail) const override;

  Target target;      // The parsed request target (target.h).
  Identity identity;  // Set by authentication.
  // The region of the signature's scope, set by authentication. Empty: unsigned (regions.h).
  std::string signing_region;
  RequestSignature signature;  // Set by authentication.
  // Set by the first filter or authentication. Never null in the router.
  std::shared_ptr<Namespace> space;
  std::string operation;  // For example "GetObject". Set once the target is parsed.
  // The row of `operation` in the router's table (operation.h). Null: not found yet, or the query
  // or the headers have changed since.
  const Operation* resolved = nullptr;
  // How far the time for this request is ahead of the namespace's clock (clock skew fault).
  std::chrono::nanoseconds clock_ahead{};
  std::shared_ptr<RequestNotes> notes;      // Null: none.
  const SessionIssuer* sessions = nullptr;  // For CreateSession; set by authentication.
  // The form of a PostObject request, set by authentication until the operation has returned.
  // `body` is then the content of the file (post_form.h).
  const Form* form = nullptr;
};

// Implements requests. Thread safety: called from many threads at once, each with its own Exchange.
class Handler {
 public:
  virtual ~Handler() = default;
  // Must leave a response, or make it pending.
  virtual void Handle(Exchange& exchange) = 0;
  // Must leave the response of an exchange that Handle left pending (message::Handler::Finish).
  virtual void Finish(Exchange& /*exchange*/) {}
};

// ServiceUnavailable once the request is cancelled (Wire::IsCancelled), because the server stops.
// Work that takes more than some milliseconds calls this between its steps.
Result<void> RefuseIfCancelled(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_
