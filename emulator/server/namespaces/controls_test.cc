#include "emulator/server/namespaces/controls.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "emulator/faults/documents/scenario_document.h"

namespace penstock::emulator::server {
namespace {

TEST(TestControlsTest, StartWithTheScenarioOfTheirOptions) {
  const FakeClock clock;
  TestControlOptions options;
  options.scenario = std::make_shared<const faults::Scenario>(
      faults::ParseScenario(R"({"name": "at start", "rules": [{"do": {"slow_down": {}}}]})")
          .value());
  EXPECT_EQ(TestControls::Open(options, clock).value()->faults().Account()->name, "at start");
  EXPECT_TRUE(TestControls::Open({}, clock).value()->faults().idle());
}

TEST(TestControlsTest, RejectAnInvalidScenario) {
  const FakeClock clock;
  faults::Scenario scenario;
  scenario.rules.push_back(faults::Rule{.id = "no action"});
  EXPECT_FALSE(
      TestControls::Open({.scenario = std::make_shared<const faults::Scenario>(scenario)}, clock)
          .ok());
}

TEST(TestControlsTest, HaveNoJournalIfItsSizeIsZero) {
  const FakeClock clock;
  EXPECT_NE(TestControls::Open({}, clock).value()->journal(), nullptr);
  EXPECT_EQ(TestControls::Open({.journal_bytes = 0}, clock).value()->journal(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::server
