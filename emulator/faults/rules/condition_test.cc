#include "emulator/faults/rules/condition.h"

#include <algorithm>

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

bool Holds(const Condition& condition, const char* method, const char* target,
           Headers headers = {}) {
  return Matches(condition, TestRequest(method, target, std::move(headers)).properties());
}

NumberSet Numbers(const char* text) { return NumberSet::Parse(text).value(); }

TEST(ConditionTest, EmptyConditionMatchesEverything) { EXPECT_TRUE(Holds({}, "GET", "/b/k")); }

TEST(ConditionTest, OperationBucketAndKey) {
  EXPECT_TRUE(Holds({.operations = {"GetObject", "HeadObject"}}, "GET", "/b/k"));
  EXPECT_FALSE(Holds({.operations = {"GetObject", "HeadObject"}}, "PUT", "/b/k"));
  EXPECT_TRUE(Holds({.bucket = Pattern("ckpt-*")}, "GET", "/ckpt-1/k"));
  EXPECT_FALSE(Holds({.bucket = Pattern("ckpt-*")}, "GET", "/data/k"));
  EXPECT_TRUE(Holds({.key = Pattern::Prefix("a/")}, "GET", "/b/a/1"));
  EXPECT_FALSE(Holds({.key = Pattern::Prefix("a/")}, "GET", "/b/b/1"));
  EXPECT_TRUE(Holds({.directory_bucket = true}, "GET", "/b--use1-az4--x-s3/k"));
  EXPECT_FALSE(Holds({.directory_bucket = true}, "GET", "/b/k"));
}

TEST(ConditionTest, PartAndSize) {
  EXPECT_TRUE(Holds({.part = Numbers("3-5")}, "PUT", "/b/k?partNumber=4&uploadId=u"));
  EXPECT_FALSE(Holds({.part = Numbers("3-5")}, "PUT", "/b/k?partNumber=6&uploadId=u"));
  EXPECT_FALSE(Holds({.part = Numbers("3-5")}, "PUT", "/b/k"));
  EXPECT_TRUE(Holds({.size = Numbers(">=100")}, "PUT", "/b/k", {{"Content-Length", "100"}}));
  EXPECT_FALSE(Holds({.size = Numbers(">=100")}, "PUT", "/b/k", {{"Content-Length", "99"}}));
  EXPECT_FALSE(Holds({.size = Numbers(">=0")}, "PUT", "/b/k"));
}

TEST(ConditionTest, Ranges) {
  const auto holds = [](RangeCondition range, const char* header) {
    Headers headers;
    if (*header != '\0') headers.emplace_back("Range", header);
    return Holds({.range = std::move(range)}, "GET", "/b/k", headers);
  };
  EXPECT_TRUE(holds({.covers = 5}, "bytes=5-5"));
  EXPECT_TRUE(holds({.covers = 5}, "bytes=0-"));
  EXPECT_FALSE(holds({.covers = 5}, "bytes=6-9"));
  EXPECT_FALSE(holds({.covers = 5}, "bytes=0-4"));
  EXPECT_FALSE(holds({.covers = 5}, "bytes=-9"));
  EXPECT_TRUE(holds({.first = Numbers("0")}, "bytes=0-9"));
  EXPECT_TRUE(holds({.length = Numbers("10")}, "bytes=5-14"));
  EXPECT_TRUE(holds({.length = Numbers("10")}, "bytes=-10"));
  EXPECT_FALSE(holds({.length = Numbers("10")}, "bytes=5-"));
  EXPECT_TRUE(holds({.present = false}, ""));
  EXPECT_FALSE(holds({.present = false}, "bytes=5-"));
  EXPECT_FALSE(holds({.covers = 5}, ""));
}

TEST(ConditionTest, HeadersAndQuery) {
  EXPECT_TRUE(Holds({.headers = {{"x-amz-tagging", Pattern("*a=1*")}}}, "PUT", "/b/k",
                    {{"X-Amz-Tagging", "c=2&a=1"}}));
  EXPECT_FALSE(Holds({.headers = {{"x-amz-tagging", Pattern("*")}}}, "PUT", "/b/k"));
  EXPECT_TRUE(Holds({.query = {{"prefix", Pattern("a/*")}}}, "GET", "/b?prefix=a%2Fb"));
  EXPECT_FALSE(Holds({.query = {{"prefix", Pattern("a/*")}}}, "GET", "/b"));
}

TEST(ConditionTest, TheClient) {
  EXPECT_TRUE(
      Holds({.user_agent = Pattern("Boto3*")}, "GET", "/b/k", {{"User-Agent", "Boto3/1.40"}}));
  EXPECT_TRUE(Holds({.address = Pattern("127.0.0.1:*")}, "GET", "/b/k"));
  EXPECT_FALSE(Holds({.address = Pattern("10.*")}, "GET", "/b/k"));
  EXPECT_TRUE(Holds({.rank = Numbers("3")}, "GET", "/b/k", {{"x-penstock-rank", "3"}}));
  EXPECT_FALSE(Holds({.rank = Numbers("3")}, "GET", "/b/k"));
  EXPECT_TRUE(Holds({.attempt = Numbers("1")}, "GET", "/b/k"));
  EXPECT_TRUE(
      Holds({.attempt = Numbers(">=2")}, "GET", "/b/k", {{"amz-sdk-request", "attempt=2; max=3"}}));
  EXPECT_FALSE(Holds({.access_key = "A"}, "GET", "/b/k"));
}

TEST(ConditionTest, AVersion) {
  EXPECT_TRUE(Holds({.version = TextCondition{.present = true}}, "GET", "/b/k?versionId=v1"));
  EXPECT_FALSE(Holds({.version = TextCondition{.present = true}}, "GET", "/b/k"));
  EXPECT_TRUE(Holds({.version = TextCondition{.present = false}}, "GET", "/b/k"));
  EXPECT_TRUE(
      Holds({.version = TextCondition{.pattern = Pattern("v*")}}, "GET", "/b/k?versionId=v1"));
  EXPECT_FALSE(Holds({.version = TextCondition{.pattern = Pattern("*")}}, "GET", "/b/k"));
}

TEST(ConditionTest, ASession) {
  const Condition any{.session = TextCondition{.present = true}};
  EXPECT_TRUE(Holds(any, "GET", "/b/k", {{"x-amz-security-token", "t"}}));
  EXPECT_TRUE(Holds(any, "GET", "/b/k", {{"x-amz-s3session-token", "t"}}));
  EXPECT_TRUE(Holds(any, "GET", "/b/k?X-Amz-Security-Token=t"));
  EXPECT_FALSE(Holds(any, "GET", "/b/k"));
  EXPECT_TRUE(Holds({.session = TextCondition{.pattern = Pattern("t1*")}}, "GET", "/b/k",
                    {{"x-amz-security-token", "t12"}}));
  EXPECT_FALSE(Holds({.session = TextCondition{.pattern = Pattern("t1*")}}, "GET", "/b/k",
                     {{"x-amz-security-token", "t2"}}));
}

TEST(ConditionTest, LooksUpPartitionOnlyIfNamed) {
  static int asked = 0;
  const TestRequest request("GET", "/b/k");
  RequestProperties properties = request.properties();
  EXPECT_FALSE(Matches({.partition = Numbers(">=0")}, properties)) << "the partition is unknown";
  properties.partition_of = [](const s3::Exchange&) {
    return ++asked, std::optional<std::uint64_t>(3);
  };
  EXPECT_TRUE(Matches({.partition = Numbers("2-4")}, properties));
  EXPECT_FALSE(Matches({.partition = Numbers("0")}, properties));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(Matches({.operations = {"PutObject"}, .partition = Numbers("3")}, properties));
  EXPECT_TRUE(Matches({}, properties));
  EXPECT_EQ(asked, 2);
}

TEST(ConditionTest, TheConnection) {
  TestRequest request("GET", "/b/k");
  EXPECT_FALSE(Matches({.connection_reused = true}, request.properties()));
  request.connection().requests_before = 4;
  request.connection().id = 9;
  EXPECT_TRUE(Matches({.connection_reused = true}, request.properties()));
  EXPECT_TRUE(Matches({.connection_requests = Numbers(">=4")}, request.properties()));
  EXPECT_FALSE(Matches({.connection_requests = Numbers(">=5")}, request.properties()));
  EXPECT_TRUE(Matches({.connection_id = Numbers("9")}, request.properties()));
}

TEST(ConditionTest, OperationsByNameGlobAndClass) {
  EXPECT_EQ(ExpandOperation("GetObject").value(), std::vector<std::string>{"GetObject"});
  EXPECT_EQ(ExpandOperation("UploadPart*").value(),
            (std::vector<std::string>{"UploadPart", "UploadPartCopy"}));
  EXPECT_EQ(ExpandOperation("@read").value(),
            (std::vector<std::string>{"GetObject", "GetObjectAttributes", "HeadObject"}));
  EXPECT_EQ(ExpandOperation("@write").value(),
            (std::vector<std::string>{"AbortMultipartUpload", "CompleteMultipartUpload",
                                      "CopyObject", "CreateMultipartUpload", "DeleteObject",
                                      "DeleteObjects", "PostObject", "PutObject", "RenameObject",
                                      "UploadPart", "UploadPartCopy"}));
  for (const char* name : {"@read", "@write", "@list", "@multipart", "@session"}) {
    const std::vector<std::string> operations = ExpandOperation(name).value();
    EXPECT_TRUE(std::is_sorted(operations.begin(), operations.end())) << name;
    for (const std::string& operation : operations)
      EXPECT_TRUE(ExpandOperation(operation).ok()) << operation;
  }
  EXPECT_EQ(ExpandOperation("GetObjekt").error().message,
            "unknown S3 operation 'GetObjekt': expected a name such as GetObject, a glob such as "
            "Upload*, or one of @read, @write, @list, @multipart, @session");
  EXPECT_EQ(ExpandOperation("@reads").error().message,
            "unknown operation class '@reads': expected one of @read, @write, @list, @multipart, "
            "@session");
}

}  // namespace
}  // namespace penstock::emulator::faults
