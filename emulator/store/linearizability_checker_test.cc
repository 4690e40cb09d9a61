// Tests of the checker itself, on histories with known results.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "emulator/store/linearizability_testing.h"

namespace penstock::emulator::store::testing {
namespace {

// Two registers that are written and read. A scan reads both atomically.
struct Registers {
  struct State {
    std::array<int, 2> values{};
    bool operator==(const State&) const = default;
    std::size_t Hash() const { return static_cast<std::size_t>(values[0] * 1009 + values[1]); }
  };
  struct Operation {
    enum class Kind { kWrite, kRead, kScan } kind;
    std::size_t at = 0;
    int value = 0;
    std::array<int, 2> scanned{};
  };
  static bool Apply(State& state, const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kWrite: state.values[operation.at] = operation.value; return true;
      case Operation::Kind::kRead: return state.values[operation.at] == operation.value;
      case Operation::Kind::kScan: return state.values == operation.scanned;
    }
    return false;
  }
  static std::string Describe(const Operation& operation) {
    return "operation " + std::to_string(static_cast<int>(operation.kind)) + " of value " +
           std::to_string(operation.value);
  }
  static std::string DescribeState(const State& state) {
    return std::to_string(state.values[0]) + ", " + std::to_string(state.values[1]);
  }
};

using Checker = LinearizabilityChecker<Registers>;
using Record = Recorded<Registers::Operation>;

Record Write(std::uint64_t called, std::uint64_t returned, std::size_t at, int value) {
  return {{Registers::Operation::Kind::kWrite, at, value, {}}, called, returned};
}
Record Read(std::uint64_t called, std::uint64_t returned, std::size_t at, int value) {
  return {{Registers::Operation::Kind::kRead, at, value, {}}, called, returned};
}
Record Scan(std::uint64_t called, std::uint64_t returned, int first, int second) {
  return {{Registers::Operation::Kind::kScan, 0, 0, {first, second}}, called, returned};
}
Record OutcomeUnknown(Record record) {
  record.outcome_known = false;
  return record;
}
bool Linearizable(const Checker::History& history) { return !Checker().Check(history).has_value(); }

TEST(LinearizabilityChecker, AcceptsSequentialOperations) {
  EXPECT_TRUE(
      Linearizable({Write(1, 2, 0, 7), Read(3, 4, 0, 7), Write(5, 6, 0, 8), Read(7, 8, 0, 8)}));
}

TEST(LinearizabilityChecker, RejectsAReadOfAnOverwrittenValue) {
  EXPECT_FALSE(Linearizable({Write(1, 2, 0, 7), Write(3, 4, 0, 8), Read(5, 6, 0, 7)}));
}

TEST(LinearizabilityChecker, RejectsAValueThatWasNeverWritten) {
  EXPECT_FALSE(Linearizable({Read(1, 2, 0, 7)}));
}

TEST(LinearizabilityChecker, AcceptsEitherValueWhileTheWriteIsInProgress) {
  EXPECT_TRUE(Linearizable({Write(1, 6, 0, 7), Read(2, 3, 0, 0), Read(4, 5, 0, 7)}));
}

TEST(LinearizabilityChecker, RejectsTheOldValueAfterTheNewValueWasRead) {
  EXPECT_FALSE(Linearizable({Write(1, 6, 0, 7), Read(2, 3, 0, 7), Read(4, 5, 0, 0)}));
}

TEST(LinearizabilityChecker, AcceptsConcurrentWritesInTheOrderOfTheReads) {
  EXPECT_TRUE(
      Linearizable({Write(1, 10, 0, 7), Write(2, 9, 0, 8), Read(3, 4, 0, 8), Read(5, 6, 0, 7)}));
  EXPECT_FALSE(Linearizable({Write(1, 10, 0, 7), Write(2, 9, 0, 8), Read(3, 4, 0, 8),
                             Read(5, 6, 0, 7), Read(7, 8, 0, 8)}));
}

TEST(LinearizabilityChecker, RejectsAReadThatIsOlderThanAnEarlierScan) {
  EXPECT_FALSE(Linearizable({Write(1, 6, 0, 7), Scan(2, 3, 7, 0), Read(4, 5, 0, 0)}));
  EXPECT_TRUE(Linearizable({Write(1, 6, 0, 7), Scan(2, 3, 0, 0), Read(4, 5, 0, 7)}));
}

TEST(LinearizabilityChecker, RejectsScansThatSeeWritesInOppositeOrders) {
  // Each key alone is linearizable, and so is each scan, but not all together.
  EXPECT_FALSE(
      Linearizable({Write(1, 20, 0, 7), Write(2, 19, 1, 8), Scan(3, 18, 7, 0), Scan(4, 17, 0, 8)}));
  EXPECT_TRUE(
      Linearizable({Write(1, 20, 0, 7), Write(2, 19, 1, 8), Scan(3, 18, 7, 0), Scan(4, 17, 7, 8)}));
}

TEST(LinearizabilityChecker, RejectsAScanOfStatesThatNeverCoexisted) {
  EXPECT_FALSE(Linearizable({Scan(1, 10, 0, 8), Write(2, 3, 0, 7), Write(4, 5, 1, 8)}));
  EXPECT_TRUE(Linearizable({Scan(1, 10, 7, 0), Write(2, 3, 0, 7), Write(4, 5, 1, 8)}));
}

TEST(LinearizabilityChecker, AcceptsAWriteOfUnknownOutcomeEitherWay) {
  EXPECT_TRUE(
      Linearizable({OutcomeUnknown(Write(1, 4, 0, 7)), Read(2, 3, 0, 0), Read(5, 6, 0, 0)}));
  EXPECT_TRUE(
      Linearizable({OutcomeUnknown(Write(1, 4, 0, 7)), Read(2, 3, 0, 0), Read(5, 6, 0, 7)}));
  EXPECT_FALSE(
      Linearizable({OutcomeUnknown(Write(1, 4, 0, 7)), Read(5, 6, 0, 7), Read(7, 8, 0, 0)}));
}

TEST(LinearizabilityChecker, ContinuesFromEarlierHistories) {
  Checker checker;
  ASSERT_FALSE(checker.Check({Write(1, 4, 0, 7), Write(2, 3, 0, 8)}).has_value());
  EXPECT_EQ(checker.configurations(), 2U);  // either write can be the last
  ASSERT_FALSE(checker.Check({Read(5, 6, 0, 7)}).has_value());
  EXPECT_EQ(checker.configurations(), 1U);
  EXPECT_TRUE(checker.Check({Read(7, 8, 0, 8)}).has_value());
}

TEST(LinearizabilityChecker, NamesTheOperationThatCannotBeExplained) {
  const auto problem = Checker().Check({Write(1, 2, 0, 7), Read(3, 4, 0, 9)});
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find("operation 1 of value 9 (ticks 3 to 4)"), std::string::npos) << *problem;
}

}  // namespace
}  // namespace penstock::emulator::store::testing
