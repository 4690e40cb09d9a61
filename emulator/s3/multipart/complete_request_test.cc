#include "emulator/s3/multipart/complete_request.h"

#include <gtest/gtest.h>

#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

std::string Refusal(std::string_view document) {
  const auto parts = ParseCompleteRequest(document);
  return parts.ok() ? "accepted" : parts.error().code + ": " + parts.error().message;
}

// As s3fs sends it.
TEST(CompleteRequestTest, AcceptsVariationsOfTheDocument) {
  const auto parts = ParseCompleteRequest(
      "<CompleteMultipartUpload>\n<Part>\n  <PartNumber> 1 </PartNumber>\n  "
      "<ETag>abc</ETag>\n</Part>\n"
      "<Part><ETag>&quot;def&quot;</ETag><ChecksumCRC32>NhCmhg==</ChecksumCRC32><PartNumber>7</"
      "PartNumber></Part>\n"
      "</CompleteMultipartUpload>");
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].number, 1);
  EXPECT_EQ((*parts)[0].etag, "abc");
  EXPECT_EQ((*parts)[1].number, 7);
  EXPECT_EQ((*parts)[1].etag, "def");
  EXPECT_EQ((*parts)[1].checksum, "NhCmhg==");
  EXPECT_EQ((*parts)[1].checksum_info->name, "CRC32");
}

TEST(CompleteRequestTest, RefusesMissingElements) {
  const auto with = [](std::string_view part) {
    return "<CompleteMultipartUpload><Part>" + std::string(part) +
           "</Part></CompleteMultipartUpload>";
  };
  EXPECT_EQ(Refusal("<CompleteMultipartUpload/>"), "accepted") << "no parts; refused later";
  EXPECT_TRUE(Refusal("").starts_with("MalformedXML"));
  EXPECT_TRUE(Refusal("<Other/>").starts_with("MalformedXML"));
  EXPECT_TRUE(Refusal(with("<PartNumber>1</PartNumber>")).starts_with("MalformedXML"));
  EXPECT_TRUE(Refusal(with("<ETag>a</ETag>")).starts_with("MalformedXML"));
  EXPECT_EQ(Refusal(with("<ETag>a</ETag><PartNumber>0</PartNumber>")),
            "InvalidArgument: PartNumber must be >= 1");
  EXPECT_EQ(Refusal(with("<ETag>a</ETag><PartNumber>-3</PartNumber>")),
            "InvalidArgument: PartNumber must be >= 1");
  EXPECT_TRUE(
      Refusal(with("<ETag>a</ETag><PartNumber>x</PartNumber>")).starts_with("MalformedXML"));
}

// From Swift's checksum tests, which also run against AWS.
TEST(CompleteRequestTest, ChecksumsMustBeBase64) {
  EXPECT_EQ(
      Refusal("<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>a</ETag>"
              "<ChecksumSHA256>not base64!</ChecksumSHA256></Part></CompleteMultipartUpload>"),
      "InvalidArgument: Invalid Base64 or multiple checksums present in request");
}

TEST(CompleteRequestTest, DocumentsThatDoNotMatchTheSchemaAreMalformed) {
  const std::string part = "<PartNumber>1</PartNumber><ETag>a</ETag>";
  for (const std::string& document :
       {"<Part>" + part + "<Bogus/></Part>", "<Part>" + part + "</Part><Bogus/>",
        "<Part>" + part + "<ETag>b</ETag></Part>",
        "<Part>" + part + "<ChecksumROT13>AA==</ChecksumROT13></Part>",
        "<Part>" + part + "</Part>words", "<Part xmlns=\"urn:other\">" + part + "</Part>"}) {
    EXPECT_EQ(Refusal("<CompleteMultipartUpload>" + document + "</CompleteMultipartUpload>"),
              Refusal(""))
        << document;
  }
  EXPECT_EQ(Refusal("<CompleteMultipartUpload><Part>" + part + "</Part></CompleteMultipartUpload>"),
            "accepted");
}

TEST(CompleteRequestTest, PartsHaveAtMostOneChecksum) {
  EXPECT_EQ(
      Refusal(
          "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>a</ETag>"
          "<ChecksumCRC32>NhCmhg==</ChecksumCRC32><ChecksumCRC32C>NhCmhg==</ChecksumCRC32C></Part>"
          "</CompleteMultipartUpload>"),
      "InvalidArgument: Invalid Base64 or multiple checksums present in request");
}

store::StoredPart Stored(int number, std::uint64_t size) {
  store::StoredPart part;
  part.part.number = number;
  part.part.size = size;
  part.part.etag = ETag("e" + std::to_string(number));
  return part;
}
RequestedPart Requested(int number) { return {number, "e" + std::to_string(number), nullptr, ""}; }

std::string Match(const std::vector<RequestedPart>& requested,
                  const std::vector<store::StoredPart>& stored, std::string type = "") {
  const PartRules rules{"u", type.empty() ? "" : "SHA256", std::move(type), 10};
  const auto matched = MatchParts(requested, stored, rules);
  return matched.ok() ? "matched" : matched.error().code;
}

TEST(MatchPartsTest, ChecksOrderPresenceAndSize) {
  const std::vector<store::StoredPart> stored{Stored(1, 10), Stored(3, 10), Stored(5, 1)};
  EXPECT_EQ(Match({Requested(1), Requested(3), Requested(5)}, stored), "matched");
  EXPECT_EQ(Match({Requested(1), Requested(5)}, stored), "matched");
  EXPECT_EQ(Match({Requested(5)}, stored), "matched");
  EXPECT_EQ(Match({Requested(3), Requested(1)}, stored), "InvalidPartOrder");
  EXPECT_EQ(Match({Requested(1), Requested(1)}, stored), "InvalidPartOrder");
  EXPECT_EQ(Match({Requested(1), Requested(2)}, stored), "InvalidPart");
  EXPECT_EQ(Match({Requested(6)}, stored), "InvalidPart");
  EXPECT_EQ(Match({{1, "other", nullptr, ""}}, stored), "InvalidPart");
  EXPECT_EQ(Match({Requested(1), Requested(5), Requested(6)},
                  {Stored(1, 10), Stored(5, 1), Stored(6, 10)}),
            "EntityTooSmall");
  // Composite parts must be consecutive.
  EXPECT_EQ(Match({Requested(1), Requested(3)}, stored, "COMPOSITE"), "InvalidPartOrder");
}

// Recorded against Amazon S3: the error contains the algorithm that was sent. Without a declared
// algorithm the part is not found.
TEST(MatchPartsTest, ChecksumsOfAnotherAlgorithmAreRefused) {
  const ChecksumInfo* crc32 = FindChecksumElement("ChecksumCRC32");
  const std::vector<RequestedPart> requested{{1, "e1", crc32, "NhCmhg=="}};
  const auto refused =
      MatchParts(requested, {Stored(1, 10)}, PartRules{"u", "SHA256", "COMPOSITE", 10});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "BadDigest");
  EXPECT_EQ(refused.error().message,
            "The crc32 you specified for part 1 did not match what we received.");
  EXPECT_EQ(Match(requested, {Stored(1, 10)}), "InvalidPart");
}

// Recorded against Amazon S3: a wrong value of the upload's algorithm returns InvalidPart.
TEST(MatchPartsTest, WrongChecksumsOfTheUploadsAlgorithmReturnInvalidPart) {
  const ChecksumInfo* sha256 = FindChecksumElement("ChecksumSHA256");
  store::StoredPart stored = Stored(1, 10);
  stored.part.checksum = "right";
  for (const char* type : {"COMPOSITE", "FULL_OBJECT"}) {
    EXPECT_EQ(Match({{1, "e1", sha256, "right"}}, {stored}, type), "matched") << type;
    const auto refused =
        MatchParts({{1, "e1", sha256, "wrong"}}, {stored}, PartRules{"u", "SHA256", type, 10});
    ASSERT_FALSE(refused.ok()) << type;
    EXPECT_EQ(refused.error().code, "InvalidPart") << type;
    EXPECT_EQ(refused.error().details,
              (ErrorDetails{{"UploadId", "u"}, {"PartNumber", "1"}, {"ETag", "e1"}}))
        << type;
  }
}

TEST(MatchPartsTest, CompositeETagMatchesTheRecordedValue) {
  store::PartRecord one;
  one.etag = ETag("79b281060d337b9b2b84ccf390adcf74");
  store::PartRecord two;
  two.etag = ETag("5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(CompositeETag({one, two}).value, "7cbb08aa3c3309d6882c18fcecc4bee7-2");
}

}  // namespace
}  // namespace penstock::emulator::s3
