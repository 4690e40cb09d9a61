#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Refused;
using testing::Reply;

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

std::string Queue(std::string_view name, std::string_view event, std::string_view prefix = "",
                  std::string_view suffix = "") {
  const auto rule = [](std::string_view kind, std::string_view value) {
    return value.empty() ? std::string()
                         : "<FilterRule><Name>" + std::string(kind) + "</Name><Value>" +
                               std::string(value) + "</Value></FilterRule>";
  };
  return "<QueueConfiguration><Queue>arn:aws:sqs:us-east-1:123456789012:" + std::string(name) +
         "</Queue><Event>" + std::string(event) + "</Event><Filter><S3Key>" +
         rule("prefix", prefix) + rule("suffix", suffix) + "</S3Key></Filter></QueueConfiguration>";
}

TEST_F(NotificationChecksTest, RefusesConfigurationsThatOverlap) {
  const auto put = [&](const std::string& one, const std::string& other) {
    return Put("notification",
               "<NotificationConfiguration>" + one + other + "</NotificationConfiguration>");
  };
  constexpr std::string_view kCreated = "s3:ObjectCreated:*";
  constexpr std::string_view kPut = "s3:ObjectCreated:Put";
  const std::string all = Queue("a", kCreated);
  // The text is a published response of Amazon S3.
  EXPECT_EQ(put(all, Queue("b", kPut)).Element("Message"),
            "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules "
            "if the prefixes are overlapping for the same event type.");
  EXPECT_EQ(put(all, all).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(put(all, Queue("b", kPut, "images/")).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(put(Queue("a", kPut, "images/"), Queue("b", kPut, "", ".jpg")).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(put(Queue("a", kPut, "i", ".jpg"), Queue("b", kPut, "images", "g")).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(put(Queue("a", kPut), Queue("b", "s3:ObjectCreated:Copy")).Outcome(), "200");
  EXPECT_EQ(put(all, Queue("b", "s3:ObjectRemoved:*")).Outcome(), "200");
  EXPECT_EQ(put(Queue("a", kPut, "images/"), Queue("b", kPut, "logs/")).Outcome(), "200");
  EXPECT_EQ(put(Queue("a", kPut, "i", ".jpg"), Queue("b", kPut, "i", ".png")).Outcome(), "200");
}

TEST_F(NotificationChecksTest, RefusesFifoDestinations) {
  const std::string queue = "<NotificationConfiguration>" + Queue("q.fifo", "s3:ObjectCreated:*") +
                            "</NotificationConfiguration>";
  const Refused cases[] = {
      {queue, "400 InvalidArgument", "FIFO SQS queues are not supported."},
      {"<NotificationConfiguration><TopicConfiguration>"
       "<Topic>arn:aws:sns:us-east-1:123456789012:t.fifo</Topic><Event>s3:ObjectCreated:*</Event>"
       "</TopicConfiguration></NotificationConfiguration>",
       "400 InvalidArgument", "FIFO SNS topics are not supported."}};
  ExpectRefused("notification", cases);
}

std::string WithId(std::string configuration, std::string_view id) {
  const std::string_view open = "<QueueConfiguration>";
  return configuration.insert(open.size(), "<Id>" + std::string(id) + "</Id>");
}

TEST_F(NotificationChecksTest, IdsAreUniqueAndShort) {
  const auto put = [&](const std::string& all) {
    return Put("notification",
               "<NotificationConfiguration>" + all + "</NotificationConfiguration>");
  };
  const std::string one = Queue("a", "s3:ObjectCreated:*");
  const std::string other = Queue("a", "s3:ObjectRemoved:*");
  const Reply twice = put(WithId(one, "x") + WithId(other, "x"));
  EXPECT_EQ(twice.Outcome(), "400 InvalidArgument");
  // A published response of Amazon S3.
  EXPECT_EQ(twice.Element("Message"),
            "Same ID used for multiple configurations. IDs must be unique.");
  EXPECT_EQ(put(WithId(one, std::string(256, 'i'))).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(put(WithId(one, std::string(255, 'i')) + WithId(other, "x")).Outcome(), "200");
  EXPECT_EQ(put(one + other).Outcome(), "200") << "Ids are generated";
}

// Amazon S3 quotas: 100 event notification configurations for a bucket. API_FilterRule: "The
// maximum length is 1,024 characters."
TEST_F(NotificationChecksTest, ConfigurationsAndFilterValuesAreLimited) {
  std::string many = "<NotificationConfiguration>";
  for (int i = 100; i < 200; ++i) many += Queue("q", "s3:ObjectCreated:*", std::to_string(i));
  EXPECT_EQ(Put("notification", many + "</NotificationConfiguration>").Outcome(), "200");
  many += Queue("q", "s3:ObjectCreated:*", "200");
  EXPECT_EQ(Put("notification", many + "</NotificationConfiguration>").Outcome(),
            "400 InvalidRequest");
  const auto with_suffix = [&](std::size_t size) {
    return Put("notification", "<NotificationConfiguration>" +
                                   Queue("q", "s3:ObjectCreated:*", "", std::string(size, 's')) +
                                   "</NotificationConfiguration>")
        .Outcome();
  };
  EXPECT_EQ(with_suffix(1024), "200");
  EXPECT_EQ(with_suffix(1025), "400 InvalidArgument");
}

// Amazon S3 User Guide, "Amazon S3 Event Notifications": a destination in another region is
// refused.
TEST_F(NotificationChecksTest, DestinationsAreInTheRegionOfTheBucket) {
  const Reply far = Put("notification",
                        "<NotificationConfiguration><TopicConfiguration>"
                        "<Topic>arn:aws:sns:eu-west-1:123456789012:t</Topic>"
                        "<Event>s3:ObjectCreated:*</Event></TopicConfiguration>"
                        "</NotificationConfiguration>");
  EXPECT_EQ(far.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(far.Element("Message"),
            "The notification destination service region is not valid for the bucket location "
            "constraint");
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
