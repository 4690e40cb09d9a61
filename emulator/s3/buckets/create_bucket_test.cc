#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

std::string Constraint(std::string_view region) {
  return "<CreateBucketConfiguration "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>" +
         std::string(region) + "</LocationConstraint></CreateBucketConfiguration>";
}
constexpr std::string_view kTags =
    "<CreateBucketConfiguration><Tags><Tag><Key>team</Key><Value>a</Value></Tag></Tags></"
    "CreateBucketConfiguration>";

struct RegionCase {
  const char* endpoint;
  const char* constraint;  // "": no body.
  const char* outcome;
  const char* location;
};

// Recorded against Amazon S3.
TEST(CreateBucketTest, RegionDependsOnEndpointAndConstraint) {
  const RegionCase cases[] = {
      {"us-east-1", "", "200", "/bucket"},
      {"us-east-1", "eu-west-1", "200", "http://bucket.s3.amazonaws.com/"},
      {"us-east-1", "EU", "200", "http://bucket.s3.amazonaws.com/"},
      {"us-east-1", "us-east-1", "400 InvalidLocationConstraint", "<absent>"},
      {"us-east-1", "aws-global", "400 InvalidLocationConstraint", "<absent>"},
      {"us-east-1", "mars-1", "400 InvalidLocationConstraint", "<absent>"},
      {"eu-west-1", "", "400 IllegalLocationConstraintException", "<absent>"},
      {"eu-west-1", "us-west-2", "400 IllegalLocationConstraintException", "<absent>"},
      {"eu-west-1", "eu-west-1", "200", "http://bucket.s3.amazonaws.com/"},
  };
  for (const RegionCase& c : cases) {
    Harness s3({.region = c.endpoint});
    const Reply reply = s3.Send("PUT /bucket", *c.constraint ? Constraint(c.constraint) : "");
    EXPECT_EQ(reply.Outcome(), c.outcome) << c.endpoint << " " << c.constraint;
    EXPECT_EQ(reply.Header("Location"), c.location) << c.endpoint << " " << c.constraint;
  }
  Harness s3({.region = "eu-west-1"});
  EXPECT_EQ(s3.Send("PUT /bucket").Element("Message"),
            "The unspecified location constraint is incompatible for the region specific endpoint "
            "this request was sent "
            "to.");
}

// Regression: a bucket in another region was unusable. Its requests were redirected, and signatures
// for that region were refused.
TEST(CreateBucketTest, BucketsInAnotherRegionAreServedThere) {
  Harness s3;
  EXPECT_EQ(s3.Send("PUT /bucket", Constraint("eu-west-1")).Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /bucket").Outcome(), "301 PermanentRedirect");
  s3.signing_region() = "eu-west-1";
  EXPECT_EQ(s3.Send("GET /bucket").Outcome(), "200");
  EXPECT_EQ(s3.Send("HEAD /bucket").Header("x-amz-bucket-region"), "eu-west-1");
  EXPECT_EQ(s3.Send("PUT /bucket", Constraint("eu-west-1")).Outcome(),
            "409 BucketAlreadyOwnedByYou");
}

TEST(CreateBucketTest, RefusedConstraintsCreateNoBucket) {
  Harness s3;
  const Reply refused = s3.Send("PUT /bucket", Constraint("mars-1"));
  EXPECT_EQ(refused.Element("Message"), "The specified location-constraint is not valid");
  EXPECT_EQ(refused.Element("LocationConstraint"), "mars-1");
  EXPECT_EQ(s3.Send("HEAD /bucket").status, 404);
  Harness eu({.region = "eu-west-1"});
  EXPECT_EQ(eu.Send("PUT /bucket", Constraint("us-west-2")).Outcome(),
            "400 IllegalLocationConstraintException");
  EXPECT_EQ(eu.Send("HEAD /bucket").status, 404);
}

TEST(CreateBucketTest, RecreateDependsOnRegionAndOwner) {
  Harness us;
  us.Send("PUT /bucket");
  EXPECT_EQ(us.Send("PUT /bucket").Header("x-amz-bucket-arn"), "arn:aws:s3:::bucket");
  us.identity().owner_id = std::string(64, 'b');
  const Reply taken = us.Send("PUT /bucket");
  EXPECT_EQ(taken.Outcome(), "409 BucketAlreadyExists");
  EXPECT_EQ(taken.Element("BucketName"), "bucket");
  Harness eu({.region = "eu-west-1"});
  eu.Send("PUT /bucket", Constraint("eu-west-1"));
  const Reply owned = eu.Send("PUT /bucket", Constraint("eu-west-1"));
  EXPECT_EQ(owned.Outcome(), "409 BucketAlreadyOwnedByYou");
  EXPECT_EQ(owned.Element("BucketName"), "bucket");
}

TEST(CreateBucketTest, TagsAreStoredAndMakeRecreateAConflict) {
  Harness s3;
  EXPECT_EQ(s3.Send("PUT /bucket", kTags).Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /bucket?tagging").Element("Key"), "team");
  EXPECT_EQ(s3.Send("PUT /bucket").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /bucket", kTags).Outcome(), "409 BucketAlreadyOwnedByYou");
  const Reply system =
      s3.Send("PUT /other",
              "<CreateBucketConfiguration><Tags><Tag><Key>aws:x</Key><Value/></Tag></Tags>"
              "</CreateBucketConfiguration>");
  EXPECT_EQ(system.Outcome(), "400 InvalidTag");
  // Recorded against Amazon S3 by LocalStack.
  EXPECT_TRUE(system.Element("Message").starts_with("User-defined tag keys can't start with"));
  EXPECT_EQ(system.Element("TagKey"), "<absent>");
  EXPECT_EQ(s3.Send("HEAD /other").status, 404);
}

TEST(CreateBucketTest, OwnershipAndAclHeaders) {
  Harness s3;
  const Reply refused = s3.Send("PUT /bucket\nx-amz-acl: public-read");
  EXPECT_EQ(refused.Outcome(), "400 InvalidBucketAclWithObjectOwnership");
  EXPECT_EQ(refused.Element("Message"),
            "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting");
  const Reply unknown = s3.Send("PUT /bucket\nx-amz-object-ownership: test");
  EXPECT_EQ(unknown.Element("Message"), "Invalid x-amz-object-ownership header: test");
  EXPECT_EQ(unknown.Element("ArgumentName"), "x-amz-object-ownership");
  EXPECT_EQ(unknown.Element("ArgumentValue"), "<absent>");
  const Reply blocked =
      s3.Send("PUT /bucket\nx-amz-object-ownership: ObjectWriter\nx-amz-acl: public-read");
  // Public access is blocked in new buckets. Text of AWS as quoted in public programs.
  EXPECT_EQ(blocked.Outcome(), "400 InvalidBucketAclWithBlockPublicAccessError");
  EXPECT_EQ(blocked.Element("Message"),
            "Bucket cannot have public ACLs set with BlockPublicAccess enabled");
  EXPECT_EQ(s3.Send("HEAD /bucket").status, 404);
  EXPECT_EQ(
      s3.Send("PUT /bucket\nx-amz-object-ownership: ObjectWriter\nx-amz-acl: log-delivery-write")
          .Outcome(),
      "200");
  EXPECT_EQ(s3.Send("GET /bucket?ownershipControls").Element("ObjectOwnership"), "ObjectWriter");
  EXPECT_EQ(s3.Send("GET /bucket?acl").Elements("Permission"),
            (std::vector<std::string>{"FULL_CONTROL", "WRITE", "READ_ACP"}));
  EXPECT_EQ(s3.Send("PUT /plain\nx-amz-acl: private").Outcome(), "200");
}

TEST(CreateBucketTest, ObjectLockEnablesVersioning) {
  Harness s3;
  EXPECT_EQ(s3.Send("PUT /bucket\nx-amz-bucket-object-lock-enabled: true").Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /bucket?versioning").Element("Status"), "Enabled");
  EXPECT_EQ(s3.Send("GET /bucket?object-lock").Element("ObjectLockEnabled"), "Enabled");
  EXPECT_EQ(s3.Send("PUT /other\nx-amz-bucket-object-lock-enabled: False").Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /other?object-lock").Outcome(),
            "404 ObjectLockConfigurationNotFoundError");
  EXPECT_EQ(s3.Send("PUT /third\nx-amz-bucket-object-lock-enabled: yes").Outcome(),
            "400 InvalidArgument");
}

TEST(CreateBucketTest, BucketsPerAccountAreLimited) {
  Harness s3({.max_buckets_per_account = 2});
  EXPECT_EQ(s3.Send("PUT /one").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /two").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /three").Outcome(), "400 TooManyBuckets");
  EXPECT_EQ(s3.Send("PUT /two").Outcome(), "200") << "existing bucket";
  s3.identity().owner_id = std::string(64, 'b');
  EXPECT_EQ(s3.Send("PUT /three").Outcome(), "200") << "another account";
}

TEST(CreateBucketTest, AccountRegionalNames) {
  Harness s3;
  const std::string own = "PUT /data-123456789012-us-east-1-an";
  const std::string requested = "\nx-amz-bucket-namespace: account-regional";
  EXPECT_EQ(s3.Send(own).Outcome(), "400 InvalidBucketName");
  EXPECT_EQ(s3.Send("PUT /data-210987654321-us-east-1-an" + requested).Outcome(),
            "400 InvalidBucketName");
  EXPECT_EQ(s3.Send("PUT /data-123456789012-eu-west-1-an" + requested).Outcome(),
            "400 InvalidBucketName");
  EXPECT_EQ(s3.Send("PUT /data" + requested).Outcome(), "400 InvalidBucketName");
  EXPECT_EQ(s3.Send(own + requested).Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /other\nx-amz-bucket-namespace: mine").Outcome(), "400 InvalidArgument");
}

TEST(CreateBucketTest, RefusesUnsupportedDocuments) {
  Harness s3;
  EXPECT_EQ(s3.Send("PUT /bucket", "<Wrong/>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(s3.Send("PUT /bucket",
                    "<CreateBucketConfiguration><Bucket><Type>Directory</Type></Bucket></"
                    "CreateBucketConfiguration>")
                .Outcome(),
            "501 NotImplemented");
  EXPECT_EQ(s3.Send("HEAD /bucket").status, 404);
}

}  // namespace
}  // namespace penstock::emulator::s3
