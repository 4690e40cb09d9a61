#include "emulator/auth/signature/session_token.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

SessionClaim Claim() {
  return {.parent = "AKIAIOSFODNN7EXAMPLE",
          .session = {.bucket = "logs--use1-az4--x-s3",
                      .read_only = true,
                      .encryption = "aws:kms",
                      .kms_key_id = "key",
                      .kms_context = "e30=",
                      .expires = WallTime(std::chrono::seconds(1767323345))}};
}

TEST(SessionTokenTest, TokenContainsItsClaim) {
  const auto read = ReadSessionToken(IssueSession(kSecret, Claim()).session_token);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->parent, "AKIAIOSFODNN7EXAMPLE");
  EXPECT_EQ(read->session.bucket, "logs--use1-az4--x-s3");
  EXPECT_TRUE(read->session.read_only);
  EXPECT_EQ(read->session.encryption, "aws:kms");
  EXPECT_EQ(read->session.kms_key_id, "key");
  EXPECT_EQ(read->session.kms_context, "e30=");
  EXPECT_EQ(read->session.expires, Claim().session.expires);
}

TEST(SessionTokenTest, KeysAreRecoveredOnlyWithTheSameSecret) {
  const s3::SessionCredentials issued = IssueSession(kSecret, Claim());
  const auto again = SessionOfToken(kSecret, issued.session_token);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->access_key_id, issued.access_key_id);
  EXPECT_EQ(again->secret_access_key, issued.secret_access_key);
  EXPECT_EQ(issued.access_key_id.size(), 20U);
  EXPECT_FALSE(SessionOfToken("another secret", issued.session_token).has_value());
}

TEST(SessionTokenTest, SessionsHaveDifferentCredentials) {
  const s3::SessionCredentials one = IssueSession(kSecret, Claim());
  const s3::SessionCredentials other = IssueSession(kSecret, Claim());
  EXPECT_NE(one.session_token, other.session_token);
  EXPECT_NE(one.access_key_id, other.access_key_id);
  EXPECT_NE(one.secret_access_key, other.secret_access_key);
}

TEST(SessionTokenTest, DetectsEveryChangedByte) {
  const std::string raw = *Base64Decode(IssueSession(kSecret, Claim()).session_token);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    std::string changed = raw;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(SessionOfToken(kSecret, Base64Encode(AsBytes(changed))).has_value())
        << "byte " << i;
  }
}

TEST(SessionTokenTest, RefusesAnExpiryBeyondTheClock) {
  const auto token = [](const std::string& expires) {
    return Base64Encode(AsBytes("penstock-session-1\nAKID\nb\nrw\n" + expires + "\n\n\n\n00" +
                                std::string(32, 'm')));
  };
  EXPECT_TRUE(ReadSessionToken(token("1767323345")).has_value());
  for (const char* expires : {"9223372036854775807", "9000000001", "-1", "", "12x"}) {
    EXPECT_FALSE(ReadSessionToken(token(expires)).has_value()) << expires;
  }
}

TEST(SessionTokenTest, RefusesForeignTokens) {
  for (const std::string& token : {std::string(), std::string("TESTTOKEN=="), std::string("%"),
                                   Base64Encode(AsBytes(std::string(200, '\n')))}) {
    EXPECT_FALSE(ReadSessionToken(token).has_value());
    EXPECT_FALSE(SessionOfToken(kSecret, token).has_value());
  }
}

}  // namespace
}  // namespace penstock::emulator::auth
