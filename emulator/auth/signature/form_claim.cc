#include "emulator/auth/signature/form_claim.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/dates.h"
#include "base/encoding.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kAlgorithm = "X-Amz-Algorithm";
constexpr std::string_view kCredential = "X-Amz-Credential";
constexpr std::string_view kDate = "X-Amz-Date";
constexpr std::string_view kSignature = "X-Amz-Signature";

// In the order in which S3 reports missing fields.
constexpr std::array<std::string_view, 4> kVersionFour = {kAlgorithm, kCredential, kDate,
                                                          kSignature};
constexpr std::array<std::string_view, 2> kVersionTwo = {"AWSAccessKeyId", "Signature"};

Error MissingField(std::string_view field) {
  return InvalidArgument("Bucket POST must contain a field named '" + std::string(field) +
                             "'.  If it is specified, please check the order of the fields.",
                         field, "");
}

Error BadCredential(std::string complaint, std::string_view credential) {
  return InvalidArgument(std::move(complaint), kCredential, credential);
}

template <std::size_t N>
Result<bool> HasAll(const s3::Form& form, const std::array<std::string_view, N>& names) {
  const auto is_there = [&](std::string_view name) { return form.Find(name).has_value(); };
  if (std::none_of(names.begin(), names.end(), is_there)) return false;
  const auto missing = std::find_if_not(names.begin(), names.end(), is_there);
  if (missing != names.end()) return MissingField(*missing);
  if (!form.Find("policy")) return MissingField("Policy");
  return true;
}

std::optional<std::string_view> CutLast(std::string_view& text) {
  const auto slash = text.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view last = text.substr(slash + 1);
  text = text.substr(0, slash);
  return last;
}

Result<void> SplitCredential(FormClaim& claim) {
  std::string_view rest = claim.credential;
  const auto terminal = CutLast(rest);
  const auto service = CutLast(rest);
  const auto region = CutLast(rest);
  const auto day = CutLast(rest);
  if (!terminal || !service || !region || !day) {
    return BadCredential(
        "the Credential is mal-formed; expecting "
        "\"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".",
        claim.credential);
  }
  if (rest.empty())
    return BadCredential("a non-empty Access Key (AKID) must be provided in the credential.",
                         claim.credential);
  claim.access_key_id = rest;
  claim.day = *day;
  claim.region = *region;
  claim.service = *service;
  claim.terminal = *terminal;
  const bool is_day = day->size() == 8 && std::all_of(day->begin(), day->end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (is_day) return Ok();
  return BadCredential("incorrect date format \"" + std::string(*day) +
                           "\". This date in the credential must be in the format \"yyyyMMdd\".",
                       claim.credential);
}

Result<FormClaim> VersionFourClaim(const s3::Form& form) {
  FormClaim claim;
  const std::string_view algorithm = *form.Find(kAlgorithm);
  if (algorithm == "AWS4-ECDSA-P256-SHA256") {
    return NotImplemented(
        "Signature Version 4A (AWS4-ECDSA-P256-SHA256) is not implemented; sign with "
        "AWS4-HMAC-SHA256.");
  }
  if (algorithm != "AWS4-HMAC-SHA256") {
    return InvalidArgument(
        "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"", kAlgorithm,
        algorithm);
  }
  claim.credential = *form.Find(kCredential);
  PENSTOCK_TRY(SplitCredential(claim));
  claim.amz_date = *form.Find(kDate);
  if (!ParseAmzDate(claim.amz_date)) {
    return InvalidArgument("X-Amz-Date must be formated via ISO8601 Long format", kDate,
                           claim.amz_date);
  }
  claim.signature = *form.Find(kSignature);
  return claim;
}

Result<void> Compare(const FormClaim& claim, std::string_view expected) {
  if (ConstantTimeEqual(AsBytes(expected), AsBytes(claim.signature))) return Ok();
  return SignatureDoesNotMatch({.access_key_id = claim.access_key_id,
                                .string_to_sign = claim.policy,
                                .signature_provided = claim.signature,
                                .canonical_request = {}});
}

}  // namespace

Result<std::optional<FormClaim>> ParseFormClaim(const s3::Form& form) {
  PENSTOCK_ASSIGN(const bool version_four, HasAll(form, kVersionFour));
  PENSTOCK_ASSIGN(const bool version_two, HasAll(form, kVersionTwo));
  if (version_four && version_two) {
    return InvalidArgument(
        "Only one auth mechanism allowed; a form has the fields of one signature version",
        kSignature);
  }
  if (!version_four && !version_two) return std::optional<FormClaim>();
  FormClaim claim;
  if (version_four) {
    PENSTOCK_ASSIGN(claim, VersionFourClaim(form));
  } else {
    claim.version_two = true;
    claim.access_key_id = *form.Find("AWSAccessKeyId");
    claim.signature = *form.Find("Signature");
  }
  claim.policy = *form.Find("policy");
  claim.token = form.Find("x-amz-security-token");
  return std::optional<FormClaim>(claim);
}

Result<void> CheckFormScope(const FormClaim& claim, std::string_view region) {
  if (claim.region != region) {
    Error error = BadCredential("the region '" + std::string(claim.region) +
                                    "' is wrong; expecting '" + std::string(region) + "'",
                                claim.credential);
    error.kind = ErrorKind::kWrongRegion;
    error.region = std::string(region);
    error.details.emplace_back("Region", region);
    return error;
  }
  if (claim.service != "s3") {
    return BadCredential("incorrect service \"" + std::string(claim.service) +
                             "\". This endpoint belongs to \"s3\".",
                         claim.credential);
  }
  if (claim.terminal != "aws4_request") {
    return BadCredential("incorrect terminal \"" + std::string(claim.terminal) +
                             "\". This endpoint uses \"aws4_request\".",
                         claim.credential);
  }
  const std::string_view day = claim.amz_date.substr(0, claim.day.size());
  if (claim.day == day) return Ok();
  return BadCredential("Invalid credential date \"" + std::string(claim.day) +
                           "\". This date is not the same as X-Amz-Date: \"" + std::string(day) +
                           "\".",
                       claim.credential);
}

Result<void> CheckFormSignature(const FormClaim& claim, const HmacSha256Key& key) {
  return Compare(claim, Signature(key, claim.policy));
}

Result<void> CheckFormSignature(const FormClaim& claim, std::string_view secret) {
  return Compare(claim, Base64Encode(HmacSha1(AsBytes(secret), AsBytes(claim.policy))));
}

}  // namespace penstock::emulator::auth
