#include "client/s3/verbs/verbs.h"

#include <memory>
#include <utility>

#include "base/dates.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
Result<WireRequest> BuildRequest(const CreateSessionRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kCreateSession, request.bucket, context));
  wire.query = {{"session", ""}};
  return wire;
}

Result<BucketSession> ParseSession(const WireResponse& response, WallTime now) {
  auto read = ReadDocument(response, "CreateSessionResult", "CreateSessionOutput");
  // A service without `?session` returns a listing of the bucket.
  if (!read.ok() && read.error().kind == ErrorKind::kUnsupported && read.error().code.empty()) {
    read.error().message +=
        ": the service does not support sessions; set disable_s3_express_session_auth to sign "
        "with the client's credentials";
  }
  PENSTOCK_ASSIGN(const XmlDocument document, std::move(read));
  const XmlElement given = document.root().Child("Credentials");
  Credentials credentials{given.Child("AccessKeyId").text(),
                          given.Child("SecretAccessKey").text(),
                          given.Child("SessionToken").text(),
                          {}};
  const auto expiration = ParseIso8601(given.Child("Expiration").text());
  // Names of missing elements may be logged, values of the others must not.
  for (const auto& [name, present] :
       {std::pair{"AccessKeyId", !credentials.access_key_id.empty()},
        std::pair{"SecretAccessKey", !credentials.secret_access_key.empty()},
        std::pair{"SessionToken", !credentials.session_token.empty()},
        std::pair{"Expiration", expiration.has_value()}}) {
    if (!present)
      return UnreadableDocument(response, "CreateSessionResult",
                                std::string("it has no valid <") + name + ">");
  }
  const auto date = response.head.Find("date");
  const WallTime made = date ? ParseHttpDate(*date).value_or(now) : now;
  const auto lifetime = std::chrono::floor<std::chrono::seconds>(*expiration - made);
  credentials.expires_at = TimeAhead(now, lifetime);
  return BucketSession{std::make_shared<const Credentials>(std::move(credentials)), lifetime};
}

}  // namespace penstock::s3
