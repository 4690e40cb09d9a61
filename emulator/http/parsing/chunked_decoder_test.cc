#include "emulator/http/parsing/chunked_decoder.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using Trailers = std::vector<std::pair<std::string, std::string>>;

struct Decoded {
  std::string body;
  Trailers trailers;
  std::size_t used = 0;
  bool done = false;
  bool failed = false;
};

// Passes `input` to a decoder in pieces of `step` bytes.
Decoded Decode(std::string_view input, std::size_t step) {
  ChunkedDecoder decoder;
  Decoded decoded;
  std::size_t shown = 0;
  while (!decoder.done() && shown < input.size()) {
    shown = std::min(shown + step, input.size());
    while (decoded.used < shown && !decoder.done()) {
      const std::string_view rest = input.substr(decoded.used, shown - decoded.used);
      if (decoder.data_left() > 0) {
        const std::size_t count = std::min<std::uint64_t>(rest.size(), decoder.data_left());
        decoded.body.append(rest.substr(0, count));
        decoder.TakeData(count);
        decoded.used += count;
        continue;
      }
      const Result<std::size_t> used = decoder.Advance(rest);
      if (!used.ok()) {
        EXPECT_EQ(used.error().code, "IncompleteBody");
        decoded.failed = true;
        return decoded;
      }
      decoded.used += *used;
    }
  }
  decoded.done = decoder.done();
  decoded.trailers = decoder.trailers();
  return decoded;
}

TEST(ChunkedDecoder, DecodesPiecesOfAnySize) {
  const std::string input =
      "5\r\nhello\r\n0A ;ext=\"v\"\r\n, chunked!\r\n0\r\nX-Amz-Checksum-CRC32:  NhCmhg== "
      "\r\nB:\r\n\r\nGET /";
  for (std::size_t step = 1; step <= input.size(); ++step) {
    const Decoded decoded = Decode(input, step);
    EXPECT_EQ(decoded.body, "hello, chunked!") << step;
    EXPECT_TRUE(decoded.done) << step;
    EXPECT_EQ(decoded.trailers, (Trailers{{"x-amz-checksum-crc32", "NhCmhg=="}, {"b", ""}}))
        << step;
    EXPECT_EQ(decoded.used, input.size() - 5) << step;
  }
}

TEST(ChunkedDecoder, DecodesAnEmptyBody) {
  const Decoded decoded = Decode("0\r\n\r\n", 100);
  EXPECT_TRUE(decoded.done);
  EXPECT_EQ(decoded.body, "");
}

TEST(ChunkedDecoder, RefusesBrokenFraming) {
  for (const std::string input : {"\r\n",
                                  "x\r\n",
                                  "-1\r\n",
                                  "0x5\r\n",
                                  "5 5\r\n",
                                  "5\nhello",
                                  "5 \nhello\r\n0\r\n\r\n",
                                  "0\r\na: bc\n\r\n",
                                  "5\r\nhelloX\r\n",
                                  "5\r\nhello\n0\r\n\r\n",
                                  "5;\x01\r\n",
                                  "10000000000000000\r\n",
                                  "4000000000000000\r\n",
                                  "fffffffffffffffff\r\n",
                                  "0\r\nno colon\r\n\r\n",
                                  "0\r\n folded: x\r\n\r\n",
                                  "0\r\na: \x02\r\n\r\n",
                                  "0\r\nContent-Length: 3\r\n\r\n",
                                  "0\r\nhost: x\r\n\r\n",
                                  "0\r\n\n"}) {
    EXPECT_TRUE(Decode(input, 1).failed) << input;
    EXPECT_TRUE(Decode(input, 1000).failed) << input;
  }
}

TEST(ChunkedDecoder, EnforcesItsLimits) {
  EXPECT_TRUE(Decode(std::string(ChunkedDecoder::kMaxLineBytes + 1, '1'), 1000).failed);
  EXPECT_TRUE(Decode("5;" + std::string(ChunkedDecoder::kMaxLineBytes, 'e') + "\r\n", 1).failed);
  std::string many = "0\r\n";
  for (std::size_t i = 0; i <= ChunkedDecoder::kMaxTrailers; ++i) many += "a: b\r\n";
  EXPECT_TRUE(Decode(many, 1000).failed);
  std::string large = "0\r\n";
  for (int i = 0; i < 5; ++i) large += "a: " + std::string(4000, 'v') + "\r\n";
  EXPECT_TRUE(Decode(large, 1000).failed);
}

TEST(ChunkedDecoder, IsNotDoneBeforeTheEndOfTheBody) {
  EXPECT_FALSE(Decode("5\r\nhello\r\n0\r\n", 100).done);
  EXPECT_FALSE(Decode("5\r\nhel", 100).done);
}

}  // namespace
}  // namespace penstock::emulator::http
