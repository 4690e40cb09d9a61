#include "emulator/identity/tokens/web_token.h"

#include <gtest/gtest.h>

namespace penstock::emulator::identity {
namespace {

// RFC 7515, appendices A.2 and A.3: the tokens have the claims iss "joe" and exp 1300819380.
constexpr const char* kPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlf"
    "Q";
constexpr const char* kRsaHeader = "eyJhbGciOiJSUzI1NiJ9";
constexpr const char* kRsaSignature =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5juj"
    "Gbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_"
    "nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7"
    "K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-"
    "eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np"
    "6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
constexpr const char* kCurveHeader = "eyJhbGciOiJFUzI1NiJ9";
constexpr const char* kCurveSignature =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
constexpr const char* kKeys = R"({"keys": [
  {"kty": "RSA", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"},
  {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";
constexpr WallTime kBefore{std::chrono::seconds(1300819379)};

std::string Token(const char* header, const std::string& signature) {
  return std::string(header) + "." + kPayload + "." + signature;
}

TokenProvider Joe() { return {.json = {}, .issuer = "joe", .audiences = {"any"}, .keys = kKeys}; }

// The tokens of the RFC have no audience, which is checked after the signature.
TEST(WebTokenTest, VerifiesThePublishedSignatures) {
  for (const std::string& token :
       {Token(kRsaHeader, kRsaSignature), Token(kCurveHeader, kCurveSignature)}) {
    const auto verified = VerifyToken(Joe(), token, kBefore);
    ASSERT_FALSE(verified.ok());
    EXPECT_EQ(verified.error().message, "Incorrect token audience");
    EXPECT_EQ(verified.error().code, "InvalidIdentityToken");
  }
}

TEST(WebTokenTest, RefusesOtherSignatures) {
  std::string rsa = kRsaSignature;
  rsa[10] = rsa[10] == 'A' ? 'B' : 'A';
  std::string curve = kCurveSignature;
  curve[10] = curve[10] == 'A' ? 'B' : 'A';
  for (const std::string& token :
       {Token(kRsaHeader, rsa), Token(kCurveHeader, curve), Token(kRsaHeader, kCurveSignature),
        Token(kCurveHeader, kRsaSignature), Token(kCurveHeader, "")}) {
    EXPECT_EQ(VerifyToken(Joe(), token, kBefore).error().message,
              "The signature of the token is invalid");
  }
  // RFC 7515, section 2: base64url without padding.
  for (const char* const padding : {"=", "==", "==="}) {
    for (const std::string& token : {Token(kRsaHeader, std::string(kRsaSignature) + padding),
                                     Token(kCurveHeader, std::string(kCurveSignature) + padding)}) {
      EXPECT_NE(VerifyToken(Joe(), token, kBefore).error().message, "Incorrect token audience");
    }
  }
  // {"alg":"none"}
  EXPECT_NE(VerifyToken(Joe(), Token("eyJhbGciOiJub25lIn0", ""), kBefore)
                .error()
                .message.find("the algorithm 'none'"),
            std::string::npos);
}

// RFC 7515, section 4.1.11: a token with a critical extension that is not understood is invalid.
TEST(WebTokenTest, RefusesCriticalExtensions) {
  // {"alg":"RS256","crit":["b64"],"b64":false}
  const std::string token =
      Token("eyJhbGciOiJSUzI1NiIsImNyaXQiOlsiYjY0Il0sImI2NCI6ZmFsc2V9", kRsaSignature);
  const auto verified = VerifyToken(Joe(), token, kBefore);
  EXPECT_EQ(verified.error().code, "InvalidIdentityToken");
  EXPECT_NE(verified.error().message.find("'crit'"), std::string::npos) << verified.error().message;
}

TEST(WebTokenTest, ATestProviderAcceptsAnyToken) {
  TokenProvider joe = Joe();
  joe.keys.clear();
  joe.accepts_any_token = true;
  const auto text = VerifyToken(joe, "no token", kBefore);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->subject, "any");
  EXPECT_EQ(text->audiences, std::vector<std::string>{"any"});
  EXPECT_FALSE(VerifyToken(joe, "", kBefore).ok());
  const std::string unsigned_token = Token(kRsaHeader, "AAAA");
  EXPECT_EQ(VerifyToken(joe, unsigned_token, kBefore).error().message,
            "The token has no subject, the claim sub");
  EXPECT_EQ(VerifyToken(joe, unsigned_token, kBefore + std::chrono::seconds(1)).error().code,
            "ExpiredTokenException");
  joe.issuer = "other";
  EXPECT_EQ(VerifyToken(joe, unsigned_token, kBefore).error().code, "InvalidIdentityToken");
}

TEST(WebTokenTest, TimesOutsideTheCalendarKeepTheirOrder) {
  TokenProvider joe = Joe();
  joe.keys.clear();
  joe.accepts_any_token = true;
  // {"iss":"joe","sub":"s","exp":-1e300}
  const auto past =
      VerifyToken(joe, "e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwiZXhwIjotMWUzMDB9.", kBefore);
  ASSERT_FALSE(past.ok());
  EXPECT_EQ(past.error().code, "ExpiredTokenException");
  // {"iss":"joe","sub":"s","exp":1e300,"nbf":-1e300}
  EXPECT_TRUE(VerifyToken(joe,
                          "e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwiZXhwIjoxZTMwMCwibmJmIjotMWUzMDB9.",
                          kBefore)
                  .ok());
}

// RFC 7519, section 4.1: the value must be a NumericDate.
TEST(WebTokenTest, TimesAreNumbers) {
  TokenProvider joe = Joe();
  joe.keys.clear();
  joe.accepts_any_token = true;
  const struct {
    const char* token;
    const char* claim;
  } rows[] = {
      // {"iss":"joe","sub":"s","exp":"1"}
      {"e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwiZXhwIjoiMSJ9.", "exp"},
      // {"iss":"joe","sub":"s","exp":null}
      {"e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwiZXhwIjpudWxsfQ.", "exp"},
      // {"iss":"joe","sub":"s","nbf":"1"}
      {"e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwibmJmIjoiMSJ9.", "nbf"},
      // {"iss":"joe","sub":"s","iat":{}}
      {"e30.eyJpc3MiOiJqb2UiLCJzdWIiOiJzIiwiaWF0Ijp7fX0.", "iat"},
  };
  for (const auto& row : rows) {
    const auto verified = VerifyToken(joe, row.token, kBefore);
    ASSERT_FALSE(verified.ok()) << row.claim;
    EXPECT_EQ(verified.error().code, "InvalidIdentityToken");
    EXPECT_EQ(verified.error().message, "The claim " + std::string(row.claim) +
                                            " of the token must be a number of seconds since 1970");
  }
}

TEST(WebTokenTest, ReadsTheIssuerOfTokensOnly) {
  EXPECT_EQ(IssuerOf(Token(kRsaHeader, kRsaSignature)), "joe");
  for (const char* const text : {"", "a", "a.b", "a.b.c", "e30.W10.", "e30.e30"})
    EXPECT_EQ(IssuerOf(text), std::nullopt) << text;
  EXPECT_EQ(IssuerOf("e30.e30."), "");
}

TEST(WebTokenTest, ChecksKeySets) {
  EXPECT_TRUE(CheckKeySet(kKeys).ok());
  for (const char* const json :
       {"[]", "{}", R"({"keys": []})", R"({"keys": [1]})",
        R"({"keys": [{"kty": "oct", "k": "AA"}]})", R"({"keys": [{"kty": "RSA", "n": "AQAB"}]})",
        R"({"keys": [{"kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB"}]})"}) {
    EXPECT_FALSE(CheckKeySet(json).ok()) << json;
  }
}

}  // namespace
}  // namespace penstock::emulator::identity
