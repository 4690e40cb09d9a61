// Signature Version 2: the presigned URLs that boto3, the AWS CLI and s3cmd make by default, and
// the Authorization header of older clients. Only regions from before 2014 accept it.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_VERSION_TWO_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_VERSION_TWO_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// Views point into the target; they are valid while the exchange lives.
struct VersionTwoClaim {
  bool in_query = false;
  std::string_view access_key_id;
  std::string_view signature;  // base64
  // Line of the string to sign: Expires or Date; empty if x-amz-date is sent.
  std::string_view date_line;
  std::string_view date_as_sent;  // Expires, x-amz-date or Date
  WallTime time{};                // the expiry of the query, or the date of the header
};

bool SpeaksVersionTwo(std::string_view region);

// Returns AccessDenied if a parameter is missing or Expires is not a number of seconds.
Result<VersionTwoClaim> ParseVersionTwoQuery(const s3::Target& target);
// Parses "AWS access-key-id:signature". Returns InvalidArgument for another form, and AccessDenied
// without a valid date.
Result<VersionTwoClaim> ParseVersionTwoHeader(const s3::RequestHead& head);

// Returns the string to sign: method, Content-MD5, Content-Type, date, every x-amz-* header, the
// resource. In a presigned URL, query parameters replace headers.
std::string VersionTwoStringToSign(const s3::RequestHead& head, const s3::Target& target,
                                   const VersionTwoClaim& claim);

// Returns AccessDenied "Request has expired" with Expires and ServerTime for a query, and
// RequestTimeTooSkewed for a header.
Result<void> CheckVersionTwoTime(const VersionTwoClaim& claim, WallTime now);

// Returns AccessDenied with ParametersNotSigned for a known query parameter that version 2 does not
// sign, except those for the position and format of a list.
Result<void> CheckVersionTwoCoverage(const s3::Target& target, const VersionTwoClaim& claim);

// Returns SignatureDoesNotMatch unless the signature was made with `secret`.
Result<void> CheckVersionTwoSignature(const s3::Exchange& exchange, const VersionTwoClaim& claim,
                                      std::string_view secret);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_VERSION_TWO_H_
