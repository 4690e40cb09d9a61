#include "emulator/s3/authorization/actions.h"

#include <gtest/gtest.h>

#include <set>

#include "emulator/s3/access/policy_vocabulary.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

// Returns the actions of an operation on "bucket".
RequiredActions ActionsFor(std::string_view operation, std::string_view target,
                           std::vector<HeaderView> headers = {},
                           std::string_view bucket = "bucket") {
  testing::Harness s3;
  RequestHead head{
      .method = "GET", .target = target, .minor_version = 1, .headers = std::move(headers)};
  Connection connection;
  Exchange exchange{head, connection};
  exchange.space = std::make_shared<Namespace>(s3.space());
  exchange.target = ParseTarget(target, "127.0.0.1", {}).value();
  exchange.target.bucket = BucketName(std::string(bucket));
  exchange.operation = operation;
  const RouterOptions options;
  Call call{exchange, options, *exchange.space->store};
  call.families = RefuseUnknown(head, exchange.target, false).value();
  return ActionsOf(call);
}

TEST(ActionsTest, EveryOperationHasAnActionOfAws) {
  std::set<std::string_view> names;
  for (const PolicyAction& action : PolicyActions()) names.insert(action.name);
  // DeleteObjects decides for each key, and STS (emulator/identity/sts) by its own rules. The
  // others have no permission of their own, or are not implemented.
  const std::set<std::string_view> without = {"DeleteObjects",
                                              "OptionsObject",
                                              "RenameObject",
                                              "AssumeRole",
                                              "AssumeRoleWithWebIdentity",
                                              "GetCallerIdentity",
                                              "GetSessionToken"};
  for (const std::string_view operation : OperationNames()) {
    const RequiredActions actions = ActionsFor(operation, "/bucket/k");
    if (actions.empty()) {
      EXPECT_TRUE(without.contains(operation) ||
                  operation.find("BucketMetadata") != std::string::npos)
          << operation;
    }
    for (const std::string_view action : actions)
      EXPECT_TRUE(names.contains(action)) << operation << ": " << action;
  }
}

TEST(ActionsTest, VersionsAndHeadersNeedOtherActions) {
  using List = RequiredActions;
  EXPECT_EQ(ActionsFor("HeadObject", "/bucket/k"), (List{"s3:GetObject"}));
  EXPECT_EQ(ActionsFor("GetObject", "/bucket/k?versionId=v"), (List{"s3:GetObjectVersion"}));
  EXPECT_EQ(ActionsFor("GetObjectAttributes", "/bucket/k?versionId=v"),
            (List{"s3:GetObjectVersion", "s3:GetObjectVersionAttributes"}));
  EXPECT_EQ(ActionsFor("PutObject", "/bucket/k",
                       {{"x-amz-acl", "private"},
                        {"x-amz-tagging", "a=1"},
                        {"x-amz-object-lock-mode", "GOVERNANCE"},
                        {"x-amz-object-lock-legal-hold", "ON"}}),
            (List{"s3:PutObject", "s3:PutObjectAcl", "s3:PutObjectTagging", "s3:PutObjectRetention",
                  "s3:PutObjectLegalHold"}));
  EXPECT_EQ(ActionsFor("DeleteObject", "/bucket/k", {{"If-Match", "\"e\""}}),
            (List{"s3:DeleteObject", "s3:GetObject"}));
  EXPECT_EQ(ActionsFor("CopyObject", "/bucket/k", {{"If-Match", "\"e\""}}),
            (List{"s3:PutObject", "s3:GetObject"}));
  EXPECT_EQ(ActionsFor("DeleteObject", "/bucket/k", {{"If-Match", "*"}}),
            (List{"s3:DeleteObject"}));
  EXPECT_EQ(ActionsFor("DeleteObject", "/bucket/k?versionId=v",
                       {{"x-amz-bypass-governance-retention", "true"}}),
            (List{"s3:DeleteObjectVersion", "s3:BypassGovernanceRetention"}));
  EXPECT_EQ(
      ActionsFor("CreateBucket", "/bucket", {{"x-amz-bucket-object-lock-enabled", "true"}}),
      (List{"s3:CreateBucket", "s3:PutBucketObjectLockConfiguration", "s3:PutBucketVersioning"}));
}

TEST(ActionsTest, DirectoryBucketsHaveTheirOwn) {
  const std::string_view bucket = "dir--use1-az4--x-s3";
  EXPECT_EQ(ActionsFor("GetObject", "/b/k", {}, bucket),
            (RequiredActions{"s3express:CreateSession"}));
  EXPECT_EQ(ActionsFor("DeleteBucket", "/b", {}, bucket),
            (RequiredActions{"s3express:DeleteBucket"}));
  EXPECT_EQ(ActionsFor("ListDirectoryBuckets", "/", {}, ""),
            (RequiredActions{"s3express:ListAllMyDirectoryBuckets"}));
}

}  // namespace
}  // namespace penstock::emulator::s3
