#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "emulator/server/admin/schemas.h"
#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

class AdminSchemasTest : public testing::Test {
 protected:
  HttpResponse Get(const std::string& path) const {
    return Plain(emulator_->admin_endpoint(), "GET", "/_penstock/" + path);
  }
  static std::string BodyOf(const HttpResponse& response) {
    return response.text.substr(response.text.find("\r\n\r\n") + 4);
  }
  std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(AdminSchemasTest, ReturnsEachSchema) {
  for (const std::string name : {"faults", "limits", "users"}) {
    const HttpResponse response = Get("schemas/" + name);
    EXPECT_EQ(response.status, 200) << name;
    const auto schema = nlohmann::json::parse(BodyOf(response));
    EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema") << name;
  }
  EXPECT_EQ(Schemas().size(), 3u);
}

TEST_F(AdminSchemasTest, NamesTheSchemasThatExist) {
  const HttpResponse response = Get("schemas/buckets");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(nlohmann::json::parse(BodyOf(response)).at("error"),
            "unknown schema 'buckets'; existing schemas: faults, limits, users");
  EXPECT_EQ(Get("schemas").status, 404);
}

}  // namespace
}  // namespace penstock::emulator::server
