#include "emulator/auth/presign.h"

#include "base/dates.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/signing_key.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {

std::string PresignedTarget(const User& user, const PresignTerms& terms) {
  const std::string date = FormatAmzDate(terms.now);
  const std::string day = FormatAmzDay(terms.now);
  const std::string scope = day + "/" + terms.region + "/s3/aws4_request";
  std::string query = terms.query.empty() ? std::string() : terms.query + "&";
  query += "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" +
           s3::PercentEncode(user.access_key_id + "/" + scope) + "&X-Amz-Date=" + date +
           "&X-Amz-Expires=" + std::to_string(terms.expires.count()) + "&X-Amz-SignedHeaders=host";
  s3::RequestHead head;
  head.method = terms.method;
  head.headers = {{"host", terms.host}};
  const std::string canonical = CanonicalRequest({.head = head,
                                                  .raw_path = terms.path,
                                                  .raw_query = query,
                                                  .query_leave_out = {},
                                                  .signed_headers = {"host"},
                                                  .payload_hash = "UNSIGNED-PAYLOAD"});
  const Sha256Digest key = DeriveSigningKey(
      {.secret = user.secret_access_key, .day = day, .region = terms.region, .service = "s3"});
  return terms.path + "?" + query +
         "&X-Amz-Signature=" + Signature(HmacSha256Key(key), StringToSign(date, scope, canonical));
}

}  // namespace penstock::emulator::auth
