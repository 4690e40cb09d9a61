#include "emulator/traffic/limits/limits_document.h"

#include <gtest/gtest.h>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::traffic {
namespace {

Result<Limits> Read(std::string_view text) {
  const Json json = ParseJson(text).value();
  const JsonFields fields =
      JsonFields::Read(json, "here",
                       {"reads_per_second", "writes_per_second", "burst_ms", "split_after_s",
                        "merge_after_s", "max_partitions", "other"})
          .value();
  Limits limits;
  PENSTOCK_TRY(ReadLimits(fields, limits));
  EXPECT_EQ(HasLimits(fields), text.find("other") == std::string_view::npos);
  return limits;
}

TEST(LimitsDocumentTest, ReadsEveryMember) {
  const Limits limits =
      Read(R"({"reads_per_second": 7, "writes_per_second": 3, "burst_ms": 250, "split_after_s": 1.5,
                                 "merge_after_s": 60, "max_partitions": 9})")
          .value();
  EXPECT_EQ(limits, (Limits{.reads_per_second = 7,
                            .writes_per_second = 3,
                            .burst = std::chrono::milliseconds(250),
                            .split_after = std::chrono::milliseconds(1'500),
                            .merge_after = std::chrono::seconds(60),
                            .max_partitions = 9}));
}

TEST(LimitsDocumentTest, KeepsValuesOfAbsentMembers) {
  EXPECT_EQ(Read(R"({"other": 1})").value(), Limits{});
}

TEST(LimitsDocumentTest, ErrorsNameTheMember) {
  const auto none = Read(R"({"reads_per_second": 0})");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("here"), std::string::npos) << none.error().message;
  EXPECT_NE(none.error().message.find("reads_per_second"), std::string::npos)
      << none.error().message;
  EXPECT_FALSE(Read(R"({"max_partitions": 4294967297})").ok());
  EXPECT_FALSE(Read(R"({"burst_ms": 9000000000000000})").ok());
  EXPECT_FALSE(Read(R"({"split_after_s": -1})").ok());
  EXPECT_EQ(Read(R"({"writes_per_second": 1e30})").error().message,
            "here.writes_per_second: must be at most 4000000000, not 1e+30");
}

}  // namespace
}  // namespace penstock::emulator::traffic
