// Signature Version 2 in the query: the presigned URLs that boto3, the AWS CLI and s3cmd make unless told otherwise.
//
// Not for the Authorization header of version 2, which no current client sends.
#ifndef PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_
#define PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_

#include <string>
#include <string_view>

#include "emulator/api/exchange.h"

namespace penstock::emulator::auth {

// Views point into the target; they live as long as the exchange.
struct VersionTwoClaim {
  std::string_view access_key_id;
  std::string_view signature;  // base64
  std::string_view expires_as_sent;
  WallTime expires{};
};

// AccessDenied where a parameter is missing or Expires is no count of seconds.
Result<VersionTwoClaim> ParseVersionTwoClaim(const api::Target& target);

// What the client signed: method, Content-MD5, Content-Type, Expires, every x-amz-* header or parameter, the resource.
std::string VersionTwoStringToSign(const api::RequestHead& head, const api::Target& target, std::string_view expires);

// AccessDenied "Request has expired" with Expires and ServerTime.
Result<void> CheckVersionTwoTime(const VersionTwoClaim& claim, WallTime now);

// SignatureDoesNotMatch unless the claim's signature is `secret`'s over the string to sign.
Result<void> CheckVersionTwoSignature(const api::Exchange& exchange, const VersionTwoClaim& claim, std::string_view secret);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_
