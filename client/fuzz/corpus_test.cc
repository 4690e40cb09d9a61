// Checks the fuzz properties on the seeds in corpus/ and on seeded mutations of them. This part of
// fuzzing is fast enough for every test run.
#include "base/testing/corpus.h"
#include "client/fuzz/targets.h"

namespace penstock {
namespace {

class Corpus : public testing_corpus::Corpus<FuzzTarget> {};

TEST_P(Corpus, SeedsSatisfyTheProperty) {
  testing_corpus::CheckSeeds(Seeds(PENSTOCK_FUZZ_CORPUS), GetParam().check);
}

TEST_P(Corpus, MutationsOfSeedsSatisfyTheProperty) {
  testing_corpus::CheckMutations(Seeds(PENSTOCK_FUZZ_CORPUS), GetParam().check);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kFuzzTargets),
                         testing_corpus::NameOf<FuzzTarget>);

}  // namespace
}  // namespace penstock
