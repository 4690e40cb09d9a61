#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::kMalformed;
using testing::Refused;
using testing::Reply;

using ConfigurationChecksTest = ConfigurationTest;

TEST_F(ConfigurationChecksTest, Cors) {
  const Refused cases[] = {
      {"<CORSConfiguration/>", "400 MalformedXML", kMalformed},
      {"<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule></"
       "CORSConfiguration>",
       "400 MalformedXML", ""},
      {"<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>PATCH</"
       "AllowedMethod></CORSRule>"
       "</CORSConfiguration>",
       "400 InvalidRequest",
       "Found unsupported HTTP method in CORS config. Unsupported method is PATCH"},
      {"<CORSConfiguration><CORSRule><AllowedOrigin>*.*</AllowedOrigin><AllowedMethod>GET</"
       "AllowedMethod></CORSRule>"
       "</CORSConfiguration>",
       "400 InvalidRequest", "AllowedOrigin &quot;*.*&quot; can not have more than one wildcard."},
      {"<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</"
       "AllowedMethod>"
       "<AllowedHeader>*-*</AllowedHeader></CORSRule></CORSConfiguration>",
       "400 InvalidRequest", "AllowedHeader &quot;*-*&quot; can not have more than one wildcard."},
      {"<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</"
       "AllowedMethod>"
       "<ExposeHeader>x-*</ExposeHeader></CORSRule></CORSConfiguration>",
       "400 InvalidRequest",
       "ExposeHeader &quot;x-*&quot; contains wildcard. We currently do not support wildcard for "
       "ExposeHeader."}};
  ExpectRefused("cors", cases);
  std::string many = "<CORSConfiguration>";
  for (int i = 0; i < 101; ++i) {
    many +=
        "<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>";
  }
  EXPECT_EQ(Put("cors", many + "</CORSConfiguration>").Element("Message"),
            "The number of CORS rules should not exceed allowed limit of 100 rules.");
}

TEST_F(ConfigurationChecksTest, Tagging) {
  const Refused cases[] = {
      {"<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>", "400 MalformedXML", ""},
      {"<Tagging><TagSet><Tag><Key>a</Key><Value/></Tag><Tag><Key>a</Key><Value>1</Value></Tag></"
       "TagSet></Tagging>",
       "400 InvalidTag", "Cannot provide multiple Tags with the same key"},
      {"<Tagging><TagSet><Tag><Key>aws:x</Key><Value/></Tag></TagSet></Tagging>", "400 InvalidTag",
       "System tags cannot be added/updated by requester"},
      {"<Tagging><TagSet><Tag><Key>a?</Key><Value/></Tag></TagSet></Tagging>", "400 InvalidTag",
       "The TagKey you have provided is invalid"},
      {"<Tagging><TagSet><Tag><Key>a</Key><Value>b?</Value></Tag></TagSet></Tagging>",
       "400 InvalidTag", "The TagValue you have provided is invalid"}};
  ExpectRefused("tagging", cases);
  const auto tags = [](int count) {
    std::string document = "<Tagging><TagSet>";
    for (int i = 0; i < count; ++i)
      document += "<Tag><Key>k" + std::to_string(i) + "</Key><Value/></Tag>";
    return document + "</TagSet></Tagging>";
  };
  const Reply many = Put("tagging", tags(51));
  EXPECT_EQ(many.Outcome(), "400 BadRequest");
  EXPECT_EQ(many.Element("Message"), "Bucket tag count cannot be greater than 50");
  EXPECT_EQ(Put("tagging", tags(50)).status, 204);
}

TEST_F(ConfigurationChecksTest, LoggingNeedsABucketOfTheSameOwnerAndRegion) {
  store::BucketRecord other;
  other.name = BucketName("others");
  other.owner_id = std::string(64, 'b');
  other.region = "us-east-1";
  ASSERT_TRUE(s3_.store().CreateBucket(other).ok());
  other.name = BucketName("far-away");
  other.owner_id = s3_.identity().owner_id;
  other.region = "EU";
  ASSERT_TRUE(s3_.store().CreateBucket(other).ok());
  const auto target = [](std::string_view bucket, std::string_view more = "") {
    return "<BucketLoggingStatus><LoggingEnabled><TargetBucket>" + std::string(bucket) +
           "</TargetBucket><TargetPrefix/>" + std::string(more) +
           "</LoggingEnabled></BucketLoggingStatus>";
  };
  const Reply absent = Put("logging", target("absent"));
  EXPECT_EQ(absent.Outcome(), "400 InvalidTargetBucketForLogging");
  EXPECT_EQ(absent.Element("Message"), "The target bucket for logging does not exist");
  EXPECT_EQ(absent.Element("TargetBucket"), "absent");
  EXPECT_EQ(Put("logging", target("others")).Element("Message"),
            "The owner for the bucket to be logged and the target bucket must be the same.");
  const Reply far = Put("logging", target("far-away"));
  EXPECT_EQ(far.Outcome(), "403 CrossLocationLoggingProhibitted");
  EXPECT_EQ(far.Element("TargetBucketLocation"), "eu-west-1");
  EXPECT_EQ(far.Element("SourceBucketLocation"), "<absent>") << "returned only outside us-east-1";
  EXPECT_EQ(Put("logging", target("bucket", "<TargetGrants/>")).Outcome(),
            "400 InvalidTargetBucketForLogging");
  // API_TargetObjectKeyFormat: "Only one format, PartitionedPrefix or SimplePrefix, is allowed."
  EXPECT_EQ(Put("logging", target("bucket",
                                  "<TargetObjectKeyFormat><SimplePrefix/><PartitionedPrefix/>"
                                  "</TargetObjectKeyFormat>"))
                .Outcome(),
            "400 MalformedXML");
  EXPECT_EQ(Put("logging", target("bucket",
                                  "<TargetObjectKeyFormat><PartitionedPrefix/>"
                                  "</TargetObjectKeyFormat>"))
                .Outcome(),
            "200");
  EXPECT_EQ(Put("logging", target("bucket")).Outcome(), "200");
  EXPECT_EQ(Put("logging", "<BucketLoggingStatus/>").Outcome(), "200");
  EXPECT_EQ(Get("logging").Element("TargetBucket"), "<absent>");
}

// Recorded against Amazon S3: READ_ACP is accepted, although the service model lacks it.
TEST_F(ConfigurationChecksTest, LoggingGrantsHaveFourPermissions) {
  s3_.Send("PUT /logs\nx-amz-object-ownership: ObjectWriter");
  const auto outcome = [&](std::string_view permission) {
    return Put("logging",
               "<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket>"
               "<TargetPrefix/><TargetGrants><Grant>"
               "<Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
               "xsi:type=\"Group\"><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI>"
               "</Grantee><Permission>" +
                   std::string(permission) +
                   "</Permission></Grant></TargetGrants></LoggingEnabled></BucketLoggingStatus>")
        .Outcome();
  };
  for (const char* permission : {"FULL_CONTROL", "READ", "READ_ACP", "WRITE"}) {
    EXPECT_EQ(outcome(permission), "200") << permission;
    EXPECT_EQ(Get("logging").Element("Permission"), permission);
  }
  EXPECT_EQ(outcome("WRITE_ACP"), "400 MalformedXML");
  EXPECT_EQ(outcome("read"), "400 MalformedXML");
}

TEST_F(ConfigurationChecksTest, ObjectLockNeedsVersioningAndOnePeriod) {
  const auto lock = [](std::string_view retention) {
    return "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</"
           "ObjectLockEnabled><Rule><DefaultRetention>" +
           std::string(retention) + "</DefaultRetention></Rule></ObjectLockConfiguration>";
  };
  const Reply unversioned = Put("object-lock", lock("<Mode>GOVERNANCE</Mode><Days>1</Days>"));
  EXPECT_EQ(unversioned.Outcome(), "409 InvalidBucketState");
  EXPECT_EQ(unversioned.Element("Message"),
            "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration");
  s3_.SetVersioning("bucket", "Enabled");
  for (const char* retention :
       {"<Mode>GOVERNANCE</Mode>", "<Days>1</Days>", "<Mode>governance</Mode><Days>1</Days>",
        "<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>"}) {
    EXPECT_EQ(Put("object-lock", lock(retention)).Outcome(), "400 MalformedXML") << retention;
  }
  for (const char* period : {"<Days>0</Days>", "<Years>-1</Years>"}) {
    EXPECT_EQ(Put("object-lock", lock("<Mode>COMPLIANCE</Mode>" + std::string(period)))
                  .Element("Message"),
              "Default retention period must be a positive integer value.")
        << period;
  }
  EXPECT_EQ(Put("object-lock", lock("<Mode>COMPLIANCE</Mode><Years>101</Years>")).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Put("object-lock", "<ObjectLockConfiguration/>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(Put("object-lock", lock("<Mode>COMPLIANCE</Mode><Years>1</Years>")).Outcome(), "200");
  EXPECT_EQ(Get("object-lock").Element("Years"), "1");
}

TEST_F(ConfigurationChecksTest, OwnershipTakesOneRuleAndEnforcedNeedsAPrivateAcl) {
  const auto controls = [](std::string_view ownership) {
    return "<OwnershipControls><Rule><ObjectOwnership>" + std::string(ownership) +
           "</ObjectOwnership></Rule></OwnershipControls>";
  };
  EXPECT_EQ(Put("ownershipControls", "<OwnershipControls/>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(Put("ownershipControls", controls("Nobody")).Outcome(), "400 MalformedXML");
  ASSERT_EQ(Put("ownershipControls", controls("ObjectWriter")).Outcome(), "200");
  ASSERT_EQ(s3_.Send("PUT /bucket?acl\nx-amz-acl: log-delivery-write").Outcome(), "200");
  const Reply refused = Put("ownershipControls", controls("BucketOwnerEnforced"));
  EXPECT_EQ(refused.Outcome(), "400 InvalidBucketAclWithObjectOwnership");
  EXPECT_EQ(refused.Element("Message"),
            "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting");
  ASSERT_EQ(s3_.Send("PUT /bucket?acl\nx-amz-acl: private").Outcome(), "200");
  EXPECT_EQ(Put("ownershipControls", controls("BucketOwnerEnforced")).Outcome(), "200");
}

TEST_F(ConfigurationChecksTest, MissingPublicAccessFlagsAreFalse) {
  EXPECT_EQ(Put("publicAccessBlock", "<PublicAccessBlockConfiguration/>").Element("Message"),
            "Must specify at least one configuration.");
  ASSERT_EQ(Put("publicAccessBlock",
                "<PublicAccessBlockConfiguration><BlockPublicPolicy>TRUE</BlockPublicPolicy></"
                "PublicAccessBlockConfiguration>")
                .Outcome(),
            "200");
  const Reply got = Get("publicAccessBlock");
  EXPECT_EQ(got.Element("BlockPublicPolicy"), "true");
  EXPECT_EQ(got.Element("BlockPublicAcls"), "false");
  EXPECT_EQ(got.Element("RestrictPublicBuckets"), "false");
}

TEST_F(ConfigurationChecksTest, AccelerateNeedsANameWithoutPeriods) {
  s3_.Send("PUT /my.bucket");
  const Reply reply = s3_.SendDocument(
      "PUT /my.bucket?accelerate",
      "<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>");
  EXPECT_EQ(reply.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(
      reply.Element("Message"),
      "S3 Transfer Acceleration is not supported for buckets with periods (.) in their names");
}

}  // namespace
}  // namespace penstock::emulator::s3
