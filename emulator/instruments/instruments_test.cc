#include "emulator/instruments/instruments.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "emulator/faults/documents/scenario_document.h"

namespace penstock::emulator::instruments {
namespace {

TEST(InstrumentsTest, StartWithTheScenarioOfTheirOptions) {
  const FakeClock clock;
  InstrumentOptions options;
  options.scenario =
      faults::ParseScenario(R"({"name": "at start", "rules": [{"do": {"slow_down": {}}}]})")
          .value();
  EXPECT_EQ(Instruments::Open(options, clock).value()->faults().Account()->name, "at start");
  EXPECT_TRUE(Instruments::Open({}, clock).value()->faults().idle());
}

TEST(InstrumentsTest, RejectAnInvalidScenario) {
  const FakeClock clock;
  EXPECT_FALSE(Instruments::Open(
                   {.scenario = faults::Scenario{.rules = {faults::Rule{.id = "no deed"}}}}, clock)
                   .ok());
}

TEST(InstrumentsTest, HaveNoJournalIfItsSizeIsZero) {
  const FakeClock clock;
  EXPECT_NE(Instruments::Open({}, clock).value()->journal(), nullptr);
  EXPECT_EQ(Instruments::Open({.journal_bytes = 0}, clock).value()->journal(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::instruments
