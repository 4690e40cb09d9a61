#include "emulator/server/admin/unsigned_s3.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "emulator/auth/body_chain.h"
#include "emulator/auth/signature/claim.h"
#include "emulator/events/notifying_store.h"
#include "emulator/s3/core/all_accounts.h"
#include "emulator/s3/core/document_memory.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::server {
namespace {

// What a browser may use a stored object for (Fetch Metadata, Sec-Fetch-Dest): a request of a
// script, a download, or media. As a script, style sheet or frame it would be a part of the page.
constexpr std::string_view kHarmlessUses[] = {"", "empty", "document", "image", "audio", "video"};

Result<void> RefuseSignature(const s3::Exchange& exchange) {
  const std::string_view authorization =
      exchange.request.Find("authorization").value_or(std::string_view());
  const auto& query = exchange.target.query;
  const bool in_query = std::any_of(query.begin(), query.end(), [](const auto& parameter) {
    return auth::IsSignatureParameter(parameter.name);
  });
  if (!in_query && !s3::StartsWithIgnoreCase(authorization, "AWS")) return Ok();
  return s3::InvalidRequest(
      "This path of the admin port takes requests without a signature, and would not verify one. "
      "Send signed requests to the S3 port.");
}

Result<void> RefuseUse(const s3::Exchange& exchange) {
  const std::string_view use = exchange.request.Find("sec-fetch-dest").value_or(std::string_view());
  if (std::find(std::begin(kHarmlessUses), std::end(kHarmlessUses), use) != std::end(kHarmlessUses))
    return Ok();
  return s3::MakeError("AccessDenied", {},
                       "Objects on this path cannot be used as a script, a style sheet or a frame "
                       "of a page (Sec-Fetch-Dest header).");
}

// Operations of browsers and of clients that sign. The router expects that authentication has
// prepared them.
Result<void> RefuseOperation(const s3::Exchange& exchange) {
  for (const std::string_view name : {"PostObject", "CreateSession"}) {
    if (exchange.operation == name)
      return s3::NotImplemented(std::string(name) + " needs a signature; use the S3 port.");
  }
  return Ok();
}

// Browsers remove the segments "." and ".." from paths. Keys with them are given in the query.
Result<void> TakeKeyFromQuery(s3::Target& target) {
  static constexpr std::string_view kName = "penstock-key";
  const auto is_key = [](const s3::QueryParameter& parameter) { return parameter.name == kName; };
  const auto found = std::find_if(target.query.begin(), target.query.end(), is_key);
  if (found == target.query.end()) return Ok();
  std::string key = std::move(found->value);
  const bool once = std::erase_if(target.query, is_key) == 1;
  if (!once || key.empty() || target.bucket.empty() || !target.key.empty()) {
    return s3::InvalidArgument(
        "penstock-key is the object key, and must be given once, not empty, with a path of a "
        "bucket and no key.",
        kName, key);
  }
  target.key = ObjectKey(std::move(key));
  return Ok();
}

// Takes the place of authentication.
class Admission final : public s3::Filter {
 public:
  explicit Admission(const identity::Identities& identities) : identities_(identities) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    const Result<void> admitted = Admit(exchange);
    if (admitted.ok()) return s3::FilterStatus::kContinue;
    s3::RespondWithError(exchange, admitted.error());
    return s3::FilterStatus::kResponded;
  }

  void OnResponse(s3::Exchange& exchange) override { KeepFromRunning(exchange.response); }

 private:
  Result<void> Admit(s3::Exchange& exchange) const {
    // Path style only: the Host header is that of the admin port.
    PENSTOCK_ASSIGN(exchange.target, s3::ParseTarget(exchange.request.target, {}, {}));
    PENSTOCK_TRY(TakeKeyFromQuery(exchange.target));
    PENSTOCK_TRY(RefuseSignature(exchange));
    PENSTOCK_TRY(RefuseUse(exchange));
    s3::SetOperation(exchange);
    PENSTOCK_TRY(RefuseOperation(exchange));
    exchange.identity = RequesterOf(exchange);
    exchange.Attach<s3::AllAccounts>();
    auth::Admission framing;
    // A given digest is verified. Chunks are decoded; their signatures are not checked.
    if (const auto claim = exchange.request.Find("x-amz-content-sha256")) {
      framing.payload_claim = *claim;
      PENSTOCK_ASSIGN(framing.payload_kind, auth::ClassifyPayload(*claim));
    }
    PENSTOCK_TRY(auth::WrapBody(exchange, std::move(framing)));
    return auth::DrainUnused(exchange);
  }

  // The root of the account that owns the bucket, or else of the namespace's first account. Also
  // sets the region of the bucket, as a signature would.
  s3::Identity RequesterOf(s3::Exchange& exchange) const {
    const s3::Namespace& space = *exchange.space;
    if (!exchange.target.bucket.empty() && exchange.operation != "CreateBucket") {
      const auto bucket = space.store->FindBucket(exchange.target.bucket);
      if (bucket.ok()) {
        exchange.signing_region = s3::RegionOfConstraint((*bucket)->region);
        return RootOf((*bucket)->owner_id);
      }
    }
    return RootOf(space.name == identity::kDefaultNamespace
                      ? identities_.DefaultIdentity().owner_id
                      : identities_.OwnerOf(space.name)
                            .value_or(identity::IdentityOfNamespace(space.name))
                            .owner_id);
  }

  s3::Identity RootOf(const std::string& owner_id) const {
    const std::optional<s3::Owner> owner = identities_.FindOwner(owner_id);
    const std::string account_id = owner ? owner->account_id : std::string();
    const std::string arn = "arn:aws:iam::" + account_id + ":root";
    if (auto root = owner ? identities_.FindPrincipal(arn) : std::nullopt) return *std::move(root);
    // The account has no keys any more; its buckets are still its own.
    return {.access_key_id = arn,
            .owner_id = owner_id,
            .display_name = owner ? owner->display_name : std::string(),
            .account_id = account_id,
            .arn = arn};
  }

  const identity::Identities& identities_;
};

// "attachment", with the parameters of `stored`, which has the file name.
std::string AsAttachment(std::string_view stored) {
  const std::size_t parameters = stored.find(';');
  std::string disposition = "attachment";
  if (parameters != std::string_view::npos) disposition += stored.substr(parameters);
  return disposition;
}

}  // namespace

void KeepFromRunning(s3::Response& response) {
  std::string disposition =
      AsAttachment(response.Find("content-disposition").value_or(std::string_view()));
  std::erase_if(response.headers, [](const auto& header) {
    for (const std::string_view replaced :
         {"content-disposition", "content-security-policy", "x-content-type-options",
          "cross-origin-resource-policy", "service-worker-allowed", "set-cookie"}) {
      if (EqualsIgnoreCase(header.first, replaced)) return true;
    }
    // The CORS rules of a bucket are about its own origins.
    return s3::StartsWithIgnoreCase(header.first, "access-control-");
  });
  response.Add("Content-Disposition", std::move(disposition));
  response.Add("X-Content-Type-Options", "nosniff");
  response.Add("Content-Security-Policy", "sandbox; default-src 'none'");
  response.Add("Cross-Origin-Resource-Policy", "same-origin");
  // Otherwise a browser may show an old version of an object.
  if (!response.Find("cache-control")) response.Add("Cache-Control", "no-store");
}

UnsignedS3::UnsignedS3(s3::Handler& operations, const identity::Identities& identities,
                       Options options)
    : options_(std::move(options)),
      chain_(operations, std::unique_ptr<s3::Filter>(std::make_unique<Admission>(identities)),
             s3::MakeDocumentMemory(options_.document_memory), events::MakeNotifier()) {}

std::unique_ptr<message::Exchange> UnsignedS3::NewExchange(s3::RequestHead& request,
                                                           s3::Connection& connection) {
  return chain_.NewExchange(request, connection);
}

Result<void> UnsignedS3::Handle(message::Exchange& base) {
  auto& exchange = static_cast<s3::Exchange&>(base);  // of NewExchange
  std::string_view rest = exchange.request.target.substr(kRoot.size());
  const std::size_t end = rest.find_first_of("/?");
  if (end == std::string_view::npos || rest[end] != '/') {
    return Error::Make(ErrorKind::kNotFound,
                       "the path has no '/' after the namespace; the form is "
                       "/_penstock/s3/NAMESPACE/BUCKET/KEY, and /_penstock/s3/NAMESPACE/ lists "
                       "the buckets");
  }
  const auto name = s3::PercentDecode(rest.substr(0, end), {});
  PENSTOCK_ASSIGN(exchange.space, options_.space_of(name.value_or(std::string())));
  exchange.request.target = rest.substr(end);
  chain_.Handle(exchange);
  return Ok();
}

}  // namespace penstock::emulator::server
