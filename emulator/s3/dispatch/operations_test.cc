#include "emulator/s3/dispatch/operations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

struct Case {
  const char* method;
  const char* target;
  const char* name;
};

std::string NameOf(const Case& c, std::vector<HeaderView> headers = {}) {
  RequestHead head;
  head.method = c.method;
  head.target = c.target;
  head.headers = std::move(headers);
  const auto target = ParseTarget(c.target, "h", {});
  return target.ok() ? OperationName(head, *target) : "<broken>";
}

TEST(OperationsTest, NamesFollowMethodLevelAndSelector) {
  const Case cases[] = {
      {"GET", "/", "ListBuckets"},
      {"PUT", "/b", "CreateBucket"},
      {"PUT", "/b/", "CreateBucket"},
      {"HEAD", "/b", "HeadBucket"},
      {"DELETE", "/b", "DeleteBucket"},
      {"GET", "/b", "ListObjects"},
      {"GET", "/b?list-type=2&prefix=x", "ListObjectsV2"},
      {"GET", "/b?location", "GetBucketLocation"},
      {"GET", "/b?versions", "ListObjectVersions"},
      {"GET", "/b?uploads", "ListMultipartUploads"},
      {"POST", "/b/?delete", "DeleteObjects"},
      {"PUT", "/b?versioning", "PutBucketVersioning"},
      {"PUT", "/b?lifecycle", "PutBucketLifecycleConfiguration"},
      {"GET", "/b?metrics&id=1", "GetBucketMetricsConfiguration"},
      {"GET", "/b?metrics", "ListBucketMetricsConfigurations"},
      {"GET", "/b/k", "GetObject"},
      {"GET", "/b/k?x-id=GetObject", "GetObject"},
      {"GET", "/b/k?versionId=null&partNumber=1", "GetObject"},
      {"HEAD", "/b/k", "HeadObject"},
      {"PUT", "/b/k", "PutObject"},
      {"DELETE", "/b/k", "DeleteObject"},
      {"POST", "/b/k?uploads", "CreateMultipartUpload"},
      {"PUT", "/b/k?partNumber=1&uploadId=u", "UploadPart"},
      {"POST", "/b/k?uploadId=u", "CompleteMultipartUpload"},
      {"DELETE", "/b/k?uploadId=u", "AbortMultipartUpload"},
      {"GET", "/b/k?uploadId=u", "ListParts"},
      {"GET", "/b/k?attributes", "GetObjectAttributes"},
      {"PUT", "/b/k?tagging=", "PutObjectTagging"},
      {"POST", "/b/k?select&select-type=2", "SelectObjectContent"},
      {"PATCH", "/b/k", ""},
      {"POST", "/b/k", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(NameOf(c), c.name) << c.method << " " << c.target;
}

TEST(OperationsTest, CopySourceSelectsCopyOperations) {
  const std::vector<HeaderView> copy{{"X-Amz-Copy-Source", "/b/s"}};
  EXPECT_EQ(NameOf({"PUT", "/b/k", ""}, copy), "CopyObject");
  EXPECT_EQ(NameOf({"PUT", "/b/k?partNumber=1&uploadId=u", ""}, copy), "UploadPartCopy");
}

// Recorded against Amazon S3.
TEST(OperationsTest, HeadOfASubResourceReturnsAllowedMethods) {
  Harness s3;
  const Case cases[] = {{"HEAD", "/bucket?location", "GET"},
                        {"HEAD", "/bucket/k?uploads", "POST, GET"},
                        {"HEAD", "/bucket?versioning", "GET, PUT"},
                        {"HEAD", "/bucket?acl", "GET, PUT"},
                        {"HEAD", "/bucket?tagging", "DELETE, GET, PUT"},
                        {"HEAD", "/bucket?policy", "DELETE, GET, PUT"},
                        {"HEAD", "/bucket/k?uploadId=u", "DELETE, POST, GET"}};
  for (const Case& c : cases) {
    const Reply reply = s3.Send(std::string(c.method) + " " + c.target);
    EXPECT_EQ(reply.status, 405) << c.target;
    EXPECT_EQ(reply.Header("Allow"), c.name) << c.target;
    EXPECT_EQ(reply.body, "") << c.target;
  }
}

// Recorded against Amazon S3: it returns the bucket's response for existing and missing keys.
TEST(OperationsTest, SomeBucketSubResourcesAreAcceptedWithAKey) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "body");
  for (const char* selector :
       {"accelerate", "cors", "inventory", "inventory&id=one", "lifecycle", "location",
        "notification", "policy", "replication", "requestPayment", "versioning", "website"}) {
    const Reply bucket = s3.Send("GET /bucket?" + std::string(selector));
    for (const char* path : {"/bucket/k", "/bucket/missing"}) {
      const Reply key = s3.Send("GET " + std::string(path) + "?" + selector);
      EXPECT_EQ(key.Outcome(), bucket.Outcome()) << path << "?" << selector;
      EXPECT_EQ(key.body, bucket.body) << path << "?" << selector;
      EXPECT_EQ(key.operation, bucket.operation) << path << "?" << selector;
    }
    EXPECT_EQ(s3.Send("GET /missing/k?" + std::string(selector)).Outcome(), "404 NoSuchBucket")
        << selector;
  }
  EXPECT_EQ(s3.Send("HEAD /bucket/k?location").Header("Allow"), "GET");
  EXPECT_EQ(s3.Send("HEAD /bucket/k?policy").Header("Allow"), "DELETE, GET, PUT");
}

TEST(OperationsTest, SomeBucketSubResourcesAreRefusedWithAKey) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "body");
  const struct {
    const char* selector;
    const char* outcome;
    const char* message;
  } cases[] = {
      {"uploads", "400 InvalidRequest",
       "Key is not expected for the GET method ?uploads subresource"},
      {"versions", "400 InvalidRequest",
       "There is no such thing as the ?versions sub-resource for a key"},
      {"logging", "400 NoLoggingStatusForKey",
       "There is no such thing as the ?logging sub-resource for a key"},
      {"object-lock", "501 NotImplemented",
       "The sub-resource 'object-lock' does not exist for objects; remove it from the query "
       "string"},
  };
  for (const auto& c : cases) {
    const Reply reply = s3.Send("GET /bucket/k?" + std::string(c.selector));
    EXPECT_EQ(reply.Outcome(), c.outcome) << c.selector;
    EXPECT_EQ(reply.Element("Message"), c.message) << c.selector;
  }
  EXPECT_EQ(s3.Send("HEAD /bucket/k?versions").Header("Allow"), "GET");
  EXPECT_EQ(s3.Send("PUT /bucket/k?policy", "{}").Outcome(), "501 NotImplemented")
      << "writes are not applied to the bucket";
  EXPECT_EQ(s3.Send("DELETE /bucket/k?policy").Outcome(), "501 NotImplemented");
}

TEST(OperationsTest, ConflictingSelectorsAreRefused) {
  Harness s3;
  const Reply reply = s3.Send("GET /bucket?versioning&acl");
  EXPECT_EQ(reply.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(reply.Element("Message"), "Conflicting query string parameters: acl, versioning");
  EXPECT_EQ(reply.Element("ArgumentName"), "ResourceType");
  EXPECT_EQ(s3.Send("GET /bucket?acl&acl").Outcome(), "404 NoSuchBucket");
}

TEST(OperationsTest, UnknownMethodsAreNotAllowed) {
  Harness s3;
  const Reply reply = s3.Send("PATCH /bucket/key");
  EXPECT_EQ(reply.Outcome(), "405 MethodNotAllowed");
  EXPECT_EQ(reply.Element("Method"), "PATCH");
  EXPECT_EQ(reply.Element("ResourceType"), "OBJECT");
}

// Recorded against Amazon S3.
TEST(OperationsTest, PartNumberNeedsAnUpload) {
  Harness s3;
  const Reply reply = s3.Send("PUT /bucket/key?partNumber=1", "x");
  EXPECT_EQ(reply.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(reply.Element("Message"), "This operation does not accept partNumber without uploadId");
  EXPECT_EQ(reply.Element("ArgumentName"), "partNumber");
  EXPECT_EQ(reply.Element("ArgumentValue"), "partNumber");
}

// Recorded against Amazon S3.
TEST(OperationsTest, RefusalsOfMethodsNameTheTypeOfTheSubResource) {
  Harness s3;
  const auto type = [&](const char* request) {
    const Reply reply = s3.Send(request);
    EXPECT_EQ(reply.Outcome(), "405 MethodNotAllowed") << request;
    return reply.Element("ResourceType");
  };
  EXPECT_EQ(type("POST /bucket?acl"), "ACL");
  EXPECT_EQ(type("DELETE /bucket?versioning"), "VERSIONING");
  EXPECT_EQ(type("POST /bucket?tagging"), "TAGGING");
  EXPECT_EQ(type("POST /bucket/k?tagging"), "OBJECT_TAGGING");
  EXPECT_EQ(type("PUT /bucket/k?attributes"), "OBJECT_ATTRIBUTES");
  EXPECT_EQ(type("GET /bucket?delete"), "MULTI_OBJECT_DELETE");
  EXPECT_EQ(type("PUT /bucket/k?uploadId=x"), "UPLOAD");
  EXPECT_EQ(type("PUT /"), "SERVICE");
}

// Recorded against Amazon S3.
TEST(OperationsTest, PartNumberHasItsPlace) {
  Harness s3;
  EXPECT_EQ(s3.Send("GET /bucket?partNumber=1&max-keys=abc").Element("Message"),
            "Object must have a valid key name.");
  EXPECT_EQ(s3.Send("GET /bucket?partNumber=1&acl").Element("Message"),
            "Conflicting query string parameters: acl, partNumber");
  EXPECT_EQ(s3.Send("GET /bucket/k?partNumber=1&tagging").Element("ArgumentValue"), "partNumber");
  const Reply part = s3.Send("GET /bucket/k?partNumber=1&uploadId=x");
  EXPECT_EQ(part.Outcome(), "405 MethodNotAllowed");
  EXPECT_EQ(part.Element("ResourceType"), "PART");
  EXPECT_EQ(part.Header("Allow"), "PUT");
}

// Recorded against Amazon S3.
TEST(OperationsTest, GeneralPurposeBucketsListWithoutListTypeTwo) {
  for (const char* target : {"/b?list-type=1", "/b?list-type=", "/b?list-type=bogus", "/b?session",
                             "/b?list-type=1&list-type=2"})
    EXPECT_EQ(NameOf({"GET", target, ""}), "ListObjects") << target;
  EXPECT_EQ(NameOf({"GET", "/b?list-type=2&list-type=1", ""}), "ListObjectsV2");
}

TEST(OperationsTest, OtherOperationsAreNotImplemented) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* request : {"GET /bucket?metadataConfiguration", "GET /bucket?metadataTable",
                              "POST /bucket/k?select&select-type=2", "PUT /bucket/k?renameObject",
                              "GET /bucket/k?torrent"}) {
    const Reply reply = s3.Send(request);
    EXPECT_EQ(reply.Outcome(), "501 NotImplemented") << request;
  }
}

TEST(OperationsTest, OperationNamesAreSortedAndUnique) {
  const auto& names = OperationNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const std::string_view name : {"GetObject", "UploadPartCopy", "CopyObject", "ListObjectsV2",
                                      "CreateSession", "GetBucketAcl"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
