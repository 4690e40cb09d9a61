// What a browser's form claims about its signature (spec/protocol.md §2.15): the fields of version
// 4 or of version 2. The policy document, as it came, is what was signed; what it says is the
// router's matter.
#ifndef PENSTOCK_EMULATOR_AUTH_FORM_CLAIM_H_
#define PENSTOCK_EMULATOR_AUTH_FORM_CLAIM_H_

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
  // Version 4 alone:
  std::string_view credential;
  std::string_view day;
  std::string_view region;
  std::string_view service;
  std::string_view terminal;
  std::string_view amz_date;
};

// nullopt: the form has no field of a signature. InvalidArgument when some are missing or not
// well-formed.
Result<std::optional<FormClaim>> ParseFormClaim(const s3::Form& form);

// InvalidArgument unless the credential is for that region, for S3 and for the day of x-amz-date.
Result<void> CheckFormScope(const FormClaim& claim, std::string_view region);

// SignatureDoesNotMatch unless the claim's signature is the key's (version 4) or the secret's
// (version 2) over the policy.
Result<void> CheckFormSignature(const FormClaim& claim, const HmacSha256Key& key);
Result<void> CheckFormSignature(const FormClaim& claim, std::string_view secret);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_FORM_CLAIM_H_
