#include "emulator/s3/core/restore_state.h"

#include <gtest/gtest.h>

#include <chrono>

namespace penstock::emulator::s3 {
namespace {

WallTime At(int seconds) { return WallTime(std::chrono::seconds(seconds)); }

TEST(RestoreStateTest, AStoredRestoreIsReadBack) {
  store::Attributes attributes = {{"Content-Type", "text/plain"}};
  EXPECT_FALSE(StoredRestore(attributes));
  ReplaceRestore(Restore{At(100), At(200), 3, "Bulk", true}, attributes);
  const auto restore = StoredRestore(attributes);
  ASSERT_TRUE(restore);
  EXPECT_EQ(restore->ready, At(100));
  EXPECT_EQ(restore->expiry, At(200));
  EXPECT_EQ(restore->days, 3);
  EXPECT_EQ(restore->tier, "Bulk");
  EXPECT_TRUE(restore->completed);
  ReplaceRestore(std::nullopt, attributes);
  EXPECT_EQ(attributes.size(), 1u);
}

TEST(RestoreStateTest, DamagedAttributesAreNoRestore) {
  for (const char* text : {"", "1 2 3 Bulk", "x 2 3 Bulk 0", "1 2 3 Bulk 0 1"}) {
    EXPECT_FALSE(StoredRestore({{std::string(kRestoreAttribute), text}})) << text;
  }
}

TEST(RestoreStateTest, ACopyIsReadableFromItsCompletionToItsExpiry) {
  store::ObjectRecord object;
  object.storage_class = "GLACIER";
  EXPECT_FALSE(IsReadable(object, At(150)));
  ReplaceRestore(Restore{At(100), At(200), 1, "Standard"}, object.attributes);
  EXPECT_FALSE(IsReadable(object, At(99)));
  EXPECT_TRUE(IsReadable(object, At(100)));
  EXPECT_FALSE(IsReadable(object, At(200)));
  object.storage_class = "GLACIER_IR";
  EXPECT_TRUE(IsReadable(object, At(99)));
}

TEST(RestoreStateTest, TheHeaderShowsTheState) {
  store::ObjectRecord object;
  object.storage_class = "DEEP_ARCHIVE";
  ReplaceRestore(Restore{At(100), At(86'400), 1, "Standard"}, object.attributes);
  const auto header = [&](int seconds) {
    message::Response response;
    AddRestoreHeader(response, object, At(seconds));
    return response.headers.empty() ? "" : response.headers.front().second;
  };
  EXPECT_EQ(header(99), "ongoing-request=\"true\"");
  EXPECT_EQ(header(100),
            "ongoing-request=\"false\", expiry-date=\"Fri, 02 Jan 1970 00:00:00 GMT\"");
  EXPECT_EQ(header(86'400), "");
}

}  // namespace
}  // namespace penstock::emulator::s3
