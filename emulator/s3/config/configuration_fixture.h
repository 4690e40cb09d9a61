// Test only: a bucket, and helpers that put a configuration and check the outcome.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_FIXTURE_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3::testing {

struct Refused {
  std::string_view document;
  std::string_view outcome;
  std::string_view message;  // Empty: not checked.
};

inline constexpr std::string_view kMalformed =
    "The XML you provided was not well-formed or did not validate against our published schema";

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() { s3_.Send("PUT /bucket"); }

  Reply Put(std::string_view selector, std::string_view document) {
    return s3_.SendDocument("PUT /bucket?" + std::string(selector), document);
  }
  Reply Get(std::string_view selector) { return s3_.Send("GET /bucket?" + std::string(selector)); }

  // Expects each case to be refused without a change of the sub-resource.
  template <std::size_t N>
  void ExpectRefused(std::string_view selector, const Refused (&cases)[N]) {
    const std::string before = Get(selector).body;
    for (const Refused& c : cases) {
      const Reply reply = Put(selector, c.document);
      EXPECT_EQ(reply.Outcome(), c.outcome) << c.document;
      if (!c.message.empty()) {
        EXPECT_EQ(reply.Element("Message"), c.message) << c.document;
      }
    }
    EXPECT_EQ(Get(selector).body, before);
  }

  Harness s3_;
};

}  // namespace penstock::emulator::s3::testing

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_FIXTURE_H_
