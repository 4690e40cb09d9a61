// The fuzz properties on seeded mutations of real messages: the part of fuzzing that fits every test run.
#include <array>
#include <random>
#include <string>
#include <string_view>

#include "emulator/http/fuzz/properties.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

constexpr std::uint32_t kSeed = 20260101;
constexpr int kRounds = 20'000;

// Bytes that mean something to the parsers come up far more often than chance would have them.
char InterestingByte(std::mt19937& random) {
  using std::string_view_literals::operator""sv;  // keeps the NUL
  static constexpr std::string_view kBytes = "\r\n\r\n :;0fF/?#%\t\0\x7f\xff,=*"sv;
  return kBytes[random() % kBytes.size()];
}

std::string Mutate(std::string text, std::string_view other, std::mt19937& random) {
  const int changes = 1 + static_cast<int>(random() % 6);
  for (int i = 0; i < changes; ++i) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 5) {
      case 0:
        if (!text.empty()) text[at] = InterestingByte(random);
        break;
      case 1:
        text.insert(at, 1, InterestingByte(random));
        break;
      case 2:
        text.erase(at, 1 + random() % 4);
        break;
      case 3:
        text.insert(at, other.substr(random() % other.size(), random() % 40));
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        break;
    }
  }
  return text;
}

template <std::size_t kCount, class Property>
void RunMutations(const std::array<std::string_view, kCount>& seeds, Property property) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const std::string input = Mutate(std::string(seeds[random() % kCount]), seeds[random() % kCount], random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    property(input);
  }
}

TEST(Mutations, HeadsParseOrAreRefusedTheSameInAnyPieces) {
  const std::array<std::string_view, 4> seeds = {
      "GET /bucket/key?list-type=2&prefix=a%2Fb HTTP/1.1\r\nHost: h:9000\r\nx-amz-date: 20130524T000000Z\r\nRange: bytes=0-9\r\n\r\n",
      "PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\nExpect: 100-continue\r\nConnection: keep-alive, x\r\n\r\nbody",
      "POST http://b.localhost/k?uploads HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
      "DELETE / HTTP/1.1\r\n\r\n"};
  RunMutations(seeds, [](std::string_view input) { CheckHead(input); });
  SUCCEED();  // a broken property ends the program
}

TEST(Mutations, ChunksDecodeTheSameInAnyPieces) {
  const std::array<std::string_view, 3> seeds = {"5\r\nhello\r\n0\r\n\r\n", "a;name=\"v\"\r\n0123456789\r\n1\r\nx\r\n0\r\nX-A: b\r\nx-c: d\r\n\r\n",
                                                 "0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\nGET / HTTP/1.1\r\n"};
  RunMutations(seeds, [](std::string_view input) { CheckChunks(input); });
  SUCCEED();
}

}  // namespace
}  // namespace penstock::emulator::http
