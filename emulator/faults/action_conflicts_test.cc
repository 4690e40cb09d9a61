#include "emulator/faults/action_conflicts.h"

#include <string>

#include "emulator/faults/documents/scenario_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

// Returns the problem of a rule with these actions. Empty: none.
std::string Problem(const std::string& actions) {
  const auto scenario = ParseScenario("[{\"id\": \"r\", \"do\": [" + actions + "]}]");
  return scenario.ok() ? std::string() : scenario.error().message;
}

TEST(ActionConflictsTest, OnlyOneActionReplacesTheResponse) {
  EXPECT_EQ(Problem(R"({"slow_down": {}}, {"error": {}})"),
            "rule 'r': its action 'error' cannot happen after its action 'slow_down', so the rule "
            "would never fire; put each action in its own rule");
  EXPECT_NE(Problem(R"({"error": {}}, {"redirect": {}})").find("its action 'error' cannot"),
            std::string::npos)
      << "a redirect happens first";
  for (const char* const actions : {R"({"error": {}}, {"reset": {}, "at": "after_commit"})",
                                    R"({"credentials": {}}, {"late_error": {}})",
                                    R"({"expect_100": {"mode": "refuse"}}, {"error": {}})",
                                    R"({"error": {}}, {"error": {}, "at": "after_commit"})"}) {
    EXPECT_NE(Problem(actions).find(" cannot happen after "), std::string::npos)
        << actions << ": " << Problem(actions);
  }
}

TEST(ActionConflictsTest, RejectsActionsAfterTheEndOfTheResponse) {
  for (
      const char* const actions :
      {R"({"reset": {}, "at": "headers"}, {"stall": {"ms": 5}, "at": "body_out@3"})",
       R"({"corrupt": {}, "at": "body_out@7"}, {"truncate": {"mode": "fin"}, "at": "body_out@4"})",
       R"({"corrupt": {}, "at": "body_out@4"}, {"truncate": {"mode": "no-terminator"}, "at": "body_out@4"})",
       R"({"truncate": {"mode": "no-terminator"}, "at": "body_out@4"}, {"stall": {"ms": 5}, "at": "close"})",
       R"({"black_hole": {"ms": 5}, "at": "status"}, {"latency": {"ms": 5}}, {"stall": {"ms": 1}, "at": "close"})",
       R"({"slow_down": {}}, {"stall": {"ms": 5}, "at": "body_in"})",
       R"({"duplicate_apply": {}}, {"error": {}, "at": "headers"})",
       R"({"duplicate_apply": {}}, {"error": {}})",
       R"({"reset": {}, "at": "accept"}, {"goaway": {"requests": 1}})"}) {
    EXPECT_NE(Problem(actions).find(" cannot happen after "), std::string::npos)
        << actions << ": " << Problem(actions);
  }
}

TEST(ActionConflictsTest, ActionsThatShapeResponsesApplyToErrors) {
  for (
      const char* const actions :
      {R"({"slow_down": {}}, {"header_lie": {"set": {"a": "b"}}}, {"stall": {"ms": 2}, "at": "close"})",
       R"({"stall": {"ms": 5}, "at": "headers"}, {"error": {}})",
       R"({"error": {}}, {"truncate": {}, "at": "body_out@4"})",
       R"({"error": {}}, {"latency": {"ms": 3}}, {"reset": {}, "at": "body_out@9"})",
       R"({"truncate": {"mode": "fin"}, "at": "body_out@4"}, {"corrupt": {}, "at": "body_out@3"})",
       R"({"truncate": {"mode": "length-lie"}, "at": "body_out@4"}, {"stall": {"ms": 5}, "at": "close"})",
       R"({"duplicate_apply": {}}, {"reset": {}, "at": "after_commit"})",
       R"({"expect_100": {"mode": "late", "ms": 4}}, {"error": {}})"}) {
    EXPECT_EQ(Problem(actions), "") << actions;
  }
}

}  // namespace
}  // namespace penstock::emulator::faults
