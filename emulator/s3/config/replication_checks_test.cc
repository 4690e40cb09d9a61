#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Reply;

class ReplicationChecksTest : public ConfigurationTest {
 protected:
  ReplicationChecksTest() {
    s3_.Send("PUT /target");
    s3_.SetVersioning("bucket", "Enabled");
    s3_.SetVersioning("target", "Enabled");
  }
  Reply PutRules(const std::string& rules,
                 std::string_view role = "arn:aws:iam::123456789012:role/r") {
    return Put("replication", "<ReplicationConfiguration><Role>" + std::string(role) + "</Role>" +
                                  rules + "</ReplicationConfiguration>");
  }
  static std::string Rule(std::string_view head, std::string_view bucket = "arn:aws:s3:::target") {
    return "<Rule>" + std::string(head) + "<Status>Enabled</Status><Destination><Bucket>" +
           std::string(bucket) + "</Bucket></Destination></Rule>";
  }
};

constexpr std::string_view kSecond =
    "<Filter/><DeleteMarkerReplication><Status>Disabled</Status></"
    "DeleteMarkerReplication><Priority>";

TEST_F(ReplicationChecksTest, VersioningOfASourceCannotBeSuspended) {
  EXPECT_EQ(PutRules(Rule("<Prefix/>")).Outcome(), "200");
  EXPECT_EQ(s3_.SetVersioning("bucket", "Suspended").Outcome(), "409 InvalidBucketState");
  EXPECT_EQ(s3_.Send("DELETE /bucket?replication").Outcome(), "204");
  EXPECT_EQ(s3_.SetVersioning("bucket", "Suspended").Outcome(), "200");
}

TEST_F(ReplicationChecksTest, NeedsVersioningOnBothSides) {
  s3_.Send("PUT /plain");
  const Reply destination = PutRules(Rule("<Prefix/>", "arn:aws:s3:::plain"));
  EXPECT_EQ(destination.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(destination.Element("Message"), "Destination bucket must have versioning enabled.");
  EXPECT_EQ(PutRules(Rule("<Prefix/>", "arn:aws:s3:::absent")).Element("Message"),
            "Destination bucket must have versioning enabled.");
  EXPECT_EQ(PutRules(Rule("<Prefix/>", "target")).Element("Message"), "Invalid bucket ARN.");
  s3_.SetVersioning("bucket", "Suspended");
  EXPECT_EQ(PutRules(Rule("<Prefix/>")).Element("Message"),
            "Versioning must be 'Enabled' on the bucket to apply a replication configuration");
}

TEST_F(ReplicationChecksTest, RefusesContradictions) {
  EXPECT_EQ(PutRules(Rule("<Prefix/>"), "me").Element("Message"),
            "Invalid Role specified in replication configuration");
  EXPECT_EQ(PutRules(Rule("")).Outcome(), "400 MalformedXML");
  EXPECT_EQ(PutRules(Rule("<Prefix/><Filter/>")).Outcome(), "400 MalformedXML");
  EXPECT_TRUE(PutRules(Rule("<Filter/>"))
                  .Element("Message")
                  .starts_with("Priority must be specified for this version"));
  EXPECT_TRUE(PutRules(Rule("<Filter/><Priority>1</Priority>"))
                  .Element("Message")
                  .starts_with("DeleteMarkerReplication must be"));
  const std::string one = Rule(std::string(kSecond) + "1</Priority>");
  EXPECT_EQ(PutRules(one + one).Element("Message"),
            "Found duplicate priorities 1. Priorities must be unique.");
  EXPECT_EQ(PutRules(Rule("<ID>a</ID><Prefix>x</Prefix>") + Rule("<ID>a</ID><Prefix>y</Prefix>"))
                .Element("Message"),
            "Rule ID must be unique. Found same ID for more than one rule");
  EXPECT_EQ(Get("replication").Outcome(), "404 ReplicationConfigurationNotFoundError");
}

TEST_F(ReplicationChecksTest, RulesAreStoredInOrderWithIds) {
  ASSERT_EQ(PutRules(Rule(std::string(kSecond) + "1</Priority>")).Outcome(), "200");
  const Reply got = Get("replication");
  EXPECT_EQ(got.Element("ID").size(), 48u);
  EXPECT_NE(got.body.find(
                "<Priority>1</Priority><Filter/><Status>Enabled</Status><DeleteMarkerReplication>"),
            std::string::npos)
      << got.body;
  EXPECT_EQ(s3_.Send("DELETE /bucket?replication").status, 204);
  EXPECT_EQ(Get("replication").Outcome(), "404 ReplicationConfigurationNotFoundError");
}

}  // namespace
}  // namespace penstock::emulator::s3
