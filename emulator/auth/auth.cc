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
#include "emulator/s3/core/strict.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/post/form.h"

namespace penstock::emulator::auth {
namespace {

// Signature parameters were already handled here.
bool IsForRouter(std::string_view name) {
  return s3::IsHeaderInQuery(name) && !IsSignatureParameter(name);
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
  explicit ForwardedQuery(std::size_t headers) : sent(headers) {}
  const std::size_t sent;  // The number of headers that the client sent.
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
  Result<void> Admit(s3::Exchange& exchange) {
    PENSTOCK_ASSIGN(Admission admission, options_.mode == Mode::kOff
                                             ? AdmitUnchecked(exchange, options_, directory_)
                                             : verifier_.Verify(exchange));
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
      ForwardQuery(exchange);
    return Ok();
  }

  // Reads a form up to its file, whose content becomes the body. The identity comes from the form's
  // fields.
  Result<void> OpenForm(s3::Exchange& exchange, Mechanism mechanism) {
    PENSTOCK_ASSIGN(std::unique_ptr<s3::FormReader> form,
                    s3::FormReader::Open(exchange.request, *exchange.body));
    if (options_.mode != Mode::kOff) {
      PENSTOCK_ASSIGN(exchange.identity, verifier_.VerifyForm(exchange, form->form(), mechanism));
    }
    exchange.form = &form->form();
    exchange.Wrap(std::move(form));
    return Ok();
  }

  // Passes x-amz-* query parameters of a presigned request to the router as headers.
  static void ForwardQuery(s3::Exchange& exchange) {
    std::vector<s3::HeaderView>& headers = exchange.request.headers;
    const std::size_t sent = headers.size();
    for (const s3::QueryParameter& parameter : exchange.target.query) {
      if (!IsForRouter(parameter.name) || exchange.request.Find(parameter.name)) continue;
      headers.push_back({parameter.name, parameter.value});
    }
    if (headers.size() == sent) return;
    exchange.Attach<ForwardedQuery>(sent);
    // Needed again: x-amz-copy-source selects the operation too.
    s3::SetOperation(exchange);
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
