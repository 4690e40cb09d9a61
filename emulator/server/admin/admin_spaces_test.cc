#include <gtest/gtest.h>

#include <set>

#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

TEST(AdminSpacesTest, DefaultsToTheDefaultNamespace) {
  EXPECT_EQ(AdminCall{}.space(), "default");
  EXPECT_EQ(AdminCall{.name = "ann"}.space(), "ann");
}

TEST(AdminSpacesTest, ParameterReturnsTheFirstValue) {
  const AdminCall call{.query = {{"limit", "5"}, {"limit", "6"}, {"empty", ""}}};
  EXPECT_EQ(call.Parameter("limit"), "5");
  EXPECT_EQ(call.Parameter("empty"), "");
  EXPECT_EQ(call.Parameter("other"), "");
}

TEST(AdminSpacesTest, RoutesAreUnique) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const AdminRoute& route : SpaceRoutes()) {
    EXPECT_TRUE(seen.emplace(route.path, route.method).second) << route.method << " " << route.path;
  }
  EXPECT_EQ(seen.size(), 18u);
}

}  // namespace
}  // namespace penstock::emulator::server
