// Writes that are applied twice, partially or later, and stale bytes: over a raw socket, byte for
// byte.
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::string;
using std::chrono::seconds;

// For "abcd", computed in Python: hashlib.md5 for the ETag, and CRC-64/NVME bit by bit.
class CommitFaultsTest : public FaultsTest {
 protected:
  void SetVersioning() {
    // python3: base64.b64encode(hashlib.md5(document).digest())
    ASSERT_EQ(
        SendRequest("PUT", "/bucket?versioning",
                    "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
                    "Content-MD5: 8qj8HSeDu3APPMQZVG06WQ==\r\n")
            .status(),
        200);
  }
  void Clear() { ASSERT_TRUE(emulator_->ForgetFaults("default").ok()); }
  string Body(const string& headers = {}, const string& target = "/bucket/key") {
    const string text = SendRequest("GET", target, {}, headers).text;
    return text.substr(std::min(text.size(), text.find("\r\n\r\n") + 4));
  }
  std::size_t Count(const string& target, const string& what) {
    const string text = SendRequest("GET", target).text;
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != string::npos; ++at) ++count;
    return count;
  }
};

TEST_F(CommitFaultsTest, WriteAppliedTwiceCreatesTwoVersions) {
  SetVersioning();
  SetAction(R"({"duplicate_apply": {}})");
  const string response = SendRequest("PUT", "/bucket/twice", "abcd").text;
  EXPECT_EQ(
      Scrubbed(std::regex_replace(response, std::regex("(x-amz-version-id): [^\r]*"), "$1: *")),
      "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: "
      "*\r\nx-amz-version-id: *\r\nx-amz-server-side-encryption: AES256\r\n"
      "ETag: \"e2fc714c4727ee9395f324cd2e7f331f\"\r\nx-amz-checksum-crc64nvme: "
      "oX4+O1iTXBY=\r\nx-amz-checksum-type: FULL_OBJECT\r\n"
      "Server: AmazonS3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Fired(), 1U);
  Clear();
  EXPECT_EQ(Count("/bucket?versions&prefix=twice", "<Version>"), 2U);
  EXPECT_EQ(Body({}, "/bucket/twice"), "abcd");
}

TEST_F(CommitFaultsTest, RequestRefusedBeforeItsBodyIsReadIsMatchedButHasNotFired) {
  for (const string moment : {"before_commit", "body_in@2"}) {
    Set(R"([{"id": "rule", "do": {"error": {"status": 501}, "at": ")" + moment +
        R"("}, "limit": {"times": 1}}])");
    EXPECT_EQ(SendRequest("PUT", "/missing/key", "abcd").status(), 404) << moment;
    EXPECT_EQ(SendRequest("PUT", "/bucket/key?partNumber=1&uploadId=missing", "abcd").status(),
              404);
    const auto rule = Account().at("rules").at(0);
    EXPECT_EQ(rule.at("matched"), 2) << moment;
    EXPECT_EQ(rule.at("fired"), 0) << moment;
    EXPECT_EQ(rule.at("under_way"), 0) << moment;
    EXPECT_FALSE(rule.at("complete").get<bool>()) << moment;
    EXPECT_FALSE(emulator_->CheckFaults("default").ok()) << moment;
    EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abcd").status(), 501) << "the claim was returned";
    EXPECT_EQ(Fired(), 1U);
    Clear();
  }
  // An operation without a body reaches the moment before it can refuse.
  SetAction(R"({"error": {"status": 501}})");
  EXPECT_EQ(SendRequest("GET", "/missing/key").status(), 501);
}

TEST_F(CommitFaultsTest, ClientGetsTheSecondResponseByDefault) {
  for (const auto& [which, status] : {std::pair{"second", 412}, std::pair{"first", 200}}) {
    SetAction(R"({"duplicate_apply": {"answer": ")" + string(which) + "\"}}");
    EXPECT_EQ(
        SendRequest("PUT", "/bucket/" + string(which), "abcd", "If-None-Match: *\r\n").status(),
        status);
    EXPECT_EQ(Fired(), 1U);
    Clear();
    EXPECT_EQ(Body({}, "/bucket/" + string(which)), "abcd");
  }
}

TEST_F(CommitFaultsTest, UploadCreatedTwiceStaysOpenOnce) {
  SetAction(R"({"duplicate_apply": {}})");
  EXPECT_EQ(SendRequest("POST", "/bucket/upload?uploads").status(), 200);
  EXPECT_EQ(Fired(), 1U);
  Clear();
  EXPECT_EQ(Count("/bucket?uploads", "<Upload>"), 2U);
}

TEST_F(CommitFaultsTest, ReadsAndRefusedWritesAreNotAppliedTwice) {
  SetAction(R"({"duplicate_apply": {}})");
  EXPECT_EQ(Get().status(), 200);
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abcd", "If-None-Match: *\r\n").status(), 412);
  EXPECT_EQ(Fired(), 0U);
}

TEST_F(CommitFaultsTest, PartialCommitStoresTheFirstBytesAndReportsAll) {
  SetAction(R"({"commit_partial": {"bytes": 3, "unlike_s3": true}})");
  const string reported = SendRequest("PUT", "/bucket/torn", "abcd").text;
  EXPECT_EQ(Scrubbed(reported),
            "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: "
            "*\r\nx-amz-server-side-encryption: AES256\r\n"
            "ETag: \"e2fc714c4727ee9395f324cd2e7f331f\"\r\nx-amz-checksum-crc64nvme: "
            "oX4+O1iTXBY=\r\nx-amz-checksum-type: FULL_OBJECT\r\n"
            "Server: AmazonS3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Fired(), 1U);
  EXPECT_EQ(SendRequest("PUT", "/bucket/short", "abc").status(), 200);
  EXPECT_EQ(Fired(), 1U) << "an empty body cannot be cut";
  Clear();
  const string read =
      SendRequest("GET", "/bucket/torn", {}, "x-amz-checksum-mode: ENABLED\r\n").text;
  EXPECT_EQ(Scrubbed(read),
            "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: "
            "*\r\nLast-Modified: *\r\n"
            "ETag: \"e2fc714c4727ee9395f324cd2e7f331f\"\r\nAccept-Ranges: "
            "bytes\r\nx-amz-server-side-encryption: AES256\r\n"
            "x-amz-checksum-crc64nvme: oX4+O1iTXBY=\r\nx-amz-checksum-type: "
            "FULL_OBJECT\r\nContent-Type: binary/octet-stream\r\n"
            "Server: AmazonS3\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
}

TEST_F(CommitFaultsTest, PartMayBeTruncatedToo) {
  const string begun = SendRequest("POST", "/bucket/parts?uploads").text;
  std::smatch id;
  ASSERT_TRUE(std::regex_search(begun, id, std::regex("<UploadId>([^<]*)<")));
  const string upload = "/bucket/parts?uploadId=" + id[1].str();
  SetAction(R"({"commit_partial": {"bytes": 2, "unlike_s3": true}})");
  EXPECT_EQ(SendRequest("PUT", upload + "&partNumber=1", "abcd").status(), 200);
  EXPECT_EQ(Fired(), 1U);
  Clear();
  EXPECT_EQ(SendRequest("POST", upload,
                        "<CompleteMultipartUpload><Part><PartNumber>1</"
                        "PartNumber><ETag>e2fc714c4727ee9395f324cd2e7f331f</ETag></"
                        "Part></CompleteMultipartUpload>")
                .status(),
            200);
  EXPECT_EQ(Body({}, "/bucket/parts"), "ab");
}

TEST_F(CommitFaultsTest, HiddenWriteBecomesVisibleAfterItsDelay) {
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  SetAction(R"({"delay_visibility": {"ms": 3000, "unlike_s3": true}})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "new").status(), 200);
  EXPECT_EQ(SendRequest("PUT", "/bucket/other", "new").status(), 200);
  EXPECT_EQ(Fired(), 2U);
  EXPECT_EQ(Body(), "0123456789");
  EXPECT_EQ(Body("Range: bytes=2-3\r\n"), "23");
  EXPECT_EQ(SendRequest("GET", "/bucket/other").status(), 404);
  EXPECT_EQ(Count("/bucket?list-type=2", "<Key>"), 1U);
  EXPECT_EQ(Count("/bucket?list-type=2", "<Size>10</Size>"), 1U);
  ASSERT_TRUE(emulator_->ChangeClock("default", {.advance = seconds(3)}).ok());
  EXPECT_EQ(Body(), "new");
  EXPECT_EQ(Count("/bucket?list-type=2", "<Key>"), 2U);
}

TEST_F(CommitFaultsTest, HiddenDeletesAndCopiesBecomeVisibleWithoutFaults) {
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  SetAction(R"({"delay_visibility": {"ms": 3000, "unlike_s3": true}})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/copy", {}, "x-amz-copy-source: /bucket/key\r\n").status(),
            200);
  EXPECT_EQ(SendRequest("DELETE", "/bucket/key").status(), 204);
  EXPECT_EQ(Fired(), 2U);
  EXPECT_EQ(Body(), "0123456789");
  EXPECT_EQ(SendRequest("HEAD", "/bucket/copy").status(), 404);
  Clear();
  EXPECT_EQ(SendRequest("GET", "/bucket/key").status(), 404);
  EXPECT_EQ(SendRequest("HEAD", "/bucket/copy").status(), 200);
}

TEST_F(CommitFaultsTest, RefusedWriteIsNotHidden) {
  Set(R"([{"when": {"header": {"if-none-match": "*"}}, "do": {"delay_visibility": {"ms": 3600000, "unlike_s3": true}}}])");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "refused", "If-None-Match: *\r\n").status(), 412);
  EXPECT_EQ(Fired(), 0U);
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "new").status(), 200);
  EXPECT_EQ(Body(), "new");
}

TEST_F(CommitFaultsTest, RequestMayHideItsOwnWrite) {
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "new",
                        "x-penstock-fault: {\"delay_visibility\": {\"ms\": 5, "
                        "\"unlike_s3\": true}}\r\n")
                .status(),
            200);
  EXPECT_EQ(Body(), "0123456789");
  ASSERT_TRUE(emulator_->ChangeClock("default", {.advance = std::chrono::milliseconds(5)}).ok());
  EXPECT_EQ(Body(), "new");
}

TEST_F(CommitFaultsTest, ReadMayReturnBytesOfThePreviousVersion) {
  const string truth = Get().text;
  SetAction(R"({"corrupt": {"mode": "stale-version"}, "at": "body_out@2"})");
  EXPECT_EQ(Get().text.substr(truth.size() - 10), "0123456789") << "nothing was overwritten so far";
  EXPECT_EQ(Fired(), 0U);
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abcdefghijkl").status(), 200);
  EXPECT_EQ(Body(), "ab23456789kl");
  EXPECT_EQ(Body("Range: bytes=4-11\r\n"), "ef6789kl");
  EXPECT_EQ(Fired(), 2U);
  EXPECT_EQ(Body("Range: bytes=9-11\r\n"), "jkl") << "the previous version is shorter";
  EXPECT_EQ(Fired(), 2U);
}

// Regression: after a DELETE and a new PUT, a read returned bytes of two versions ago instead of
// the deleted ones.
TEST_F(CommitFaultsTest, DeletedVersionIsThePreviousOneOfTheNextPut) {
  SetAction(R"({"corrupt": {"mode": "stale-version"}})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "second...x").status(), 200);
  EXPECT_EQ(SendRequest("DELETE", "/bucket/key").status(), 204);
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "third....x").status(), 200);
  EXPECT_EQ(Body(), "second...x");
  const string many = "<Delete><Object><Key>key</Key></Object></Delete>";
  EXPECT_EQ(SendRequest("POST", "/bucket?delete", many, "Content-MD5: VUxjCEXWiErKatrg6+J0xA==\r\n")
                .status(),
            200);
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "fourth...x").status(), 200);
  EXPECT_EQ(Body(), "third....x");
}

TEST_F(CommitFaultsTest, RenameOverwritesThePreviousVersion) {
  const string bucket = "/dir--usw2-az1--x-s3";
  ASSERT_EQ(SendRequest("PUT", bucket,
                        "<CreateBucketConfiguration><Location><Name>usw2-az1</Name>"
                        "<Type>AvailabilityZone</Type></Location><Bucket><DataRedundancy>"
                        "SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket>"
                        "</CreateBucketConfiguration>")
                .status(),
            200);
  EXPECT_EQ(SendRequest("PUT", bucket + "/key", "0123456789").status(), 200);
  EXPECT_EQ(SendRequest("PUT", bucket + "/other", "abcdefghij").status(), 200);
  SetAction(R"({"corrupt": {"mode": "stale-version"}})");
  EXPECT_EQ(SendRequest("PUT", bucket + "/key?renameObject", "", "x-amz-rename-source: other\r\n")
                .status(),
            200);
  const string response = SendRequest("GET", bucket + "/key").text;
  EXPECT_TRUE(response.ends_with("\r\n\r\n0123456789")) << response;
}

TEST_F(CommitFaultsTest, StaleBytesMayHaveMatchingChecksums) {
  SetAction(R"({"corrupt": {"mode": "stale-version", "fix_checksum": true}})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abcdefghij").status(), 200);
  const string response = Get().text;
  EXPECT_TRUE(response.ends_with("\r\n\r\n0123456789")) << response;
  EXPECT_NE(response.find("ETag: \"781e5e245d69b566979b86e28d23f2c7\""), string::npos) << response;
}

TEST_F(CommitFaultsTest, VersionedBucketHasThePreviousVersion) {
  SetVersioning();
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abcdefghij").status(), 200);
  SetAction(R"({"corrupt": {"mode": "stale-version", "length": 3}, "at": "body_out@1"})");
  EXPECT_EQ(Body(), "a123efghij");
  EXPECT_EQ(Fired(), 1U);
}

TEST_F(CommitFaultsTest, RulesMatchPartitionsVersionsSessionsAndPatterns) {
  ASSERT_TRUE(emulator_
                  ->SetLimits("default",
                              R"({"reads_per_second": 1000000, "writes_per_second": 1000000,
                                                  "buckets": {"bucket": {"boundaries": ["m"]}}})")
                  .ok());
  ASSERT_EQ(SendRequest("PUT", "/bucket/z", "z").status(), 200);
  const auto statuses = [this](const string& when) {
    Set(R"([{"when": )" + when + R"(, "do": {"slow_down": {}}}])");
    return std::vector<int>{
        Get().status(), SendRequest("GET", "/bucket/z").status(),
        SendRequest("GET", "/bucket/z?versionId=null").status(),
        SendRequest("GET", "/bucket/key", {}, "x-amz-security-token: token-1\r\n").status()};
  };
  EXPECT_EQ(statuses(R"({"partition": 0})"), (std::vector<int>{503, 200, 200, 503}));
  EXPECT_EQ(statuses(R"({"partition": ">=1"})"), (std::vector<int>{200, 503, 503, 200}));
  EXPECT_EQ(statuses(R"({"version": true})"), (std::vector<int>{200, 200, 503, 200}));
  EXPECT_EQ(statuses(R"({"version": "null"})"), (std::vector<int>{200, 200, 503, 200}));
  EXPECT_EQ(statuses(R"({"client": {"session": {"regex": "^token-[0-9]$"}}})"),
            (std::vector<int>{200, 200, 200, 503}));
  EXPECT_EQ(statuses(R"({"key": {"regex": "^(k|q)e.$"}})"), (std::vector<int>{503, 200, 200, 503}));
}

}  // namespace
}  // namespace penstock::emulator::server
