#include "emulator/s3/listing/list_query.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;

TEST(ListQueryTest, LimitsAreCappedAndChecked) {
  Harness s3;
  s3.Send("PUT /bucket");
  EXPECT_EQ(s3.Send("GET /bucket?list-type=2").Element("MaxKeys"), "1000");
  EXPECT_EQ(s3.Send("GET /bucket?list-type=2&max-keys=5000").Element("MaxKeys"), "1000");
  EXPECT_EQ(s3.Send("GET /bucket?list-type=2&max-keys=7").Element("MaxKeys"), "7");
  const auto negative = s3.Send("GET /bucket?list-type=2&max-keys=-1");
  EXPECT_EQ(negative.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(negative.Element("Message"),
            "Argument maxKeys must be an integer between 0 and 2147483647");
  EXPECT_EQ(negative.Element("ArgumentName"), "maxKeys");
  for (const char* bad : {"abc", "2147483648", "1.5"}) {
    const auto reply = s3.Send(std::string("GET /bucket?list-type=2&max-keys=") + bad);
    EXPECT_EQ(reply.Element("Message"), "Provided max-keys not an integer or within integer range")
        << bad;
    EXPECT_EQ(reply.Element("ArgumentName"), "max-keys") << bad;
  }
}

TEST(ListQueryTest, OnlyUrlEncodingIsAccepted) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* bad : {"", "xml", "URL"}) {
    const auto reply = s3.Send(std::string("GET /bucket?encoding-type=") + bad);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << bad;
    EXPECT_EQ(reply.Element("Message"), "Invalid Encoding Method specified in Request");
    EXPECT_EQ(reply.Element("ArgumentName"), "encoding-type");
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
