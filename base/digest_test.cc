#include "base/digest.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/encoding.h"

namespace penstock {
namespace {

std::string Sha256Hex(std::string_view text) { return HexEncode(Sha256(AsBytes(text))); }
std::string Sha1Hex(std::string_view text) { return HexEncode(Sha1(AsBytes(text))); }
std::string Md5Hex(std::string_view text) { return HexEncode(Md5(AsBytes(text))); }

constexpr std::string_view kTwoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

// FIPS 180-4 examples (NIST "SHA256.pdf", "SHA1.pdf").
TEST(DigestTest, Sha256MatchesFips180) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(kTwoBlocks),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(DigestTest, Sha1MatchesFips180) {
  EXPECT_EQ(Sha1Hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Sha1Hex(kTwoBlocks), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

// FIPS 180-4 example (NIST "SHA512.pdf").
TEST(DigestTest, Sha512MatchesFips180) {
  Digester digester(DigestAlgorithm::kSha512);
  digester.Update(AsBytes("abc"));
  EXPECT_EQ(HexEncode(AsBytes(digester.Finish())),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

// RFC 1321 section A.5.
TEST(DigestTest, Md5MatchesRfc1321) {
  EXPECT_EQ(Md5Hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

// Recorded S3 values of spec/protocol.md 6.3.
TEST(DigestTest, MatchesRecordedS3Values) {
  EXPECT_EQ(Base64Encode(Sha1(AsBytes("test data.."))), "B++3uSfJMSHWToQMQ1g6lIJY5Eo=");
  EXPECT_EQ(Base64Encode(Sha256(AsBytes("test data.."))),
            "2l26x0trnT0r2AvakoFk2MB7eKVKzYESLMxSAKAzoik=");
  EXPECT_EQ(Base64Encode(Md5(AsBytes("hello"))), "XUFAKrxLKna5cZ2REBfFkg==");
}

struct HmacVector {
  std::string key;
  std::string message;
  std::string_view expected_hex;
};

// RFC 4231 section 4, cases 1 to 4, 6 and 7 (5 is truncated).
// RFC 2202, cases 2, 3 and 6.
TEST(DigestTest, HmacSha1MatchesRfc2202) {
  EXPECT_EQ(HexEncode(HmacSha1(AsBytes(std::string_view("Jefe")),
                               AsBytes(std::string_view("what do ya want for nothing?")))),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  const std::string key(20, '\xaa');
  EXPECT_EQ(HexEncode(HmacSha1(AsBytes(key), AsBytes(std::string(50, '\xdd')))),
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3");
  const std::string long_key(80, '\xaa');
  EXPECT_EQ(
      HexEncode(HmacSha1(
          AsBytes(long_key),
          AsBytes(std::string_view("Test Using Larger Than Block-Size Key - Hash Key First")))),
      "aa4ae5e15272d00e95705637ce8a3b55ed402112");
  EXPECT_EQ(HexEncode(HmacSha1({}, {})), "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d");
}

TEST(DigestTest, HmacSha256MatchesRfc4231) {
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  const HmacVector vectors[] = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counting, std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The "
       "key needs to be hashed "
       "before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const HmacVector& vector : vectors) {
    EXPECT_EQ(HexEncode(HmacSha256(AsBytes(vector.key), AsBytes(vector.message))),
              vector.expected_hex)
        << vector.message;
  }
}

TEST(DigestTest, HmacTakesAnEmptyKeyAndMessage) {
  // Made with: openssl dgst -sha256 -mac HMAC -macopt hexkey:00 </dev/null (keys are padded with
  // zeros)
  EXPECT_EQ(HexEncode(HmacSha256({}, {})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(DigestTest, APreparedKeySignsManyMessages) {
  const std::string key(100, 'k');  // longer than a block: hashed first
  const HmacSha256Key prepared(AsBytes(key));
  for (const std::size_t size : {0, 1, 55, 56, 63, 64, 65, 1000}) {
    const std::string message(size, 'm');
    EXPECT_EQ(prepared.Sign(AsBytes(message)), HmacSha256(AsBytes(key), AsBytes(message))) << size;
  }
  EXPECT_EQ(prepared, HmacSha256Key(AsBytes(key)));
  EXPECT_NE(prepared, HmacSha256Key());
}

TEST(DigesterTest, PiecesGiveTheDigestOfTheWhole) {
  Digester digester(DigestAlgorithm::kSha256);
  digester.Update(AsBytes("a"));
  digester.Update({});
  digester.Update(AsBytes("bc"));
  EXPECT_EQ(digester.Finish(), AsText(Sha256(AsBytes("abc"))));
}

TEST(DigesterTest, FinishStartsOver) {
  for (const auto algorithm : {DigestAlgorithm::kSha256, DigestAlgorithm::kSha1,
                               DigestAlgorithm::kMd5, DigestAlgorithm::kSha512}) {
    Digester digester(algorithm);
    digester.Update(AsBytes("abc"));
    const std::string first = digester.Finish();
    EXPECT_NE(digester.Finish(), first) << "nothing was fed since";
    digester.Update(AsBytes("abc"));
    EXPECT_EQ(digester.Finish(), first);
  }
}

TEST(DigesterTest, SizesAreThoseOfTheAlgorithms) {
  EXPECT_EQ(Digester(DigestAlgorithm::kSha256).Finish().size(), 32U);
  EXPECT_EQ(Digester(DigestAlgorithm::kSha1).Finish().size(), 20U);
  EXPECT_EQ(Digester(DigestAlgorithm::kMd5).Finish().size(), 16U);
}

TEST(DigesterTest, MovesKeepTheState) {
  Digester first(DigestAlgorithm::kMd5);
  first.Update(AsBytes("message "));
  Digester second = std::move(first);
  second.Update(AsBytes("digest"));
  EXPECT_EQ(HexEncode(AsBytes(second.Finish())), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(DigestTest, ThreadsDoNotDisturbOneAnother) {
  std::vector<int> wrong(4, -1);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([t, &wrong] {
        const std::string text(t * 37, 'x');
        const Sha256Digest expected = Sha256(AsBytes(text));
        int differing = 0;
        for (int i = 0; i < 200; ++i) differing += Sha256(AsBytes(text)) != expected;
        wrong[t] = differing;
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(DigestTest, ConstantTimeEqualComparesContentAndLength) {
  EXPECT_TRUE(ConstantTimeEqual(AsBytes("abc"), AsBytes("abc")));
  EXPECT_TRUE(ConstantTimeEqual({}, {}));
  EXPECT_FALSE(ConstantTimeEqual(AsBytes("abc"), AsBytes("abd")));
  EXPECT_FALSE(ConstantTimeEqual(AsBytes("abc"), AsBytes("ab")));
}

TEST(DigestTest, RandomBytesFillAndDiffer) {
  std::array<std::byte, 32> first{};
  std::array<std::byte, 32> second{};
  RandomBytes(first);
  RandomBytes(second);
  RandomBytes({});
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace penstock
