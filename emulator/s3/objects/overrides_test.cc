#include "emulator/s3/objects/overrides.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

TEST(OverridesTest, AnonymousRequestsAreRefused) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  s3.identity() = {};
  for (const char* method : {"GET", "HEAD"}) {
    const Reply reply = s3.Send(std::string(method) + " /bucket/k?response-content-type=a/b");
    EXPECT_EQ(reply.status, 400) << method;
  }
  const Reply reply = s3.Send("GET /bucket/k?response-expires=x");
  EXPECT_EQ(reply.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(reply.Element("Message"),
            "Request specific response headers cannot be used for anonymous GET requests.");
}

TEST(OverridesTest, ValuesMustBeLatin1WithoutControlCharacters) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  EXPECT_EQ(
      s3.Send("GET /bucket/k?response-content-disposition=%C3%A9").Header("Content-Disposition"),
      "\xE9");
  for (const char* value : {"%E2%82%AC", "a%0D%0Ab"}) {
    const Reply reply = s3.Send(std::string("GET /bucket/k?response-content-disposition=") + value);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << value;
    EXPECT_EQ(reply.Element("Message"), "Header value cannot be represented using ISO-8859-1.");
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
