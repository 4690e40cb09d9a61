// Runs fuzz properties in a plain test: seed files from a folder, and seeded mutations of them.
#ifndef PENSTOCK_BASE_TESTING_CORPUS_H_
#define PENSTOCK_BASE_TESTING_CORPUS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::testing_corpus {

inline constexpr std::uint32_t kSeed = 20260101;
inline constexpr int kRounds = 20'000;
inline constexpr std::size_t kLongestMutated = 4'096;

// Returns the contents of the files of a folder, sorted by name, so that a seed gives the same
// inputs on every machine.
inline std::vector<std::string> SeedsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

// Bytes that are meaningful to the parsers, which random bytes would rarely contain.
inline char InterestingByte(std::mt19937& random) {
  using std::string_view_literals::operator""sv;  // keeps the NUL
  static constexpr std::string_view kBytes = "\r\n\r\n :;0fF/?#%\t\0\x7f\xff,=*-<>&\"'!["sv;
  return kBytes[random() % kBytes.size()];
}

inline std::string Mutate(std::string text, std::string_view other, std::mt19937& random) {
  const int changes = 1 + static_cast<int>(random() % 6);
  for (int i = 0; i < changes; ++i) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 5) {
      case 0:
        if (!text.empty()) text[at] = InterestingByte(random);
        break;
      case 1: text.insert(at, 1, InterestingByte(random)); break;
      case 2: text.erase(at, 1 + random() % 4); break;
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

// Checks the seeds and their mutations. `check` aborts the program if its property does not hold.
inline void CheckSeeds(const std::vector<std::string>& seeds,
                       const std::function<void(std::string_view)>& check) {
  ASSERT_GE(seeds.size(), 3u) << "too few seeds";
  for (const std::string& seed : seeds) check(seed);
}

inline void CheckMutations(std::vector<std::string> seeds,
                           const std::function<void(std::string_view)>& check) {
  std::erase_if(seeds, [](const std::string& seed) { return seed.size() > kLongestMutated; });
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const std::string input =
        Mutate(seeds[random() % seeds.size()], seeds[random() % seeds.size()], random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    check(input);
  }
}

// Tests of one table of targets. Each target has a `name`, which is its folder under `corpus`, and
// a `check`.
template <class Target>
class Corpus : public ::testing::TestWithParam<Target> {
 protected:
  static std::vector<std::string> Seeds(const std::filesystem::path& corpus) {
    return SeedsIn(corpus / Corpus::GetParam().name);
  }
};

template <class Target>
std::string NameOf(const ::testing::TestParamInfo<Target>& target) {
  return std::string(target.param.name);
}

}  // namespace penstock::testing_corpus

#endif  // PENSTOCK_BASE_TESTING_CORPUS_H_
