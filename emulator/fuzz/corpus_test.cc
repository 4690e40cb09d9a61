// Checks the fuzz properties on the seeds in corpus/ and on pseudo-random mutations of them, fast
// enough for every test run.
#include "base/testing/corpus.h"
#include "emulator/fuzz/targets.h"

namespace penstock::emulator {
namespace {

class Corpus : public testing_corpus::Corpus<FuzzTarget> {};

TEST_P(Corpus, SeedsKeepTheProperty) {
  testing_corpus::CheckSeeds(Seeds(PENSTOCK_FUZZ_CORPUS), GetParam().check);
}

TEST_P(Corpus, MutationsOfSeedsKeepTheProperty) {
  testing_corpus::CheckMutations(Seeds(PENSTOCK_FUZZ_CORPUS), GetParam().check);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kFuzzTargets),
                         testing_corpus::NameOf<FuzzTarget>);

}  // namespace
}  // namespace penstock::emulator
