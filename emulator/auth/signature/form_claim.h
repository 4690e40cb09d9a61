// Parses the signature fields of a browser form, version 4 or 2 (AWS documentation: "Authenticating
// Requests in Browser-Based Uploads Using POST"). The signature covers the policy document as sent;
// the router evaluates the policy.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_FORM_CLAIM_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_FORM_CLAIM_H_

#include <optional>
#include <string_view>

#include "base/digest.h"
#include "emulator/s3/post/form.h"
#include "penstock/base/result.h"

namespace penstock::emulator::auth {

// Views point into the form.
struct FormClaim {
  bool version_two = false;
  std::string_view access_key_id;
  std::string_view signature;
  std::string_view policy;  // base64, the string to sign
  std::optional<std::string_view> token;
  // Version 4 only:
  std::string_view credential;
  std::string_view day;
  std::string_view region;
  std::string_view service;
  std::string_view terminal;
  std::string_view amz_date;
};

// Returns nullopt if the form has no signature field, and InvalidArgument if a field is missing or
// malformed.
Result<std::optional<FormClaim>> ParseFormClaim(const s3::Form& form);

// Returns InvalidArgument unless the credential is for `region`, S3 and the day of x-amz-date.
Result<void> CheckFormScope(const FormClaim& claim, std::string_view region);

// Returns SignatureDoesNotMatch unless the signature over the policy was made with the signing key
// (version 4) or the secret (version 2).
Result<void> CheckFormSignature(const FormClaim& claim, const HmacSha256Key& key);
Result<void> CheckFormSignature(const FormClaim& claim, std::string_view secret);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_FORM_CLAIM_H_
