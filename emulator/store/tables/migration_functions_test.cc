#include "emulator/store/tables/migration_functions.h"

#include <gtest/gtest.h>

#include "emulator/store/records/codec.h"

namespace penstock::emulator::store {
namespace {

class MigrationFunctionsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(AddMigrationFunctions(*connection_).ok()); }
  // The result of `sql` with `packed` as its parameter.
  Result<std::string> Value(const char* sql, std::string_view packed) {
    Query query(*connection_, sql);
    PENSTOCK_TRY(query.BindBytes(packed).Step());
    return query.Text(0);
  }
  const std::unique_ptr<Connection> connection_ = Connection::Open(":memory:").value();
};

TEST_F(MigrationFunctionsTest, SeparateAttributes) {
  const std::string packed = EncodeAttributes({{"a", "1"}, {":x", "2"}, {"b", "3"}, {":y", "4"}});
  EXPECT_EQ(*Value("SELECT attribute_of(?, ':x')", packed), "2");
  EXPECT_EQ(*Value("SELECT attribute_of(?, ':z')", packed), "");
  EXPECT_EQ(DecodeAttributes(*Value("SELECT attributes_without(?, ':x', ':y')", packed)),
            (Attributes{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(*Value("SELECT attributes_without(?, 'a')", EncodeAttributes({{"a", "1"}})), "");
}

TEST_F(MigrationFunctionsTest, MoveTheInternalFlagOfParts) {
  // Part 7 of 5 bytes with ETag "e" and a checksum with version 3's "hidden:" prefix; the time is 9
  // ns.
  const std::string marked(
      "\x07\x05\x01"
      "e\x0Bhidden:c2Vj\x09",
      17);
  const auto parts = DecodeParts(*Value("SELECT parts_of_version_4(?)", marked));
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ((*parts)[0].number, 7);
  EXPECT_EQ((*parts)[0].checksum, "c2Vj");
  EXPECT_TRUE((*parts)[0].checksum_is_internal);
  EXPECT_EQ(ToNanoseconds((*parts)[0].last_modified), 9);
}

TEST_F(MigrationFunctionsTest, DamagedColumnsFailTheStatement) {
  EXPECT_FALSE(Value("SELECT attribute_of(?, 'a')", "\x09").ok());
  EXPECT_FALSE(Value("SELECT attributes_without(?, 'a')", "\x09").ok());
  EXPECT_FALSE(Value("SELECT parts_of_version_4(?)", "\x09").ok());
}

}  // namespace
}  // namespace penstock::emulator::store
