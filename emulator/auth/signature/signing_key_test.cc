#include "emulator/auth/signature/signing_key.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

const SigningScope kScope{
    .secret = kExampleSecret, .day = "20130524", .region = "us-east-1", .service = "s3"};
// From AWS's documentation.
constexpr char kPublished[] = "dbb893acc010964918f1fd433add87c70e8b0db6be30c1fbeafefa5ec6ba8378";

TEST(SigningKeyTest, DerivesThePublishedKey) {
  EXPECT_EQ(HexEncode(DeriveSigningKey(kScope)), kPublished);
}

TEST(SigningKeyTest, CacheReturnsTheSameKeyAgain) {
  SigningKeyCache cache;
  cache.Get(kScope);
  EXPECT_EQ(cache.Get(kScope), HmacSha256Key(DeriveSigningKey(kScope)));
}

TEST(SigningKeyTest, CacheDistinguishesScopes) {
  SigningKeyCache cache;
  cache.Get(kScope);
  SigningScope other = kScope;
  other.day = "20130525";
  EXPECT_EQ(cache.Get(other), HmacSha256Key(DeriveSigningKey(other)));
  other = kScope;
  other.secret = "another";
  EXPECT_EQ(cache.Get(other), HmacSha256Key(DeriveSigningKey(other)));
}

TEST(SigningKeyTest, CacheIsCorrectBeyondItsLimit) {
  SigningKeyCache cache;
  for (std::size_t i = 0; i < SigningKeyCache::kLimit + 10; ++i) {
    const std::string day = std::to_string(20000000 + i);
    SigningScope scope = kScope;
    scope.day = day;
    cache.Get(scope);
  }
  EXPECT_EQ(cache.Get(kScope), HmacSha256Key(DeriveSigningKey(kScope)));
}

}  // namespace
}  // namespace penstock::emulator::auth
