// The fuzz properties on the seeds in corpus/ and on seeded mutations of them: the part of fuzzing that fits every test run.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing_corpus.h"
#include "client/fuzz/targets.h"

namespace penstock {
namespace {

class Corpus : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  static std::vector<std::string> Seeds() {
    return testing_corpus::SeedsIn(std::filesystem::path(PENSTOCK_FUZZ_CORPUS) / GetParam().name);
  }
};

TEST_P(Corpus, EverySeedKeepsTheProperty) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GE(seeds.size(), 3u) << "no seeds for " << GetParam().name;
  for (const std::string& seed : seeds) GetParam().check(seed);  // a broken property ends the program
}

TEST_P(Corpus, SoDoMutationsOfTheSeeds) { testing_corpus::CheckMutations(Seeds(), GetParam().check); }

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kFuzzTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace penstock
