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
  // Recorded against Amazon S3: listings return the limit as sent, uploads return the cap.
  EXPECT_EQ(s3.Send("GET /bucket?list-type=2&max-keys=5000").Element("MaxKeys"), "5000");
  EXPECT_EQ(s3.Send("GET /bucket?max-keys=1001").Element("MaxKeys"), "1001");
  EXPECT_EQ(s3.Send("GET /bucket?versions&max-keys=1001").Element("MaxKeys"), "1001");
  EXPECT_EQ(s3.Send("GET /bucket?uploads&max-uploads=2000").Element("MaxUploads"), "1000");
  EXPECT_EQ(s3.Send("GET /bucket?max-keys=-0").Element("MaxKeys"), "0");
  EXPECT_EQ(s3.Send("GET /bucket?list-type=2&max-keys=7").Element("MaxKeys"), "7");
  const auto negative = s3.Send("GET /bucket?list-type=2&max-keys=-1");
  EXPECT_EQ(negative.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(negative.Element("Message"),
            "Argument maxKeys must be an integer between 0 and 2147483647");
  EXPECT_EQ(negative.Element("ArgumentName"), "maxKeys");
  EXPECT_EQ(s3.Send("GET /bucket?max-keys=-01").Element("ArgumentValue"), "-1");
  EXPECT_EQ(s3.Send("GET /bucket?max-keys=-2147483648").Element("ArgumentName"), "maxKeys");
  for (const char* bad : {"abc", "2147483648", "-2147483649", "1.5", "%2B5", "%205"}) {
    const auto reply = s3.Send(std::string("GET /bucket?list-type=2&max-keys=") + bad);
    EXPECT_EQ(reply.Element("Message"), "Provided max-keys not an integer or within integer range")
        << bad;
    EXPECT_EQ(reply.Element("ArgumentName"), "max-keys") << bad;
  }
}

// Recorded against Amazon S3, for buckets that do not exist.
TEST(ListQueryTest, ParametersAreParsedBeforeTheBucketIsSought) {
  Harness s3;
  struct Case {
    const char* query;
    const char* message;
    const char* name;
  };
  const Case cases[] = {
      {"max-keys=abc", "Provided max-keys not an integer or within integer range", "max-keys"},
      {"start-after=x&max-keys=abc", "Provided max-keys not an integer or within integer range",
       "max-keys"},
      {"versions&max-keys=abc", "Provided max-keys not an integer or within integer range",
       "max-keys"},
      {"uploads&max-uploads=abc", "Provided max-uploads not an integer or within integer range",
       "max-uploads"},
      {"continuation-token=",
       "continuation-token only supported in REST.GET.BUCKET with "
       "list-type=2",
       "continuation-token"},
      {"start-after=", "startAfter only supported in REST.GET.BUCKET with list-type=2",
       "start-after"},
      {"list-type=2&marker=", "Marker unsupported with REST.GET.BUCKET in list-type=2", "marker"},
      {"versions&version-id-marker=",
       "A version-id marker cannot be specified without a key "
       "marker.",
       "version-id-marker"},
      {"versions&key-marker=&version-id-marker=", "A version-id marker cannot be empty.",
       "version-id-marker"},
  };
  for (const Case& c : cases) {
    const auto reply = s3.Send(std::string("GET /missing?") + c.query);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << c.query;
    EXPECT_EQ(reply.Element("Message"), c.message) << c.query;
    EXPECT_EQ(reply.Element("ArgumentName"), c.name) << c.query;
  }
  EXPECT_EQ(s3.Send("GET /missing/k?uploadId=x&max-parts=abc").Outcome(), "400 InvalidArgument");
  for (const char* later : {"max-keys=-1", "encoding-type=x", "list-type=2&continuation-token=x",
                            "uploads&max-uploads=-1", "versions&key-marker=&version-id-marker=x"})
    EXPECT_EQ(s3.Send(std::string("GET /missing?") + later).Outcome(), "404 NoSuchBucket") << later;
}

// Recorded against Amazon S3.
TEST(ListQueryTest, TheRangeOfALimitIsCheckedAfterEncodingAndToken) {
  Harness s3;
  s3.Send("PUT /bucket");
  const auto name = [&](const char* query) {
    return s3.Send(std::string("GET /bucket?") + query).Element("ArgumentName");
  };
  EXPECT_EQ(name("list-type=2&continuation-token=x&encoding-type=x"), "encoding-type");
  EXPECT_EQ(name("list-type=2&continuation-token=x&max-keys=-1"), "continuation-token");
  EXPECT_EQ(name("max-keys=-1&encoding-type=x"), "encoding-type");
}

TEST(ListQueryTest, OnlyUrlEncodingIsAccepted) {
  Harness s3;
  s3.Send("PUT /bucket");
  EXPECT_EQ(s3.Send("GET /bucket?encoding-type=URL").Element("EncodingType"), "URL");
  for (const char* bad : {"", "xml"}) {
    const auto reply = s3.Send(std::string("GET /bucket?encoding-type=") + bad);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << bad;
    EXPECT_EQ(reply.Element("Message"), "Invalid Encoding Method specified in Request");
    EXPECT_EQ(reply.Element("ArgumentName"), "encoding-type");
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
