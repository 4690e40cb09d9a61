#include "emulator/auth/auth.h"

#include <algorithm>
#include <utility>

#include "emulator/api/form.h"
#include "emulator/api/router.h"
#include "emulator/api/strict.h"
#include "emulator/auth/body_chain.h"
#include "emulator/auth/session_token.h"
#include "emulator/auth/unchecked.h"
#include "emulator/auth/verifier.h"

namespace penstock::emulator::auth {
namespace {

// Those of the signature itself were dealt with here.
bool IsForRouter(std::string_view name) { return api::IsHeaderInQuery(name) && !IsSignatureParameter(name); }

// In the name of whoever was admitted.
class Issuer final : public api::SessionIssuer {
 public:
  Issuer(std::shared_ptr<const User> user, std::string access_key_id) : user_(std::move(user)), access_key_id_(std::move(access_key_id)) {}
  api::SessionCredentials Issue(const api::DirectorySession& session) const override {
    return IssueSession(SecretOf(user_.get()), {access_key_id_, session});
  }

 private:
  const std::shared_ptr<const User> user_;
  const std::string access_key_id_;
};

// A request whose x-amz-* query parameters became headers. `outer` outlives it: the head has views of its target.
class WithQueryHeaders {
 public:
  explicit WithQueryHeaders(api::Exchange& outer)
      : head_(HeadOf(outer)), exchange{.request = head_, .body = outer.body, .connection = outer.connection} {
    // The bindings name every member, so that a new one is a compile error here and not a lost value.
    auto& [request, body, connection, target, identity, signing_region, space, request_id, host_id, operation, received,
           began, clock_ahead, notes, journal, sessions, form, ended, bytes_in, bytes_out, whole, response, late, pending,
           when_answered] = outer;
    exchange.target = target;
    exchange.identity = identity;
    exchange.signing_region = signing_region;
    exchange.space = space;
    exchange.request_id = request_id;
    exchange.host_id = host_id;
    exchange.operation = api::OperationName(head_, target);  // x-amz-copy-source may have come in the query
    exchange.received = received;
    exchange.began = began;
    exchange.clock_ahead = clock_ahead;
    exchange.notes = notes;
    exchange.journal = journal;
    exchange.sessions = sessions;
    exchange.form = form;
    exchange.ended = ended;
    exchange.bytes_in = bytes_in;
    exchange.bytes_out = bytes_out;
    exchange.whole = whole;
    exchange.response = std::move(response);
    exchange.late = late;
    operation = exchange.operation;
  }

  // The answer is there: runs what waits for it, and hands it to the outer exchange.
  void GiveBack(api::Exchange& outer) {
    exchange.pending = false;
    for (const auto& look : exchange.when_answered) look(exchange);
    outer.response = std::move(exchange.response);
  }

 private:
  static api::RequestHead HeadOf(const api::Exchange& outer) {
    api::RequestHead head = outer.request;
    for (const api::QueryParameter& parameter : outer.target.query) {
      if (IsForRouter(parameter.name) && !head.Find(parameter.name)) head.headers.push_back({parameter.name, parameter.value});
    }
    return head;
  }

  const api::RequestHead head_;

 public:
  api::Exchange exchange;
};

class Auth final : public api::Handler {
 public:
  Auth(AuthOptions options, const Directory& directory, api::Handler& next)
      : options_(std::move(options)), directory_(directory), next_(next), verifier_(options_, directory_) {}

  void Handle(api::Exchange& exchange) override {
    auto parsed = ParseTargetOnce(exchange);
    if (!parsed.ok()) return Refuse(exchange, parsed.error());
    auto admission = options_.mode == Mode::kOff ? AdmitUnchecked(exchange, options_, directory_) : verifier_.Verify(exchange);
    if (!admission.ok()) return Refuse(exchange, admission.error());

    exchange.identity = std::move(admission->identity);
    std::optional<Issuer> issuer;
    if (exchange.operation == "CreateSession") {
      exchange.sessions = &issuer.emplace(std::move(admission->user), exchange.identity.access_key_id);
    }
    const Mechanism mechanism = admission->mechanism;
    api::BodyReader* const wire_body = exchange.body;
    BodyChain chain;
    auto ready = chain.Build(exchange, std::move(admission).value());
    if (ready.ok()) ready = DrainUnused(exchange, *chain.outer());
    if (!ready.ok()) return Refuse(exchange, ready.error());

    exchange.body = chain.outer();
    std::unique_ptr<api::FormReader> form;
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
    exchange.body = wire_body;  // the chain ends here
    exchange.form = nullptr;
    exchange.sessions = nullptr;
  }

 private:
  // An outer handler may have parsed the target already.
  Result<void> ParseTargetOnce(api::Exchange& exchange) const {
    if (exchange.target.raw_path.empty()) {
      const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
      auto target = api::ParseTarget(exchange.request.target, host, options_.hosts);
      if (!target.ok()) {
        if (!exchange.space) exchange.space = directory_.NamespaceOf(nullptr);
        return std::move(target).error();
      }
      exchange.target = std::move(target).value();
    }
    if (exchange.operation.empty()) exchange.operation = api::OperationName(exchange.request, exchange.target);
    return Ok();
  }

  // Reads a form up to its file, whose content becomes the body, and takes who posts it from its fields.
  Result<std::unique_ptr<api::FormReader>> OpenForm(api::Exchange& exchange, Mechanism mechanism) {
    PENSTOCK_ASSIGN(std::unique_ptr<api::FormReader> form, api::FormReader::Open(exchange.request, *exchange.body));
    if (options_.mode != Mode::kOff) {
      PENSTOCK_ASSIGN(exchange.identity, verifier_.VerifyForm(exchange, form->form(), mechanism));
    }
    exchange.form = &form->form();
    exchange.body = form.get();
    return form;
  }

  void Refuse(api::Exchange& exchange, const Error& error) const {
    api::RespondWithError(exchange, error);
    if (!error.region.empty() && !exchange.response.Find("x-amz-bucket-region")) {
      exchange.response.Add("x-amz-bucket-region", error.region);
    }
  }

  // A query-authenticated request may carry x-amz-* headers as parameters: the router sees them as headers. It gets an
  // exchange of its own, because the head belongs to the wire. That exchange lives until the answer is there.
  void ForwardQuery(api::Exchange& exchange) {
    const bool any = std::any_of(exchange.target.query.begin(), exchange.target.query.end(),
                                 [](const api::QueryParameter& parameter) { return IsForRouter(parameter.name); });
    if (!any) return next_.Handle(exchange);

    const auto inner = std::make_shared<WithQueryHeaders>(exchange);
    next_.Handle(inner->exchange);
    if (inner->exchange.pending) {
      exchange.pending = true;
      exchange.when_answered.emplace_back([inner](api::Exchange& answered) { inner->GiveBack(answered); });
    } else {
      inner->GiveBack(exchange);
    }
  }

  const AuthOptions options_;
  const Directory& directory_;
  api::Handler& next_;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<api::Handler> MakeAuth(AuthOptions options, const Directory& directory, api::Handler& next) {
  return std::make_unique<Auth>(std::move(options), directory, next);
}

}  // namespace penstock::emulator::auth
