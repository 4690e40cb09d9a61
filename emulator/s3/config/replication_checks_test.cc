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

struct Parts {
  std::string filter = "<Filter/>";
  std::string markers = "Disabled";
  std::string before;       // the destination
  std::string destination;  // members besides the bucket
};

std::string Version2(const Parts& parts) {
  return "<Rule>" + parts.filter + "<Priority>1</Priority><Status>Enabled</Status>" + parts.before +
         "<DeleteMarkerReplication><Status>" + parts.markers +
         "</Status></DeleteMarkerReplication><Destination><Bucket>arn:aws:s3:::target</Bucket>" +
         parts.destination + "</Destination></Rule>";
}

std::string Minutes(std::string_view group, std::string_view minutes) {
  return "<" + std::string(group) + "><Minutes>" + std::string(minutes) + "</Minutes></" +
         std::string(group) + ">";
}

std::string TimeControl(std::string_view status, std::string_view minutes) {
  return "<ReplicationTime><Status>" + std::string(status) + "</Status>" +
         Minutes("Time", minutes) + "</ReplicationTime>";
}

std::string Metrics(std::string_view minutes = "") {
  return "<Metrics><Status>Enabled</Status>" +
         (minutes.empty() ? std::string() : Minutes("EventThreshold", minutes)) + "</Metrics>";
}

// API_DeleteMarkerReplication: "does not support replicating delete markers for tag-based rules".
TEST_F(ReplicationChecksTest, DeleteMarkersAreNotReplicatedByTag) {
  const std::string tag = "<Tag><Key>a</Key><Value>b</Value></Tag>";
  for (const std::string& filter : {"<Filter>" + tag + "</Filter>",
                                    "<Filter><And><Prefix>p</Prefix>" + tag + "</And></Filter>"}) {
    const Reply reply = PutRules(Version2({.filter = filter, .markers = "Enabled"}));
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << filter;
    EXPECT_EQ(reply.Element("Message"),
              "Delete marker replication is not supported if any Tag filter is specified. Please "
              "refer to S3 Developer Guide for more information.");
    EXPECT_EQ(PutRules(Version2({.filter = filter})).Outcome(), "200");
  }
  EXPECT_EQ(
      PutRules(Version2({.filter = "<Filter><Prefix>p</Prefix></Filter>", .markers = "Enabled"}))
          .Outcome(),
      "200");
}

// API_Destination: ReplicationTime "must be specified together with a Metrics block".
// API_ReplicationTimeValue: "Valid value: 15".
TEST_F(ReplicationChecksTest, TimeControlNeedsMetricsAndFifteenMinutes) {
  const auto put = [&](const std::string& destination) {
    return PutRules(Version2({.destination = destination}));
  };
  EXPECT_EQ(put(TimeControl("Enabled", "15")).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(put(TimeControl("Disabled", "15")).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(put(TimeControl("Enabled", "14") + Metrics("15")).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(put(TimeControl("Enabled", "15") + Metrics("16")).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(put(TimeControl("Enabled", "15") + Metrics("15")).Outcome(), "200");
  EXPECT_EQ(put(TimeControl("Disabled", "15") + Metrics()).Outcome(), "200");
  EXPECT_EQ(put(Metrics()).Outcome(), "200");
  // A published response of Amazon S3 (provider-aws, issue 1117).
  for (const std::string& control : {std::string(), TimeControl("Disabled", "15")}) {
    const Reply reply = put(control + Metrics("15"));
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << control;
    EXPECT_EQ(reply.Element("Message"),
              "Metrics cannot contain an event threshold when ReplicationTime is not specified or "
              "Disabled");
  }
}

// AWS::S3::Bucket ReplicationDestination: "If you specify the AccessControlTranslation property,
// the Account property is required."
TEST_F(ReplicationChecksTest, AnotherOwnerNeedsTheAccount) {
  const std::string owner =
      "<AccessControlTranslation><Owner>Destination</Owner></AccessControlTranslation>";
  EXPECT_EQ(PutRules(Version2({.destination = owner})).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(
      PutRules(Version2({.destination = "<Account>123456789012</Account>" + owner})).Outcome(),
      "200");
}

// API_SourceSelectionCriteria and API_Destination. The messages are published responses of Amazon
// S3 (terraform-provider-aws, issue 44192, and configurations that quote them).
TEST_F(ReplicationChecksTest, KmsObjectsNeedAKeyAndCriteriaAreNotEmpty) {
  const auto criteria = [](std::string_view content) {
    return "<SourceSelectionCriteria>" + std::string(content) + "</SourceSelectionCriteria>";
  };
  const std::string kms =
      criteria("<SseKmsEncryptedObjects><Status>Enabled</Status></SseKmsEncryptedObjects>");
  const std::string modifications =
      criteria("<ReplicaModifications><Status>Enabled</Status></ReplicaModifications>");
  const std::string key =
      "<EncryptionConfiguration><ReplicaKmsKeyID>arn:aws:kms:us-east-1:123456789012:key/k"
      "</ReplicaKmsKeyID></EncryptionConfiguration>";
  const auto message = [&](const std::string& before, const std::string& destination) {
    return PutRules(Version2({.before = before, .destination = destination})).Element("Message");
  };
  EXPECT_EQ(message(criteria(""), ""), "SourceSelectionCriteria cannot be empty.");
  EXPECT_EQ(message(kms, ""),
            "ReplicaKmsKeyID must be specified if SseKmsEncryptedObjects tag is present.");
  EXPECT_EQ(message(kms, "<EncryptionConfiguration/>"),
            "ReplicaKmsKeyID must be specified if SseKmsEncryptedObjects tag is present.");
  EXPECT_EQ(message("", key),
            "SseKmsEncryptedObjects must be specified if EncryptionConfiguration is present.");
  EXPECT_EQ(message(modifications, key),
            "SseKmsEncryptedObjects must be specified if EncryptionConfiguration is present.");
  EXPECT_EQ(PutRules(Version2({.before = kms, .destination = key})).Outcome(), "200");
  EXPECT_EQ(PutRules(Version2({.before = modifications})).Outcome(), "200");
  EXPECT_EQ(PutRules(Rule("<Prefix/>" + modifications)).Outcome(), "400 InvalidRequest")
      << "\"In the earlier version, this element is not allowed\"";
}

// API_ReplicationConfiguration (an IAM role), API_ReplicationRule (a prefix of up to 1,024
// characters; the priority is an integer of 32 bits in AWS's service model).
TEST_F(ReplicationChecksTest, RolesPrefixesAndPrioritiesHaveLimits) {
  const std::string rule = Rule("<Prefix/>");
  for (const char* role :
       {"arn:aws:s3:::bucket", "arn:aws:iam::123456789012:user/u", "arn:aws:iam", "arn:awsx"}) {
    EXPECT_EQ(PutRules(rule, role).Outcome(), "400 InvalidArgument") << role;
  }
  EXPECT_EQ(PutRules(rule, "arn:aws-cn:iam::123456789012:role/path/r").Outcome(), "200");
  const auto prefix = [](std::size_t size) {
    return "<Prefix>" + std::string(size, 'p') + "</Prefix>";
  };
  const Reply refused = PutRules(Rule(prefix(1025)));
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(refused.Element("Message"), "The maximum size of a prefix is 1024");
  EXPECT_EQ(PutRules(Version2({.filter = "<Filter>" + prefix(1025) + "</Filter>"})).Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(PutRules(Rule(prefix(1024))).Outcome(), "200");
  const auto priority = [&](std::string_view value) {
    return PutRules(Rule(std::string(kSecond) + std::string(value) + "</Priority>")).Outcome();
  };
  EXPECT_EQ(priority("2147483648"), "400 MalformedXML");
  EXPECT_EQ(priority("2147483647"), "200");
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
