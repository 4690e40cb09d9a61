// Policies that S3 refuses, with its message. `source`: where the refusal was reported or follows
// from. "list" is AWS's Service Authorization Reference, with which S3 compares names.
#include <gtest/gtest.h>

#include "emulator/s3/access/policy.h"
#include "emulator/s3/access/policy_test_support.h"

namespace penstock::emulator::s3 {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): helpers of this test.

struct Refusal {
  std::string_view source;
  std::string policy;
};

void ExpectMalformed(std::string_view message, const std::vector<Refusal>& policies,
                     std::string_view bucket = "bucket") {
  for (const Refusal& one : policies) {
    const auto checked = CheckPolicy(one.policy, bucket);
    EXPECT_FALSE(one.source.empty()) << one.policy;
    ASSERT_FALSE(checked.ok()) << one.source << "\n" << one.policy;
    EXPECT_EQ(checked.error().code, "MalformedPolicy") << one.source;
    EXPECT_EQ(checked.error().http_status, 400);
    EXPECT_EQ(checked.error().message, message) << one.source << "\n" << one.policy;
  }
}

std::string Actions(std::string_view action, std::string_view resource = kBoth) {
  return Policy(Deny("*", action, resource));
}
std::string Condition(std::string_view action, std::string_view key) {
  return Policy(
      Deny("*", action, kBoth, R"({"StringEquals":{")" + std::string(key) + R"(":"a"}})"));
}

TEST(RefusedPoliciesTest, Documents) {
  ExpectMalformed("Policies must be valid JSON and the first byte must be '{'",
                  {{"LocalStack's recordings", ""},
                   {"LocalStack's recordings", "invalid json"},
                   {"aws/aws-cli issue 2779: the name of a file", "student-1-bucket.manual.json"}});
  ExpectMalformed("This policy contains invalid Json",
                  {{"versitygw's error table", R"({"Statement": [})"},
                   {"versitygw's error table", R"({"Statement": [],})"}});
  ExpectMalformed("Missing required field Statement", {{"LocalStack's recordings", "{}"}});
  ExpectMalformed("Could not parse the policy: Statement is empty!",
                  {{"versitygw's error table", R"({"Statement":[]})"}});
  ExpectMalformed("The policy must contain a valid version string",
                  {{"versitygw's error table", R"({"Version":"2012-10-16","Statement":[]})"}});
  ExpectMalformed("Normalized policy document exceeds the maximum allowed size of 20480 bytes",
                  {{"MIT-LCP/physionet-build issue 2094; Seagate cortx",
                    "{\"Id\":\"" + std::string(20'480, 'x') + "\"}"}});
}

TEST(RefusedPoliciesTest, ElementsOfStatements) {
  ExpectMalformed(
      "Missing required field Principal",
      {{"hashicorp/terraform issue 28688",
        R"({"Statement":[{"Effect":"Allow","Action":["s3:*"],"Resource":"arn:aws:s3:::bucket"}]})"}});
  ExpectMalformed(
      "Missing required field Effect",
      {{"IAM User Guide, Effect",
        R"({"Statement":[{"Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::bucket"}]})"}});
  ExpectMalformed(
      "Missing required field Action",
      {{"IAM User Guide, Action",
        R"({"Statement":[{"Effect":"Deny","Principal":"*","Resource":"arn:aws:s3:::bucket"}]})"}});
  ExpectMalformed("Missing required field Resource",
                  {{"aws/aws-cdk issue 6708",
                    R"({"Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*"}]})"}});
  ExpectMalformed("Invalid effect: hello", {{"versity/versitygw issue 647",
                                             Policy(Statement("hello", "*", "s3:*", kBoth, ""))}});
  ExpectMalformed("Invalid effect: allow", {{"IAM User Guide: the effect is case-sensitive",
                                             Policy(Statement("allow", "*", "s3:*", kBoth, ""))}});
  ExpectMalformed(
      "Invalid policy syntax.",
      {{"public reports",
        R"({"Statement":[{"Effect":"Deny","Principal":"*","Action":null,"Resource":"*"}]})"},
       {"public reports; Seagate cortx",
        Policy(Allow("arn:aws:iam::111122223333:role/r", "s3:*", kBoth))},
       {"IAM User Guide, grammar", R"({"Statement":["Allow"]})"}});
  ExpectMalformed(
      "NotPrincipal must be used with the effect Deny",
      {{"IAM User Guide, NotPrincipal; ceph/s3-tests test_bucket_policy_allow_notprincipal",
        R"({"Statement":[{"Effect":"Allow","NotPrincipal":{"AWS":"111122223333"},)"
        R"("Action":"s3:ListBucket","Resource":"arn:aws:s3:::bucket"}]})"}});
}

TEST(RefusedPoliciesTest, Principals) {
  ExpectMalformed(
      "Invalid principal in policy",
      {{"versity/versitygw issue 649", Policy(Allow(R"({"AWS":"user"})", "s3:*", kBoth))},
       {"IAM User Guide: 12 digits", Policy(Allow(R"({"AWS":"11112222333"})", "s3:*", kBoth))},
       {"IAM User Guide: 12 digits",
        Policy(Allow(R"({"AWS":"arn:aws:iam::XXXXXX:root"})", "s3:*", kBoth))},
       {"ministryofjustice/modernisation-platform-environments pull 5322: wildcards",
        Policy(Allow(R"({"AWS":"arn:aws:iam::111122223333:role/*"})", "s3:*", kBoth))},
       {"IAM User Guide: no groups",
        Policy(Allow(R"({"AWS":"arn:aws:iam::111122223333:group/g"})", "s3:*", kBoth))},
       {"IAM User Guide, grammar", Policy(Allow(R"({"User":"111122223333"})", "s3:*", kBoth))}});
}

TEST(RefusedPoliciesTest, Actions) {
  ExpectMalformed("Policy has invalid action",
                  {{"versity/versitygw issue 650", Actions("invalid_action")},
                   {"public reports", Actions("s3:PutObjectLockConfiguration")},
                   {"list", Actions("s3:GetObjekt")},
                   {"spiffe/spiffe.io pull 253: \"does not exist\"", Actions("s3:HeadBucket")},
                   {"API reference: HeadObject needs s3:GetObject", Actions("s3:HeadObject")},
                   {"spack/spack-infrastructure pull 978", Actions("s3:ListObjects")},
                   {"spack/spack-infrastructure pull 978", Actions("s3:CopyObjects")},
                   {"API reference: needs s3:ListBucket", Actions("s3:ListObjectsV2")},
                   {"API reference: needs s3:DeleteObject", Actions("s3:DeleteObjects")},
                   {"API reference: needs s3:PutLifecycleConfiguration",
                    Actions("s3:PutBucketLifecycleConfiguration")},
                   {"list: nothing matches", Actions("s3:Describe*Bucket")},
                   {"list: nothing matches", Actions("s3:Read?")},
                   {"list: another service", Actions("ec2:RunInstances")},
                   {"list: another service", Actions("s3express:CreateSession")},
                   {"IAM User Guide, grammar", Actions("GetObject")},
                   {"one of two", Actions(R"(["s3:GetObject","s3:Get"])")}});
}

TEST(RefusedPoliciesTest, Resources) {
  ExpectMalformed("Policy has invalid resource",
                  {{"noobaa/noobaa-core issue 10058", Actions("s3:*", "*")},
                   {"aws-samples/aws-serverless-appsync-app issue 4",
                    Actions("s3:GetObject", "arn:aws:s3:::another/*")},
                   {"hashicorp/terraform issue 23570: an ARN in an ARN",
                    Actions("s3:*", "arn:aws:s3:::arn:aws:s3:::bucket")},
                   {"versity/versitygw issue 648", Actions("s3:*", "bucket")},
                   {"Developer Guide: one bucket", Actions("s3:*", "arn:aws:s3:::other*")},
                   {"Developer Guide: one bucket",
                    Actions("s3:*", R"(["arn:aws:s3:::bucket","arn:aws:s3:::bucket2"])")},
                   {"IAM User Guide, ARNs", Actions("s3:*", "arn:aws:s3::bucket")}});
}

TEST(RefusedPoliciesTest, ActionsWithoutAResource) {
  ExpectMalformed(
      "Action does not apply to any resource(s) in statement",
      {{"versity/versitygw issue 645", Actions("s3:PutObject", kBucketArn)},
       {"public reports", Actions(R"(["s3:GetObject"])", kBucketArn)},
       {"spack/spack-infrastructure pull 978", Actions("s3:ListBucket", kObjects)},
       {"ministryofjustice/modernisation-platform pull 10762",
        Actions("s3:GetBucketAcl", kObjects)},
       {"aws-amplify/docs issue 7799", Actions(R"(["s3:GetObject","s3:ListBucket"])", kObjects)},
       {"humanmade/S3-Uploads issue 239",
        Actions(R"(["s3:PutObject","s3:GetBucketLocation","s3:GetBucketPolicy"])", kObjects)},
       {"list: all that match are of buckets", Actions("s3:GetBucket*", kObjects)},
       {"list: all that match are of objects", Actions("s3:*Object", kBucketArn)},
       {"list", Actions("s3:ListAllMyBuckets")},
       {"list", Actions("s3:CreateJob")},
       {"list", Actions("s3:AbortMultipartUpload", kBucketArn)}});
}

TEST(RefusedPoliciesTest, ConditionKeys) {
  ExpectMalformed("Policy has an invalid condition key",
                  {{"public reports", Condition("s3:GetObject", "s3:VersionStatus")},
                   {"public reports: s3:x-acl", Condition("s3:PutObject", "s3:x-acl")},
                   {"list", Condition("s3:GetObject", "s3:SourceIp")},
                   {"list", Condition("s3:GetObject", "s3:ExistingObjectTag")},
                   {"list", Condition("s3:*", "s3express:Mode")},
                   {"IAM User Guide, grammar", Condition("s3:GetObject", "prefix")}});
  ExpectMalformed("Invalid Condition type : StringIs",
                  {{"versitygw's error table",
                    Policy(Deny("*", "s3:*", kBoth, R"({"StringIs":{"aws:userid":"a"}})"))}});
  ExpectMalformed("Invalid IP address in Conditions",
                  {{"scality/cloudserver: \"123\"",
                    Policy(Deny("*", "s3:*", kBoth, R"({"IpAddress":{"aws:SourceIp":"123"}})"))}});
}

TEST(RefusedPoliciesTest, ConditionsOfOtherActions) {
  constexpr std::string_view kTag = "s3:ExistingObjectTag/security";
  ExpectMalformed(
      "Conditions do not apply to combination of actions and resources in statement",
      {{"humanmade/S3-Uploads issue 239",
        Condition(R"(["s3:ListBucket","s3:GetBucketLocation"])", "s3:prefix")},
       {"public reports",
        Condition(R"(["s3:ListBucket","s3:ListBucketMultipartUploads"])", "s3:prefix")},
       {"minio/minio issue 3657, after Amazon's documentation",
        Condition("s3:GetObject", "s3:prefix")},
       {"public reports", Condition(R"(["s3:ListBucket","s3:GetObject"])", "S3:Prefix")},
       {"User Guide: \"can test for semantic errors\"",
        Condition("s3:GetObject", "s3:LocationConstraint")},
       {"User Guide, tagging: not with PUT", Condition("s3:PutObject", kTag)},
       {"User Guide, tagging: not with DELETE", Condition("s3:DeleteObject", kTag)},
       {"list", Condition("s3:GetObjectRetention", kTag)},
       {"list", Condition(R"(["s3:DeleteObject","s3:DeleteObjectTagging"])", kTag)},
       {"list", Condition("s3:PutObjectAcl", "s3:RequestObjectTag/a")},
       {"list", Condition(R"(["s3:GetObject","s3:PutObject"])", "s3:x-amz-acl")},
       {"list", Condition(R"(["s3:GetObject","s3:PutObject"])", "s3:x-amz-copy-source")},
       {"list", Condition("s3:GetObject", "s3:x-amz-server-side-encryption")},
       {"list", Condition("s3:GetObject", "s3:versionid")},
       {"list: nothing that matches has the key", Condition("s3:Get*", "s3:prefix")},
       {"list: another service", Condition("s3:*", "s3express:SessionMode")}});
}

TEST(RefusedPoliciesTest, DirectoryBuckets) {
  constexpr std::string_view kBucket = "base--use1-az4--x-s3";
  constexpr std::string_view kArn =
      "arn:aws:s3express:us-east-1:111122223333:bucket/base--use1-az4--x-s3";
  ExpectMalformed("Policy has invalid action",
                  {{"list", Actions("s3:GetObject", kArn)}, {"list", Actions("s3:*", kArn)}},
                  kBucket);
  ExpectMalformed(
      "Policy has invalid resource",
      {{"another bucket",
        Actions("*", "arn:aws:s3express:us-east-1:111122223333:bucket/b--use1-az4--x-s3")},
       {"list", Actions("*", "arn:aws:s3:::base--use1-az4--x-s3")},
       {"list", Actions("*", "arn:aws:s3express:us-east-1:111122223333:accesspoint/p")}},
      kBucket);
  ExpectMalformed("Action does not apply to any resource(s) in statement",
                  {{"list", Actions("s3express:GetAccessPoint", kArn)}}, kBucket);
  ExpectMalformed("Conditions do not apply to combination of actions and resources in statement",
                  {{"list", Policy(Deny("*", "s3express:DeleteBucket", kArn,
                                        R"({"Null":{"s3express:SessionMode":"true"}})"))}},
                  kBucket);
}

// Public sources do not say what S3 does. The emulator accepts these.
TEST(RefusedPoliciesTest, UnsettledPoliciesAreAccepted) {
  const std::string statement = Deny("*", "s3:*", kBoth).substr(1);
  for (const std::string& policy :
       {Policy("{\"Sid\":\"a\"," + statement + ",{\"Sid\":\"a\"," + statement),
        Condition("s3:*", "aws:NoSuchKey"), Condition("s3:*", "s3:prefix"),
        Condition(R"(["s3:Get*","s3:List*"])", "s3:prefix"),
        Condition("s3:GetObject", "sts:ExternalId"),
        Policy(Deny("*", "s3:*", kBoth, R"({"stringequals":{"aws:userid":"a"}})")),
        Policy(Deny("*", "s3:*", kBoth, R"({"NumericEquals":{"s3:prefix":"a"}})")),
        Actions("s3:*", "arn:aws:s3:::bu*et"), Actions("s3:*", "arn:aws:s3:::${aws:userid}/*"),
        Actions("*:*"), Actions("s3:CreateBucket")}) {
    EXPECT_TRUE(CheckPolicy(policy, "bucket").ok()) << policy;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
