// Properties of the parsers for STS: parameters of the query protocol, and web identity tokens.
#ifndef PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_

#include <chrono>
#include <string>
#include <string_view>

#include "emulator/auth/query_request.h"
#include "emulator/identity/tokens/web_token.h"
#include "emulator/s3/protocol/text.h"
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

// Input: a token or a key set. A provider with keys never accepts it: the seeds have expired, and
// no mutation can sign. An error has a code of STS.
inline void CheckWebToken(std::string_view input) {
  constexpr WallTime kNow{std::chrono::seconds(1'900'000'000)};
  identity::TokenProvider provider;
  provider.issuer = identity::IssuerOf(input).value_or("joe");
  provider.audiences = {"a"};
  provider.keys =
      R"({"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
      R"( "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";
  if (identity::CheckKeySet(input).ok()) provider.keys = input;
  const auto verified = identity::VerifyToken(provider, input, kNow);
  PENSTOCK_CHECK(!verified.ok());
  PENSTOCK_CHECK(verified.error().code == "InvalidIdentityToken" ||
                 verified.error().code == "ExpiredTokenException");
  provider.accepts_any_token = true;
  if (const auto any = identity::VerifyToken(provider, input, kNow); any.ok())
    PENSTOCK_CHECK(!any->subject.empty() && any->issuer == provider.issuer);
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_QUERY_PROPERTIES_H_
