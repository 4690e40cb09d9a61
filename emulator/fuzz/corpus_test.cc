// The fuzz properties on the seeds in corpus/ and on seeded mutations of them: the part of fuzzing that fits every test run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/fuzz/targets.h"

namespace penstock::emulator {
namespace {

constexpr std::uint32_t kSeed = 20260101;
constexpr int kRounds = 20'000;
constexpr std::size_t kLongestMutated = 4'096;

class Corpus : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  // Sorted by name, so that a seed means the same inputs everywhere.
  static std::vector<std::string> Seeds() {
    std::vector<std::filesystem::path> files;
    const auto folder = std::filesystem::path(PENSTOCK_FUZZ_CORPUS) / GetParam().name;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> seeds;
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return seeds;
  }
};

// Bytes that mean something to the parsers come up far more often than chance would have them.
char InterestingByte(std::mt19937& random) {
  using std::string_view_literals::operator""sv;  // keeps the NUL
  static constexpr std::string_view kBytes = "\r\n\r\n :;0fF/?#%\t\0\x7f\xff,=*-<>&\"'!["sv;
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
        if (!other.empty()) text.insert(at, other.substr(random() % other.size(), random() % 40));
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        break;
    }
  }
  return text;
}

TEST_P(Corpus, EverySeedKeepsTheProperty) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GE(seeds.size(), 3u) << "no seeds for " << GetParam().name;
  for (const std::string& seed : seeds) GetParam().check(seed);  // a broken property ends the program
}

TEST_P(Corpus, SoDoMutationsOfTheSeeds) {
  std::vector<std::string> seeds = Seeds();
  std::erase_if(seeds, [](const std::string& seed) { return seed.size() > kLongestMutated; });
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const std::string input = Mutate(seeds[random() % seeds.size()], seeds[random() % seeds.size()], random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    GetParam().check(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kFuzzTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace penstock::emulator
