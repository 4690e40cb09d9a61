#include "emulator/auth/auth.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "emulator/auth/body_chain.h"
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
class Issuer final : public s3::SessionIssuer {
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

class Auth final : public s3::Handler {
 public:
  Auth(AuthOptions options, const Directory& directory, s3::Handler& next)
      : options_(std::move(options)),
        directory_(directory),
        next_(next),
        verifier_(options_, directory_) {}

  void Handle(s3::Exchange& exchange) override {
    auto parsed = ParseTargetOnce(exchange);
    if (!parsed.ok()) return Refuse(exchange, parsed.error());
    auto admission = options_.mode == Mode::kOff ? AdmitUnchecked(exchange, options_, directory_)
                                                 : verifier_.Verify(exchange);
    if (!admission.ok()) return Refuse(exchange, admission.error());

    exchange.identity = std::move(admission->identity);
    std::optional<Issuer> issuer;
    if (exchange.operation == "CreateSession") {
      exchange.sessions =
          &issuer.emplace(std::move(admission->user), exchange.identity.access_key_id);
    }
    const Mechanism mechanism = admission->mechanism;
    s3::BodyReader* const wire_body = exchange.body;
    BodyChain chain;
    auto ready = chain.Build(exchange, std::move(admission).value());
    if (ready.ok()) ready = DrainUnused(exchange, *chain.outer());
    if (!ready.ok()) return Refuse(exchange, ready.error());

    exchange.body = chain.outer();
    std::unique_ptr<s3::FormReader> form;
    if (exchange.operation == "PostObject") {
      auto opened = OpenForm(exchange, mechanism);
      if (!opened.ok()) {
        exchange.body = wire_body;
        return Refuse(exchange, opened.error());
      }
      form = std::move(opened).value();
    }
    if (mechanism == Mechanism::kQuery || mechanism == Mechanism::kVersionTwoQuery) {
      ForwardQuery(exchange);
    } else {
      next_.Handle(exchange);
    }
    exchange.body = wire_body;  // the chain is destroyed with this scope
    exchange.form = nullptr;
    exchange.sessions = nullptr;
  }

 private:
  // An outer handler may have parsed the target already.
  Result<void> ParseTargetOnce(s3::Exchange& exchange) const {
    if (exchange.target.raw_path.empty()) {
      const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
      auto target = s3::ParseTarget(exchange.request.target, host, options_.hosts);
      if (!target.ok()) {
        if (!exchange.space) exchange.space = directory_.NamespaceOf(nullptr);
        return std::move(target).error();
      }
      exchange.target = std::move(target).value();
    }
    if (exchange.operation.empty()) s3::SetOperation(exchange);
    return Ok();
  }

  // Reads a form up to its file, whose content becomes the body. The identity comes from the form's
  // fields.
  Result<std::unique_ptr<s3::FormReader>> OpenForm(s3::Exchange& exchange, Mechanism mechanism) {
    PENSTOCK_ASSIGN(std::unique_ptr<s3::FormReader> form,
                    s3::FormReader::Open(exchange.request, *exchange.body));
    if (options_.mode != Mode::kOff) {
      PENSTOCK_ASSIGN(exchange.identity, verifier_.VerifyForm(exchange, form->form(), mechanism));
    }
    exchange.form = &form->form();
    exchange.body = form.get();
    return form;
  }

  void Refuse(s3::Exchange& exchange, const Error& error) const {
    s3::RespondWithError(exchange, error);
    if (!error.region.empty() && !exchange.response.Find("x-amz-bucket-region")) {
      exchange.response.Add("x-amz-bucket-region", error.region);
    }
  }

  // Passes x-amz-* query parameters of a presigned request to the router as headers. They are
  // removed from the head with the response, because the log and the journal show what the client
  // sent.
  void ForwardQuery(s3::Exchange& exchange) {
    std::vector<s3::HeaderView>& headers = exchange.request.headers;
    const std::size_t sent = headers.size();
    for (const s3::QueryParameter& parameter : exchange.target.query) {
      if (!IsForRouter(parameter.name) || exchange.request.Find(parameter.name)) continue;
      headers.push_back({parameter.name, parameter.value});
    }
    if (headers.size() == sent) return next_.Handle(exchange);
    // Needed again: x-amz-copy-source selects the operation too.
    s3::SetOperation(exchange);
    next_.Handle(exchange);
    exchange.WhenAnswered(
        [sent](s3::Exchange& answered) { answered.request.headers.resize(sent); });
  }

  const AuthOptions options_;
  const Directory& directory_;
  s3::Handler& next_;
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

std::unique_ptr<s3::Handler> MakeAuth(AuthOptions options, const Directory& directory,
                                      s3::Handler& next) {
  return std::make_unique<Auth>(std::move(options), directory, next);
}

}  // namespace penstock::emulator::auth
