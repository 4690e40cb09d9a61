#include "emulator/store/sqlite/damage_record.h"

#include <gtest/gtest.h>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

TEST(DamageRecord, CountsEachNumberOnce) {
  DamageRecord damage("file", "page");
  const std::uint64_t counted = DiagnosticCounts()["database.page_damaged"];
  damage.Add(7, 24'576);
  damage.Add(3, 8'192);
  damage.Add(7, 24'576);
  EXPECT_EQ(damage.numbers(), (std::vector<std::uint32_t>{3, 7}));
  EXPECT_EQ(DiagnosticCounts()["database.page_damaged"], counted + 2);
  damage.Clear();
  EXPECT_TRUE(damage.numbers().empty());
  damage.Add(7, 24'576);
  EXPECT_EQ(DiagnosticCounts()["database.page_damaged"], counted + 3);
}

}  // namespace
}  // namespace penstock::emulator::store
