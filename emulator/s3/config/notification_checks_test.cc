#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Refused;

using NotificationChecksTest = ConfigurationTest;

TEST_F(NotificationChecksTest, RefusesInvalidArnsEventsAndFilters) {
  const Refused cases[] = {
      {"<NotificationConfiguration><QueueConfiguration><Queue>arn:aws:sns:us-east-1:123456789012:t<"
       "/Queue>"
       "<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>",
       "400 InvalidArgument", "The ARN could not be parsed"},
      {"<NotificationConfiguration><TopicConfiguration><Topic>t</Topic><Event>s3:ObjectCreated:*</"
       "Event>"
       "</TopicConfiguration></NotificationConfiguration>",
       "400 InvalidArgument", "The ARN could not be parsed"},
      {"<NotificationConfiguration><TopicConfiguration><Topic>arn:aws:sns:us-east-1:123456789012:t<"
       "/Topic>"
       "<Event>s3:Object:*</Event></TopicConfiguration></NotificationConfiguration>",
       "400 InvalidArgument", "The event 's3:Object:*' is not supported for notifications"},
      {"<NotificationConfiguration><TopicConfiguration><Topic>arn:aws:sns:us-east-1:123456789012:t<"
       "/Topic>"
       "</TopicConfiguration></NotificationConfiguration>",
       "400 MalformedXML", ""},
      {"<NotificationConfiguration><TopicConfiguration><Topic>arn:aws:sns:us-east-1:123456789012:t<"
       "/Topic>"
       "<Event>s3:ObjectRemoved:*</Event><Filter><S3Key><FilterRule><Name>infix</Name><Value>v</"
       "Value></FilterRule></S3Key>"
       "</Filter></TopicConfiguration></NotificationConfiguration>",
       "400 InvalidArgument", "filter rule name must be either prefix or suffix"}};
  ExpectRefused("notification", cases);
}

TEST_F(NotificationChecksTest, GeneratesIdsAndNormalisesFilterNames) {
  ASSERT_EQ(Put("notification",
                "<NotificationConfiguration><CloudFunctionConfiguration>"
                "<CloudFunction>arn:aws:lambda:us-east-1:123456789012:function:f</"
                "CloudFunction><Event>s3:ObjectCreated:Put</Event>"
                "<Filter><S3Key><FilterRule><Name>suffix</Name><Value>.jpg</Value></FilterRule></"
                "S3Key></Filter>"
                "</CloudFunctionConfiguration></NotificationConfiguration>")
                .Outcome(),
            "200");
  EXPECT_EQ(Get("notification").Element("Id").size(), 48u);
  EXPECT_EQ(Get("notification").Element("Name"), "Suffix");
  ASSERT_EQ(Put("notification", "<NotificationConfiguration/>").Outcome(), "200");
  EXPECT_EQ(Get("notification").Element("Id"), "<absent>")
      << "an empty configuration turns notifications off";
}

}  // namespace
}  // namespace penstock::emulator::s3
