#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class DeleteObjectsTest : public ::testing::Test {
 protected:
  DeleteObjectsTest() {
    s3_.Send("PUT /bucket");
    for (const char* key : {"a", "b"}) s3_.Send(std::string("PUT /bucket/") + key, "x");
  }
  Reply Delete(const std::string& inner) {
    return s3_.SendDocument(
        "POST /bucket/?delete",
        "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + inner + "</Delete>");
  }
  Harness s3_;
};

TEST_F(DeleteObjectsTest, ReportsEveryKeyIncludingMissingOnes) {
  const Reply reply = Delete("<Object><Key>a</Key></Object><Object><Key>absent</Key></Object>");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Elements("Key"), (std::vector<std::string>{"a", "absent"}));
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 404);
  EXPECT_EQ(s3_.Send("GET /bucket/b").status, 200);
}

TEST_F(DeleteObjectsTest, QuietKeepsErrorsOnly) {
  const Reply reply = Delete(
      "<Quiet>true</Quiet><Object><Key>a</Key></Object><Object><Key>b</Key><VersionId>bad</"
      "VersionId></Object>");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Elements("Deleted").size(), 0u);
  EXPECT_EQ(reply.Element("Code"), "NoSuchVersion");
  EXPECT_EQ(reply.Element("Key"), "b");
  EXPECT_EQ(reply.Element("VersionId"), "bad");
}

// Recorded against Amazon S3 in minio pull request 11086.
TEST_F(DeleteObjectsTest, DeletingAVersionAgainSucceeds) {
  const std::string id = store::MakeVersionId(7).value;
  const Reply reply = Delete("<Object><Key>a</Key><VersionId>" + id +
                             "</VersionId></Object>"
                             "<Object><Key>none</Key><VersionId>null</VersionId></Object>");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Elements("Key"), (std::vector<std::string>{"a", "none"}));
  EXPECT_EQ(reply.Elements("Error").size(), 0u);
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 200);
}

// Recorded against Amazon S3: NoSuchVersion is for ids that were never issued.
TEST_F(DeleteObjectsTest, AVersionThatWasDeletedBeforeIsListedAsDeleted) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string id = s3_.Send("PUT /bucket/a", "y").Header("x-amz-version-id");
  const std::string entry = "<Object><Key>a</Key><VersionId>" + id + "</VersionId></Object>";
  for (int times = 0; times < 2; ++times) {
    const Reply reply = Delete(entry);
    EXPECT_EQ(reply.Element("VersionId"), id);
    EXPECT_EQ(reply.Elements("Deleted").size(), 1u);
    EXPECT_EQ(reply.Elements("Error").size(), 0u);
  }
  const Reply unknown = Delete(
      "<Object><Key>a</Key><VersionId>HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD</VersionId></Object>");
  EXPECT_EQ(unknown.Element("Code"), "NoSuchVersion");
}

TEST_F(DeleteObjectsTest, EntriesCanHaveConditions) {
  const Reply reply = Delete(
      "<Object><Key>a</Key><ETag>other</ETag></Object>"
      // MD5 of "x".
      "<Object><Key>b</Key><ETag>\"9dd4e461268c8034f5c8564e155c67a6\"</ETag></Object>");
  EXPECT_EQ(reply.Element("Code"), "PreconditionFailed");
  EXPECT_EQ(reply.Elements("Deleted").size(), 1u);
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 200);
}

TEST_F(DeleteObjectsTest, VersionedBucketsReturnDeleteMarkers) {
  s3_.SetVersioning("bucket", "Enabled");
  const Reply reply = Delete("<Object><Key>a</Key></Object>");
  EXPECT_EQ(reply.Element("DeleteMarker"), "true");
  EXPECT_EQ(reply.Element("DeleteMarkerVersionId").size(), 32u);
}

TEST_F(DeleteObjectsTest, DocumentsAreChecked) {
  EXPECT_EQ(s3_.Send("POST /bucket?delete", "<Delete><Object><Key>a</Key></Object></Delete>")
                .Element("Message"),
            "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
  EXPECT_EQ(Delete("").Outcome(), "400 MalformedXML");
  EXPECT_EQ(Delete("<Object/>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(Delete("<Object><Key>a</Key>").Outcome(), "400 MalformedXML");
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "<Object><Key>k</Key></Object>";
  EXPECT_EQ(Delete(many).Outcome(), "400 MalformedXML");
  EXPECT_EQ(Delete("<Object><Key>a</Key><Size>1</Size></Object>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 200);
}

// S3 returns MalformedXML for unknown elements, as for ETag before it supported it (boto3#4505,
// aws-sdk-rust#1311).
TEST_F(DeleteObjectsTest, DocumentsThatDoNotMatchTheSchemaAreMalformed) {
  const std::string object = "<Object><Key>a</Key></Object>";
  for (const std::string& document :
       {object + "<Bogus/>", object + "words", object + "<Quiet>true</Quiet><Quiet>true</Quiet>",
        std::string("<Object><Key>a</Key><Key>b</Key></Object>"),
        std::string("<Object><Key>a</Key><Bogus>1</Bogus></Object>"),
        std::string("<Object><Key>a<b/></Key></Object>"),
        std::string(
            "<Object><Key>a</Key><VersionId>null</VersionId><VersionId>null</VersionId></Object>"),
        std::string("<Object xmlns=\"urn:other\"><Key>a</Key></Object>")}) {
    EXPECT_EQ(Delete(document).Outcome(), "400 MalformedXML") << document;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 200);
  EXPECT_EQ(Delete("\n <Quiet> TRUE </Quiet>\n " + object).Element("Deleted"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 404);
}

// Recorded against Amazon S3.
TEST_F(DeleteObjectsTest, ReadsNeitherNamespaceNorTextOfQuiet) {
  const std::string object = "<Object><Key>a</Key></Object>";
  EXPECT_EQ(s3_.SendDocument("POST /bucket/?delete",
                             "<Delete xmlns=\"urn:other\">" + object + "</Delete>")
                .Outcome(),
            "200");
  for (const char* quiet : {"<Quiet>maybe</Quiet>", "<Quiet/>"})
    EXPECT_EQ(Delete(object + quiet).Outcome(), "200") << quiet;
  EXPECT_EQ(s3_.SendDocument("POST /bucket/?delete", "").Outcome(), "400 MissingRequestBodyError");
  EXPECT_EQ(Delete("<Object><Key></Key></Object>").Outcome(), "400 UserKeyMustBeSpecified");
}

}  // namespace
}  // namespace penstock::emulator::s3
