#include "emulator/api/configuration_fixture.h"

namespace penstock::emulator::api {
namespace {

using testing::Harness;
using testing::Reply;

// Spec §2.2 "retention / legal-hold (object)".
TEST(ObjectLockTest, AnswersTellABucketWithoutLockFromAnObjectWithout) {
  Harness s3;
  s3.Send("PUT /plain");
  s3.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  for (const std::string selector : {"retention", "legal-hold"}) {
    s3.Send("PUT /plain/k", "x");
    s3.Send("PUT /locked/k", "x");
    const Reply plain = s3.Send("GET /plain/k?" + selector);
    EXPECT_EQ(plain.Outcome(), "400 InvalidRequest") << selector;
    EXPECT_EQ(plain.Element("Message"), "Bucket is missing Object Lock Configuration") << selector;
    const Reply locked = s3.Send("GET /locked/k?" + selector);
    EXPECT_EQ(locked.Outcome(), "404 NoSuchObjectLockConfiguration") << selector;
    EXPECT_EQ(locked.Element("Message"), "The specified object does not have a ObjectLock configuration") << selector;
    EXPECT_EQ(s3.Send("PUT /locked/k?" + selector).Outcome(), "501 NotImplemented") << selector;
    EXPECT_EQ(s3.Send("GET /locked/absent?" + selector).Outcome(), "404 NoSuchKey") << selector;
  }
}

}  // namespace
}  // namespace penstock::emulator::api
