#include "emulator/auth/auth.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "emulator/auth/body_chain.h"
#include "emulator/auth/query_request.h"
#include "emulator/auth/signature/session_token.h"
#include "emulator/auth/unchecked.h"
#include "emulator/auth/verifier.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/dispatch/query_headers.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {
namespace {

// Signature parameters were already handled here. "Expires" is one in version 2 only, where no
// header of that name is in the query.
bool IsForRouter(std::string_view name) {
  return !IsSignatureParameter(name) || s3::EqualsIgnoreCase(name, "expires");
}

// Issues sessions for the admitted user.
class Issuer final : public message::Attachment, public s3::SessionIssuer {
 public:
  Issuer(std::shared_ptr<const User> user, std::string access_key_id)
      : user_(std::move(user)), access_key_id_(std::move(access_key_id)) {}
  s3::SessionCredentials Issue(const s3::DirectorySession& session) const override {
    return IssueSession(SecretOf(user_.get()), {access_key_id_, session});
  }

 private:
  const std::shared_ptr<const User> user_;
  const std::string access_key_id_;
};

// Query parameters that the request has as headers while it is processed.
struct ForwardedQuery final : message::Attachment {
  ForwardedQuery(std::size_t sent_headers, std::vector<s3::QueryHeader> in_query)
      : sent(sent_headers), headers(std::move(in_query)) {}
  const std::size_t sent;  // The number of headers that the client sent.
  const std::vector<s3::QueryHeader> headers;
};

class Auth final : public s3::Filter {
 public:
  Auth(AuthOptions options, const Directory& directory)
      : options_(std::move(options)), directory_(directory), verifier_(options_, directory_) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    const Result<void> admitted = Admit(exchange);
    if (admitted.ok()) return s3::FilterStatus::kContinue;
    const Error& error = admitted.error();
    s3::RespondWithError(exchange, error);
    if (!error.region.empty() && !exchange.response.Find("x-amz-bucket-region")) {
      exchange.response.Add("x-amz-bucket-region", error.region);
    }
    return s3::FilterStatus::kResponded;
  }

  // The log and the journal show what the client sent.
  void OnResponse(s3::Exchange& exchange) override {
    if (const auto* const query = exchange.Find<ForwardedQuery>())
      exchange.request.headers.resize(query->sent);
  }

 private:
  // The verdict about a signature that was found. A namespace that cannot be opened is no fault of
  // the signature.
  void SetVerdict(s3::Exchange& exchange, const Error* refusal) const {
    if (exchange.signature.version == SignatureVersion::kNone) return;
    if (refusal == nullptr) {
      if (options_.mode == Mode::kVerify) exchange.signature.verdict = SignatureVerdict::kValid;
    } else if (refusal->kind != ErrorKind::kUnavailable) {
      exchange.signature.verdict = SignatureVerdict::kInvalid;
    }
  }

  Result<void> Admit(s3::Exchange& exchange) {
    auto verified = options_.mode == Mode::kOff ? AdmitUnchecked(exchange, options_, directory_)
                                                : verifier_.Verify(exchange);
    SetVerdict(exchange, verified.ok() ? nullptr : &verified.error());
    if (!verified.ok()) return std::move(verified).error();
    Admission& admission = *verified;
    exchange.identity = std::move(admission.identity);
    if (exchange.Find<QueryRequest>() != nullptr) return Ok();  // its body has been read
    if (exchange.operation == "CreateSession") {
      exchange.sessions =
          &exchange.Attach<Issuer>(std::move(admission.user), exchange.identity.access_key_id);
    }
    const Mechanism mechanism = admission.mechanism;
    PENSTOCK_TRY(WrapBody(exchange, std::move(admission)));
    PENSTOCK_TRY(DrainUnused(exchange));
    if (exchange.operation == "PostObject") PENSTOCK_TRY(OpenForm(exchange, mechanism));
    if (mechanism == Mechanism::kQuery || mechanism == Mechanism::kVersionTwoQuery)
      return ForwardQuery(exchange);
    return Ok();
  }

  // Reads a form up to its file, whose content becomes the body. The identity comes from the form's
  // fields.
  Result<void> OpenForm(s3::Exchange& exchange, Mechanism mechanism) {
    PENSTOCK_ASSIGN(std::unique_ptr<s3::FormReader> form,
                    s3::FormReader::Open(exchange.request, *exchange.body));
    if (options_.mode != Mode::kOff) {
      auto sender = verifier_.VerifyForm(exchange, form->form(), mechanism);
      SetVerdict(exchange, sender.ok() ? nullptr : &sender.error());
      PENSTOCK_ASSIGN(exchange.identity, std::move(sender));
    }
    exchange.form = &form->form();
    exchange.Wrap(std::move(form));
    return Ok();
  }

  // Passes headers in the query of a presigned request to the router.
  static Result<void> ForwardQuery(s3::Exchange& exchange) {
    PENSTOCK_ASSIGN(std::vector<s3::QueryHeader> found,
                    s3::HeadersInQuery(exchange.request, exchange.target));
    std::erase_if(found, [](const s3::QueryHeader& header) { return !IsForRouter(header.name); });
    if (found.empty()) return Ok();
    std::vector<s3::HeaderView>& headers = exchange.request.headers;
    const auto& query = exchange.Attach<ForwardedQuery>(headers.size(), std::move(found));
    for (const s3::QueryHeader& header : query.headers)
      headers.push_back({header.name, header.value});
    // Needed again: x-amz-copy-source selects the operation too.
    s3::SetOperation(exchange);
    return Ok();
  }

  const AuthOptions options_;
  const Directory& directory_;
  Verifier verifier_;
};

// The user that the request claims.
struct ClaimedUser final : message::Attachment {
  explicit ClaimedUser(std::shared_ptr<const User> found) : user(std::move(found)) {}
  std::shared_ptr<const User> user;  // Never null.
};

}  // namespace

std::shared_ptr<const User> FindUserOnce(const Directory& directory, s3::Exchange& exchange,
                                         std::string_view access_key_id) {
  const ClaimedUser* const known = exchange.Find<ClaimedUser>();
  if (known != nullptr && known->user->access_key_id == access_key_id) return known->user;
  std::shared_ptr<const User> user = directory.FindUser(access_key_id);
  if (user) exchange.Attach<ClaimedUser>(user);
  return user;
}

std::unique_ptr<s3::Filter> MakeAuth(AuthOptions options, const Directory& directory) {
  return std::make_unique<Auth>(std::move(options), directory);
}

}  // namespace penstock::emulator::auth
