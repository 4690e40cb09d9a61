#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

constexpr const char* kHelloMd5 = "5d41402abc4b2a76b9719d911017c592";

class CompleteUploadTest : public ::testing::Test {
 protected:
  CompleteUploadTest() { s3_.Send("PUT /bucket"); }
  std::string Create(const std::string& headers = "") {
    return "/bucket/k?uploadId=" + s3_.Send("POST /bucket/k?uploads" + headers).Element("UploadId");
  }
  // Uploads a part and returns its <Part> element with `checksum`.
  std::string Part(const std::string& target, int number, const std::string& bytes,
                   const std::string& checksum = "", const std::string& headers = "") {
    const std::string n = std::to_string(number);
    const Reply reply = s3_.Send("PUT " + target + "&partNumber=" + n + headers, bytes);
    return "<Part><PartNumber>" + n + "</PartNumber><ETag>" + reply.Header("ETag") + "</ETag>" +
           checksum + "</Part>";
  }
  Reply Complete(const std::string& target, const std::string& parts,
                 const std::string& headers = "") {
    return s3_.Send("POST " + target + headers,
                    "<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>");
  }
  const std::string first_ = std::string(5u << 20, 'a');  // 5 MiB.
  Harness s3_;
};

// An upload without a declared algorithm gets CRC64NVME. The body is 5 MiB of 'a', then "hello".
TEST_F(CompleteUploadTest, WithoutAlgorithmTheObjectGetsCrc64Nvme) {
  const std::string target = Create("\nx-amz-meta-a: 1\nContent-Type: a/b");
  const std::string parts = Part(target, 1, first_) + Part(target, 4, "hello");
  s3_.clock().Advance(std::chrono::hours(1));
  const Reply reply = Complete(target, parts);
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Element("ETag"), "&quot;7cbb08aa3c3309d6882c18fcecc4bee7-2&quot;");
  EXPECT_EQ(reply.Element("ChecksumCRC64NVME"), "xrqTozlh+bk=");
  EXPECT_EQ(reply.Element("ChecksumType"), "FULL_OBJECT");
  EXPECT_EQ(reply.Element("Location"), "http://s3.amazonaws.com/bucket/k");
  const Reply get = s3_.Send("GET /bucket/k");
  EXPECT_EQ(get.body, first_ + "hello");
  EXPECT_EQ(get.Header("x-amz-meta-a"), "1");
  EXPECT_EQ(get.Header("Content-Type"), "a/b");
  // The time of CreateMultipartUpload.
  EXPECT_EQ(get.Header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
  for (const auto& [name, value] : get.headers)
    EXPECT_NE(name.front(), ':') << "internal attribute in the response";
}

TEST_F(CompleteUploadTest, LocationIsTheUrlAtTheHostAndInTheStyleOfTheRequest) {
  s3_.signing_region() = "eu-west-1";
  const auto location = [this](const std::string& target, const std::string& host) {
    const std::string id = s3_.Send("POST " + target + "?uploads" + host).Element("UploadId");
    const std::string upload = target + "?uploadId=" + id;
    const std::string part = Part(upload, 1, "hello", "", host);
    return Complete(upload, part, host).Element("Location");
  };
  ASSERT_EQ(s3_.Send("PUT /elsewhere\nHost: s3.eu-west-1.amazonaws.com",
                     "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint>"
                     "</CreateBucketConfiguration>")
                .Outcome(),
            "200");
  EXPECT_EQ(location("/a/b%20c", "\nHost: elsewhere.s3.eu-west-1.amazonaws.com"),
            "http://elsewhere.s3.eu-west-1.amazonaws.com/a%2Fb%20c");
  EXPECT_EQ(location("/elsewhere/a", "\nHost: s3.eu-west-1.amazonaws.com"),
            "http://s3.eu-west-1.amazonaws.com/elsewhere/a");
}

TEST_F(CompleteUploadTest, PartNumberReadsCountPartsInOrder) {
  const std::string target = Create();
  Complete(target, Part(target, 1, first_) + Part(target, 4, "hello"));
  const Reply second = s3_.Send("GET /bucket/k?partNumber=2\nx-amz-checksum-mode: ENABLED");
  EXPECT_EQ(second.status, 206);
  EXPECT_EQ(second.body, "hello");
  EXPECT_EQ(second.Header("Content-Range"), "bytes 5242880-5242884/5242885");
  EXPECT_EQ(second.Header("x-amz-mp-parts-count"), "2");
  // Part checksums were not stored.
  EXPECT_EQ(second.Header("x-amz-checksum-crc64nvme"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/k?partNumber=3").Element("ActualPartCount"), "2");
  EXPECT_EQ(s3_.Send("GET /bucket/k\nRange: bytes=5242878-5242881").body, "aahe");
  const Reply attributes =
      s3_.Send("GET /bucket/k?attributes\nx-amz-object-attributes: ObjectParts");
  EXPECT_EQ(attributes.Element("PartsCount"), "2");
  EXPECT_EQ(attributes.Element("PartNumber"), "<absent>");
}

TEST_F(CompleteUploadTest, CompositeAndFullObjectChecksums) {
  const std::string sums[] = {"<ChecksumCRC32>r/zBbw==</ChecksumCRC32>",
                              "<ChecksumCRC32>NhCmhg==</ChecksumCRC32>"};
  const std::string claims[] = {"\nx-amz-checksum-crc32: r/zBbw==",
                                "\nx-amz-checksum-crc32: NhCmhg=="};
  std::string target = Create("\nx-amz-checksum-algorithm: CRC32");
  const Reply composite = Complete(target, Part(target, 1, first_, sums[0], claims[0]) +
                                               Part(target, 2, "hello", sums[1], claims[1]));
  EXPECT_EQ(composite.Element("ChecksumCRC32"), "QaduHg==-2");
  EXPECT_EQ(composite.Element("ChecksumType"), "COMPOSITE");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k\nx-amz-checksum-mode: ENABLED").Header("x-amz-checksum-crc32"),
            "QaduHg==-2");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k?partNumber=2\nx-amz-checksum-mode: ENABLED")
                .Header("x-amz-checksum-crc32"),
            "NhCmhg==");
  const Reply attributes = s3_.Send(
      "GET /bucket/k?attributes\nx-amz-object-attributes: Checksum,ObjectParts\nx-amz-max-parts: "
      "1");
  EXPECT_EQ(attributes.Elements("ChecksumCRC32"),
            (std::vector<std::string>{"QaduHg==", "r/zBbw=="}));
  EXPECT_EQ(attributes.Element("IsTruncated"), "true");
  EXPECT_EQ(attributes.Element("NextPartNumberMarker"), "1");
  target = Create("\nx-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT");
  const Reply full = Complete(target, Part(target, 1, first_) + Part(target, 2, "hello"),
                              "\nx-amz-checksum-crc32: dsLl6w==\nx-amz-checksum-type: "
                              "FULL_OBJECT\nx-amz-mp-object-size: 5242885");
  EXPECT_EQ(full.Outcome(), "200");
  EXPECT_EQ(full.Element("ChecksumCRC32"), "dsLl6w==");
}

// Recorded against Amazon S3: parts of a FULL_OBJECT object have no checksum, unless the part is
// the whole object.
TEST_F(CompleteUploadTest, PartsOfAFullObjectChecksumHaveNone) {
  const std::string headers = "\nx-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT";
  std::string target = Create(headers);
  Complete(target, Part(target, 1, first_) + Part(target, 2, "hello"));
  for (const char* method : {"GET", "HEAD"}) {
    const Reply part =
        s3_.Send(std::string(method) + " /bucket/k?partNumber=2\nx-amz-checksum-mode: ENABLED");
    EXPECT_EQ(part.Header("x-amz-checksum-crc32"), "<absent>") << method;
    EXPECT_EQ(part.Header("x-amz-checksum-type"), "<absent>") << method;
  }
  EXPECT_EQ(s3_.Send("HEAD /bucket/k\nx-amz-checksum-mode: ENABLED").Header("x-amz-checksum-crc32"),
            "dsLl6w==");
  target = Create(headers);
  Complete(target, Part(target, 1, "hello"));
  const Reply only = s3_.Send("HEAD /bucket/k?partNumber=1\nx-amz-checksum-mode: ENABLED");
  EXPECT_EQ(only.Header("x-amz-checksum-crc32"), "NhCmhg==");
  EXPECT_EQ(only.Header("x-amz-checksum-type"), "FULL_OBJECT");
}

TEST_F(CompleteUploadTest, RefusesInvalidRequestsWithRecordedTexts) {
  std::string target = Create();
  const std::string part = Part(target, 1, "hell");
  EXPECT_EQ(
      Complete(target, part, "\nx-amz-mp-object-size: 5").Element("Message"),
      "The provided 'x-amz-mp-object-size' header value 5 does not match what was computed: 4");
  EXPECT_EQ(Complete(target, part, "\nx-amz-checksum-type: COMPOSITE").Element("Message"),
            "The upload was created using the null checksum mode. The complete request must use "
            "the same checksum mode.");
  const Reply named =
      Complete(target, Part(target, 1, "hell", "<ChecksumCRC32>NhCmhg==</ChecksumCRC32>"));
  EXPECT_EQ(named.Outcome(), "400 InvalidPart");
  EXPECT_EQ(named.Element("PartNumber"), "1");
  const Reply small = Complete(target, part + Part(target, 2, "x"));
  EXPECT_EQ(small.Outcome(), "400 EntityTooSmall");
  EXPECT_EQ(small.Element("ProposedSize"), "4");
  EXPECT_EQ(small.Element("MinSizeAllowed"), "5242880");
  target = Create("\nx-amz-checksum-algorithm: CRC32");
  const std::string claim = "\nx-amz-checksum-crc32: NhCmhg==";
  EXPECT_EQ(Complete(target, Part(target, 1, "hello", "", claim)).Element("Message"),
            "The upload was created using a crc32 checksum. The complete request must include the "
            "checksum for each "
            "part. It was missing for part 1 in the request.");
  const Reply wrong =
      Complete(target, Part(target, 1, "hello", "<ChecksumCRC32>AAAAAA==</ChecksumCRC32>", claim));
  EXPECT_EQ(wrong.Outcome(), "400 InvalidPart");
  EXPECT_EQ(wrong.Element("PartNumber"), "1");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").status, 404);
}

// Recorded against Amazon S3 (LocalStack's multipart checksum tests).
TEST_F(CompleteUploadTest, AnObjectChecksumThatDoesNotFitTheUploadIsABadDigest) {
  const std::string full = "\nx-amz-checksum-algorithm: CRC32C\nx-amz-checksum-type: FULL_OBJECT";
  const std::string value = "\nx-amz-checksum-crc32c: mnG7TA==";  // CRC32C of "hello".
  std::string target = Create(full);
  const std::string part = Part(target, 1, "hello");
  for (const std::string& headers :
       {value, std::string("\nx-amz-checksum-type: FULL_OBJECT\nx-amz-checksum-crc32c: AAAAAA=="),
        // The right value of another algorithm.
        std::string("\nx-amz-checksum-type: FULL_OBJECT\nx-amz-checksum-crc32: NhCmhg==")}) {
    const Reply reply = Complete(target, part, headers);
    EXPECT_EQ(reply.Outcome(), "400 BadDigest") << headers;
    EXPECT_EQ(reply.Element("Message"),
              "The crc32c you specified did not match the calculated checksum.")
        << headers;
    EXPECT_EQ(s3_.Send("HEAD /bucket/k").status, 404) << headers;
  }
  EXPECT_EQ(Complete(target, part, value + "\nx-amz-checksum-type: FULL_OBJECT").Outcome(), "200");
  target = Create();
  EXPECT_EQ(
      Complete(target, Part(target, 1, "hello"), "\nx-amz-checksum-crc32c: AAAAAA==").Outcome(),
      "200")
      << "an upload without an algorithm ignores the header";
}

// Recorded against Amazon S3.
TEST_F(CompleteUploadTest, TheUploadIsLookedUpBeforeItsParts) {
  const std::string absent = "/bucket/k?uploadId=absent";
  const std::string none = "<CompleteMultipartUpload/>";
  for (const std::string& document : {std::string(), none}) {
    EXPECT_EQ(s3_.Send("POST " + absent, document).Outcome(), "404 NoSuchUpload") << document;
    const Reply live = s3_.Send("POST " + Create(), document);
    EXPECT_EQ(live.Outcome(), "400 InvalidRequest") << document;
    EXPECT_EQ(live.Element("Message"), "You must specify at least one part");
  }
  const std::string composite = Create("\nx-amz-checksum-algorithm: CRC32");
  EXPECT_EQ(Complete(composite, "<Part><PartNumber>1</PartNumber><ETag>unknown</ETag></Part>",
                     "\nx-amz-checksum-type: FULL_OBJECT")
                .Element("Message"),
            "The upload was created using the COMPOSITE checksum mode. The complete request must "
            "use the same checksum mode.");
}

TEST_F(CompleteUploadTest, RepeatingTheSameListSucceeds) {
  const std::string target = Create();
  const std::string part = Part(target, 1, "hello");
  EXPECT_EQ(Complete(target, part).Outcome(), "200");
  EXPECT_EQ(Complete(target, part).Outcome(), "200");
  EXPECT_EQ(Complete(target, "<Part><PartNumber>1</PartNumber><ETag>other</ETag></Part>").Outcome(),
            "404 NoSuchUpload");
  EXPECT_EQ(s3_.Send("GET " + target).Outcome(), "404 NoSuchUpload");
}

TEST_F(CompleteUploadTest, OneEmptyPartMakesAnEmptyObject) {
  const std::string target = Create();
  EXPECT_EQ(Complete(target, Part(target, 1, "")).Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket/k\nRange: bytes=0-1").Outcome(), "416 InvalidRange");
  EXPECT_EQ(s3_.Send("GET /bucket/k?partNumber=1").status, 200);
}

// Recorded against Amazon S3.
TEST_F(CompleteUploadTest, ConditionsDistinguishConflictFromFailure) {
  s3_.Send("PUT /bucket/k", "hello");
  std::string target = Create();
  const std::string part = Part(target, 1, "hello");
  EXPECT_EQ(Complete(target, part, "\nIf-None-Match: *").Outcome(), "412 PreconditionFailed");
  s3_.clock().Advance(std::chrono::seconds(5));
  s3_.Send("PUT /bucket/k\nx-amz-meta-new: 1", "hello");
  const Reply overwritten = Complete(target, part, std::string("\nIf-Match: ") + kHelloMd5);
  EXPECT_EQ(overwritten.Outcome(), "409 ConditionalRequestConflict");
  EXPECT_EQ(overwritten.Element("Condition"), "If-Match");
  EXPECT_EQ(overwritten.Element("Key"), "k");
  EXPECT_EQ(Complete(target, part, "\nIf-Match: other").Outcome(), "412 PreconditionFailed");
  s3_.Send("DELETE /bucket/k");
  EXPECT_EQ(Complete(target, part, "\nIf-None-Match: *").Outcome(),
            "409 ConditionalRequestConflict");
  EXPECT_EQ(Complete(target, part, std::string("\nIf-Match: ") + kHelloMd5).Outcome(),
            "404 NoSuchKey");
  EXPECT_EQ(Complete(Create(), "<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>").Outcome(),
            "400 InvalidPart");
  target = Create();
  EXPECT_EQ(Complete(target, Part(target, 1, "x"), "\nIf-None-Match: *").Outcome(), "200");
}

// The text for negative values was recorded against Amazon S3 (LocalStack's snapshots).
TEST(CompleteUploadSizeTest, DeclaredSizeMustBeANumberAndMatch) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  const std::string where =
      "/bucket/k?uploadId=" + s3.Send("POST /bucket/k?uploads").Element("UploadId");
  const std::string etag = s3.Send("PUT " + where + "&partNumber=1", "data").Header("ETag");
  const std::string document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               etag + "</ETag></Part></CompleteMultipartUpload>";
  const std::pair<const char*, const char*> cases[] = {
      {"5",
       "The provided 'x-amz-mp-object-size' header value 5 does not match what was computed: 4"},
      {"-1", "Value for x-amz-mp-object-size header is less than zero"},
      {"four", "Value for x-amz-mp-object-size header is invalid: 'four'"}};
  for (const auto& [value, message] : cases) {
    const auto reply = s3.Send("POST " + where + "\nx-amz-mp-object-size: " + value, document);
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << value;
    EXPECT_EQ(reply.Element("Message"), message);
  }
  EXPECT_EQ(s3.Send("POST " + where + "\nx-amz-mp-object-size: 4", document).Outcome(), "200");
}

// Recorded against Amazon S3 with SSE-KMS: the response does not contain the checksum that S3
// chose, but reads do.
TEST_F(CompleteUploadTest, WithKmsOnlyReadsReturnAnUnrequestedChecksum) {
  const std::string kms = "\nx-amz-server-side-encryption: aws:kms";
  const std::string target = Create(kms);
  const Reply silent = Complete(target, Part(target, 1, "hello"));
  EXPECT_EQ(silent.Outcome(), "200");
  EXPECT_EQ(silent.Element("ChecksumType"), "<absent>");
  EXPECT_EQ(silent.Element("ChecksumCRC64NVME"), "<absent>");
  const Reply read = s3_.Send("GET /bucket/k\nx-amz-checksum-mode: ENABLED");
  EXPECT_EQ(read.Header("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(read.Header("x-amz-checksum-crc64nvme"), "M3eFcAZSQlc=");  // CRC64NVME of "hello".
  const std::string declared = Create(kms + "\nx-amz-checksum-algorithm: CRC64NVME");
  EXPECT_EQ(Complete(declared, Part(declared, 1, "hello")).Element("ChecksumCRC64NVME"),
            "M3eFcAZSQlc=");
}

}  // namespace
}  // namespace penstock::emulator::s3
