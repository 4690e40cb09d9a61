// Framing, sizes and trailers. vectors_test.cc has the published signed uploads.
#include "emulator/auth/body/chunked_body.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/encoding.h"
#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

struct Decoded {
  Result<std::string> text = std::string();
  std::vector<std::pair<std::string, std::string>> trailers;
  std::string code() const { return text.ok() ? "" : text.error().code; }
};

Decoded Decode(const std::string& wire, ChunkedOptions options, std::size_t step = 1000,
               std::size_t read = 700) {
  TextBody inner(wire, step);
  ChunkedBody body(inner, std::move(options));
  Decoded decoded{ReadAll(body, read), {}};
  decoded.trailers = body.Trailers();
  return decoded;
}

ChunkedOptions Unsigned(std::uint64_t length, std::vector<std::string> trailers = {}) {
  return {.decoded_length = length,
          .signing = std::nullopt,
          .allow_trailer = true,
          .declared_trailers = std::move(trailers)};
}

const std::vector<std::string> kCrc32 = {"x-amz-checksum-crc32"};
// Bodies like the examples of AWS's documentation.
constexpr char kHello[] = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
constexpr char kEmpty[] = "0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n";

TEST(UnsignedChunksTest, DecodesThePublishedExample) {
  const Decoded decoded = Decode(kHello, Unsigned(5, kCrc32));
  EXPECT_EQ(*decoded.text, "hello");
  ASSERT_EQ(decoded.trailers.size(), 1u);
  EXPECT_EQ(decoded.trailers[0].first, "x-amz-checksum-crc32");
  EXPECT_EQ(decoded.trailers[0].second, "NhCmhg==");
}

TEST(UnsignedChunksTest, DecodesTheEmptyBody) {
  EXPECT_EQ(*Decode(kEmpty, Unsigned(0, kCrc32)).text, "");
}

TEST(UnsignedChunksTest, NeedsNoTrailerWhenNoneIsDeclared) {
  EXPECT_EQ(*Decode("5\r\nhello\r\n0\r\n\r\n", Unsigned(5)).text, "hello");
}

TEST(UnsignedChunksTest, DoesNotDependOnHowBytesArrive) {
  std::string wire;
  std::string expected;
  for (const std::size_t length : {8192, 8193, 9000, 16384, 37}) {
    const std::string data(length, static_cast<char>('a' + length % 26));
    char size[16];
    std::snprintf(size, sizeof size, "%zX\r\n", data.size());
    wire += size + data + "\r\n";
    expected += data;
  }
  wire += "0\r\n\r\n";
  for (const std::size_t step : {1, 2, 3, 7, 64, 4096, 100000}) {
    for (const std::size_t read : {1, 5, 4096, 100000}) {
      EXPECT_EQ(*Decode(wire, Unsigned(expected.size()), step, read).text, expected)
          << step << " " << read;
    }
  }
}

TEST(UnsignedChunksTest, RefusesASmallChunkThatIsNotTheLast) {
  const std::string least(8192, 'a');
  EXPECT_EQ(*Decode("2000\r\n" + least + "\r\n1\r\nb\r\n0\r\n\r\n", Unsigned(8193)).text,
            least + "b");
  const Decoded decoded =
      Decode("1fff\r\n" + least.substr(1) + "\r\n1\r\nb\r\n0\r\n\r\n", Unsigned(8192));
  ASSERT_EQ(decoded.code(), "InvalidChunkSizeError");
  EXPECT_EQ(decoded.text.error().details.at(0).second, "2");
  EXPECT_EQ(decoded.text.error().details.at(1).second, "8191");
}

TEST(UnsignedChunksTest, RefusesEveryTruncation) {
  const std::string wire = kHello;
  for (std::size_t length = 0; length < wire.size(); ++length) {
    EXPECT_EQ(Decode(wire.substr(0, length), Unsigned(5, kCrc32)).code(), "IncompleteBody")
        << length;
  }
}

TEST(UnsignedChunksTest, RefusesBrokenFraming) {
  for (const char* wire :
       {"\r\nhello\r\n0\r\n\r\n", "g\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\nmore",
        "5;chunk-signature=00\r\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n"}) {
    EXPECT_EQ(Decode(wire, Unsigned(5)).code(), "IncompleteBody") << wire;
    EXPECT_EQ(Decode(wire, Unsigned(5), 1).code(), "IncompleteBody") << wire << " byte by byte";
  }
}

TEST(UnsignedChunksTest, RefusesAnEndlessHeaderLine) {
  EXPECT_EQ(Decode(std::string(100000, '0'), Unsigned(5)).code(), "IncompleteBody");
}

TEST(UnsignedChunksTest, RequiresTheDeclaredLength) {
  for (const std::uint64_t declared : {4, 6}) {
    const Decoded decoded = Decode("5\r\nhello\r\n0\r\n\r\n", Unsigned(declared));
    ASSERT_EQ(decoded.code(), "IncompleteBody");
    EXPECT_EQ(decoded.text.error().details.at(0).second, std::to_string(declared));
    EXPECT_EQ(decoded.text.error().details.at(1).second, "5");
  }
}

TEST(UnsignedChunksTest, RequiresExactlyTheDeclaredTrailers) {
  EXPECT_EQ(Decode("5\r\nhello\r\n0\r\n\r\n", Unsigned(5, kCrc32)).code(), "MalformedTrailerError");
  EXPECT_EQ(Decode(kHello, Unsigned(5)).code(), "MalformedTrailerError");
  EXPECT_EQ(Decode(kHello, Unsigned(5, {"x-amz-checksum-sha1"})).code(), "MalformedTrailerError");
  EXPECT_EQ(Decode("0\r\nnonsense\r\n\r\n", Unsigned(0)).code(), "MalformedTrailerError");
  EXPECT_EQ(Decode("0\r\n:x\r\n\r\n", Unsigned(0)).code(), "MalformedTrailerError");
}

TEST(UnsignedChunksTest, RepeatsItsError) {
  TextBody inner("zz\r\n");
  ChunkedBody body(inner, Unsigned(5));
  EXPECT_FALSE(ReadAll(body).ok());
  EXPECT_FALSE(ReadAll(body).ok());
}

// Signs chunks as AWS documents, with the documentation's key and seed "00...".
class SignedBody {
 public:
  SignedBody() {
    signing_.key = HmacSha256Key(DeriveSigningKey(
        {.secret = kExampleSecret, .day = "20130524", .region = "us-east-1", .service = "s3"}));
    signing_.access_key_id = kExampleKey;
    signing_.amz_date = kExampleDate;
    signing_.scope = kExampleScope;
    signing_.seed_signature = previous_ = std::string(64, '0');
  }
  SignedBody& Chunk(const std::string& data) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx", data.size());
    previous_ = Signature(signing_.key, "AWS4-HMAC-SHA256-PAYLOAD\n" + std::string(kExampleDate) +
                                            "\n" + std::string(kExampleScope) + "\n" + previous_ +
                                            "\n" + std::string(kEmptySha256) + "\n" +
                                            HexEncode(Sha256(AsBytes(data))));
    wire_ +=
        size + (";chunk-signature=" + previous_) + "\r\n" + data + (data.empty() ? "" : "\r\n");
    length_ += data.size();
    return *this;
  }
  SignedBody& Text(const std::string& text) {
    wire_ += text;
    return *this;
  }
  Decoded Decode(bool trailer = false, std::vector<std::string> declared = {}) const {
    return auth::Decode(wire_, {.decoded_length = length_,
                                .signing = signing_,
                                .allow_trailer = trailer,
                                .declared_trailers = std::move(declared)});
  }

 private:
  ChunkSigning signing_;
  std::string previous_;
  std::string wire_;
  std::uint64_t length_ = 0;
};

TEST(SignedChunksTest, AcceptsAChainOfSignatures) {
  const std::string a(8192, 'a');
  const std::string b(9000, 'b');
  EXPECT_EQ(*SignedBody().Chunk(a).Chunk(b).Chunk("end").Chunk("").Text("\r\n").Decode().text,
            a + b + "end");
}

TEST(SignedChunksTest, RefusesASmallChunkThatIsNotTheLast) {
  const Decoded decoded =
      SignedBody().Chunk(std::string(8191, 'a')).Chunk("end").Chunk("").Text("\r\n").Decode();
  ASSERT_EQ(decoded.code(), "InvalidChunkSizeError");
  EXPECT_EQ(decoded.text.error().details.at(0).second, "2");
  EXPECT_EQ(decoded.text.error().details.at(1).second, "8191");
}

TEST(SignedChunksTest, RequiresTheSignatureOfTheEmptyLastChunk) {
  EXPECT_EQ(SignedBody()
                .Chunk("end")
                .Text("0;chunk-signature=" + std::string(64, 'a') + "\r\n\r\n")
                .Decode()
                .code(),
            "SignatureDoesNotMatch");
}

TEST(SignedChunksTest, RefusesAHeaderWithoutASignature) {
  EXPECT_EQ(SignedBody().Text("0\r\n\r\n").Decode().code(), "IncompleteBody");
  EXPECT_EQ(SignedBody().Text("0;chunk-signature=abc\r\n\r\n").Decode().code(), "IncompleteBody");
}

TEST(SignedChunksTest, RefusesATrailerWhereNoneIsAllowed) {
  EXPECT_EQ(SignedBody().Chunk("").Text("x-amz-checksum-crc32:AAAAAA==\r\n\r\n").Decode().code(),
            "MalformedTrailerError");
}

TEST(SignedChunksTest, RefusesATrailerWithoutItsSignature) {
  EXPECT_EQ(SignedBody()
                .Chunk("")
                .Text("x-amz-checksum-crc32:AAAAAA==\r\n\r\n")
                .Decode(true, kCrc32)
                .code(),
            "MalformedTrailerError");
}

TEST(SignedChunksTest, RefusesATrailerWithAWrongSignature) {
  EXPECT_EQ(SignedBody()
                .Chunk("")
                .Text("x-amz-checksum-crc32:AAAAAA==\r\nx-amz-trailer-signature:" +
                      std::string(64, 'a') + "\r\n\r\n")
                .Decode(true, kCrc32)
                .code(),
            "SignatureDoesNotMatch");
}

}  // namespace
}  // namespace penstock::emulator::auth
