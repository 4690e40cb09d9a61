// Properties of the parsers for STS: parameters of the query protocol, and web identity tokens.
#ifndef PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "emulator/auth/query_request.h"
#include "emulator/identity/tokens/web_token.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/base/bytes.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

// Parameters that are encoded again are the same.
inline void CheckQuery(std::string_view input) {
  const auto parameters = auth::ParseQueryParameters(input);
  if (!parameters) return;
  std::string again;
  std::size_t bytes = 0;
  for (const auto& [name, value] : *parameters) {
    bytes += name.size() + value.size();
    again.append(s3::PercentEncode(name)).append("=").append(s3::PercentEncode(value)).append("&");
  }
  PENSTOCK_CHECK(bytes <= input.size());
  PENSTOCK_CHECK(auth::ParseQueryParameters(again) == parameters);
}

inline std::string Base64Url(std::string_view text) {
  std::string encoded = Base64Encode(AsBytes(text));
  encoded.erase(std::min(encoded.find('='), encoded.size()));
  std::replace(encoded.begin(), encoded.end(), '+', '-');
  std::replace(encoded.begin(), encoded.end(), '/', '_');
  return encoded;
}

// A provider with keys never accepts the token: the seeds have expired, and no mutation can sign.
// An error has a code of STS.
inline void CheckToken(std::string_view input) {
  constexpr WallTime kNow{std::chrono::seconds(1'900'000'000)};
  identity::TokenProvider provider;
  provider.issuer = identity::IssuerOf(input).value_or("joe");
  provider.audiences = {"a"};
  provider.keys =
      R"({"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
      R"( "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}, {"kty": "RSA", "kid": "1", "e": "AQAB", "n": )"
      R"("xvY8Js4nXe8q6OG6FhPzNWTn_YzEvs1yxzTma1-D81nc8CnGMkxjM3C9Jamu29KbbdyWX_MAdiTpHr_H8c51bq)"
      R"(Jh8XmQudcQ04doOjExpnIrxT_6Pqv1fBmFIXNOw-6SLMYkC-UepuBzU8m_Ehb3SWx4lrYXcwNQgrSdpds3QwU"}]})";
  if (identity::CheckKeySet(input).ok()) provider.keys = input;
  const auto verified = identity::VerifyToken(provider, input, kNow);
  PENSTOCK_CHECK(!verified.ok());
  PENSTOCK_CHECK(verified.error().code == "InvalidIdentityToken" ||
                 verified.error().code == "ExpiredTokenException");
  provider.accepts_any_token = true;
  if (const auto any = identity::VerifyToken(provider, input, kNow); any.ok())
    PENSTOCK_CHECK(!any->subject.empty() && any->issuer == provider.issuer);
}

// Input: a token, a key set, or the header, payload and signature of a token, each in a line and
// not encoded, because mutations of base64 hardly ever decode to JSON.
inline void CheckWebToken(std::string_view input) {
  CheckToken(input);
  const std::size_t header = input.find('\n');
  if (header == std::string_view::npos) return;
  const std::size_t payload = std::min(input.find('\n', header + 1), input.size());
  const std::string_view signature = input.substr(std::min(payload + 1, input.size()));
  CheckToken(Base64Url(input.substr(0, header)) + "." +
             Base64Url(input.substr(header + 1, payload - header - 1)) + "." +
             Base64Url(signature));
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_
