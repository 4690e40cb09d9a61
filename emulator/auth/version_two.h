// Signature Version 2: the presigned URLs that boto3, the AWS CLI and s3cmd make unless told
// otherwise, and the Authorization header of older clients. Only regions from before 2014 speak it.
#ifndef PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_
#define PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// Views point into the target; they live as long as the exchange.
struct VersionTwoClaim {
  bool in_query = false;
  std::string_view access_key_id;
  std::string_view signature;  // base64
  // of the string to sign: Expires, or Date, or nothing beside an x-amz-date
  std::string_view date_line;
  std::string_view date_as_sent;  // Expires, x-amz-date or Date
  WallTime time{};                // when the query expires, or the header was signed
};

bool SpeaksVersionTwo(std::string_view region);

// AccessDenied where a parameter is missing or Expires is no count of seconds.
Result<VersionTwoClaim> ParseVersionTwoQuery(const s3::Target& target);
// "AWS access-key-id:signature". InvalidArgument for another form, AccessDenied without a readable
// date.
Result<VersionTwoClaim> ParseVersionTwoHeader(const s3::RequestHead& head);

// What the client signed: method, Content-MD5, Content-Type, date, every x-amz-* header, the
// resource. In a query, parameters stand for headers.
std::string VersionTwoStringToSign(const s3::RequestHead& head, const s3::Target& target,
                                   const VersionTwoClaim& claim);

// AccessDenied "Request has expired" with Expires and ServerTime; RequestTimeTooSkewed for a
// header.
Result<void> CheckVersionTwoTime(const VersionTwoClaim& claim, WallTime now);

// AccessDenied + ParametersNotSigned for a query parameter that has a meaning and that version 2
// does not sign, but for those that position and format a list.
Result<void> CheckVersionTwoCoverage(const s3::Target& target, const VersionTwoClaim& claim);

// SignatureDoesNotMatch unless the claim's signature is `secret`'s over the string to sign.
Result<void> CheckVersionTwoSignature(const s3::Exchange& exchange, const VersionTwoClaim& claim,
                                      std::string_view secret);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_VERSION_TWO_H_
