#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using Json = nlohmann::json;

constexpr char kConfiguration[] =
    "<NotificationConfiguration><QueueConfiguration><Id>all</Id>"
    "<Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue><Event>s3:ObjectCreated:*</Event>"
    "<Event>s3:ObjectRemoved:*</Event><Event>s3:ObjectTagging:*</Event>"
    "<Filter><S3Key><FilterRule><Name>prefix</Name><Value>in/</Value></FilterRule></S3Key></Filter>"
    "</QueueConfiguration></NotificationConfiguration>";

class AdminEventsTest : public testing::Test {
 protected:
  AdminEventsTest() {
    S3("PUT", "/bucket");
    const HttpResponse configured = S3("PUT", "/bucket?notification", kConfiguration);
    EXPECT_EQ(configured.status, 200) << configured.text;
  }

  static std::string Request(const std::string& method, const std::string& target,
                             const std::string& body = {}, const std::string& headers = {}) {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
           headers + "Content-MD5: " + Base64Encode(Md5(AsBytes(body))) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  HttpResponse S3(const std::string& method, const std::string& target,
                  const std::string& body = {}, const std::string& headers = {}) const {
    return Exchange(emulator_->endpoint(), Request(method, target, body, headers));
  }
  HttpResponse Admin(const std::string& method, const std::string& path) const {
    return Exchange(emulator_->admin_endpoint(), Request(method, "/_penstock/" + path));
  }
  Json Read(const std::string& query = {}) const {
    const HttpResponse response = Admin("GET", "events" + query);
    EXPECT_EQ(response.status, 200) << response.text;
    return Json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
  // The names of the events after the test event.
  std::vector<std::string> ReadNames() const {
    std::vector<std::string> names;
    const Json page = Read("?after=1");
    for (const Json& event : page.at("events"))
      names.push_back(event.at("message").at("Records").at(0).at("eventName"));
    return names;
  }

  std::unique_ptr<Emulator> emulator_ = Emulator::Start({.auth = AuthMode::kOff}).value();
};

using Names = std::vector<std::string>;

TEST_F(AdminEventsTest, AConfigurationIsTestedUnlessTheRequestSkipsThat) {
  const Json first = Read();
  ASSERT_EQ(first.at("events").size(), 1u);
  EXPECT_EQ(first.at("events").at(0).at("message").at("Event"), "s3:TestEvent");
  EXPECT_EQ(first.at("events").at(0).at("destination"), "arn:aws:sqs:us-east-1:111122223333:q");
  EXPECT_EQ(S3("PUT", "/bucket?notification", kConfiguration,
               "x-amz-skip-destination-validation: true\r\n")
                .status,
            200);
  EXPECT_EQ(Read().at("last"), 1);
}

TEST_F(AdminEventsTest, NewestReturnsTheLatestEventsInOrder) {
  for (int i = 2; i <= 8; ++i) S3("PUT", "/bucket/in/" + std::to_string(i), "body");
  const auto numbers = [&](const std::string& query) {
    std::vector<int> found;
    const Json page = Read(query);
    for (const Json& event : page.at("events")) found.push_back(event.at("number"));
    return found;
  };
  using Numbers = std::vector<int>;
  EXPECT_EQ(numbers("?newest=3"), (Numbers{6, 7, 8}));
  EXPECT_EQ(numbers("?newest=3&after=7"), (Numbers{8}));
  EXPECT_EQ(numbers("?newest=0"), (Numbers{}));
  EXPECT_EQ(numbers("?newest=1000"), (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(Read("?newest=3").at("last"), 8);
  EXPECT_EQ(Admin("DELETE", "events?through=6").status, 200);
  EXPECT_EQ(numbers("?newest=5"), (Numbers{7, 8}));
  EXPECT_EQ(Admin("DELETE", "events").status, 200);
  EXPECT_EQ(numbers("?newest=5"), (Numbers{}));
  EXPECT_EQ(Admin("GET", "events?newest=1001").status, 400);
}

TEST_F(AdminEventsTest, ReportsChangesOfSelectedKeysOnly) {
  S3("PUT", "/bucket/in/a%20b", "body");
  S3("PUT", "/bucket/out/c", "body");
  S3("PUT", "/bucket/in/copy", "", "x-amz-copy-source: /bucket/out/c\r\n");
  S3("PUT", "/bucket/in/copy?tagging",
     "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>");
  S3("DELETE", "/bucket/in/copy?tagging");
  S3("DELETE", "/bucket/in/copy");
  S3("DELETE", "/bucket/in/absent");
  EXPECT_EQ(ReadNames(), (Names{"ObjectCreated:Put", "ObjectCreated:Copy", "ObjectTagging:Put",
                                "ObjectTagging:Delete", "ObjectRemoved:Delete"}));
  const Json record = Read("?after=1").at("events").at(0).at("message").at("Records").at(0);
  EXPECT_EQ(record.at("s3").at("object").at("key"), "in/a+b");
  EXPECT_EQ(record.at("s3").at("object").at("size"), 4);
  EXPECT_EQ(record.at("requestParameters").at("sourceIPAddress"), "127.0.0.1");
  EXPECT_EQ(record.at("responseElements").at("x-amz-request-id").get<std::string>().size(), 16u);
}

TEST_F(AdminEventsTest, LifecycleRunsReportWhatTheyDid) {
  S3("PUT", "/bucket?notification",
     "<NotificationConfiguration><TopicConfiguration>"
     "<Topic>arn:aws:sns:us-east-1:111122223333:t</Topic><Event>s3:LifecycleExpiration:*</Event>"
     "</TopicConfiguration></NotificationConfiguration>");
  S3("PUT", "/bucket/k", "body");
  const std::string rules =
      "<LifecycleConfiguration><Rule><ID>day</ID><Filter/><Status>Enabled</Status>"
      "<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>";
  S3("PUT", "/bucket?lifecycle", rules);
  ASSERT_TRUE(emulator_->ChangeClock("default", {.advance = std::chrono::hours(60)}).ok());
  ASSERT_TRUE(emulator_->RunLifecycle({}).ok());
  const Json events = Read("?after=2").at("events");
  ASSERT_EQ(events.size(), 1u) << events;
  const Json& record = events.at(0).at("message").at("Records").at(0);
  EXPECT_EQ(record.at("eventName"), "LifecycleExpiration:Delete");
  EXPECT_EQ(record.at("userIdentity").at("principalId"), "s3.amazonaws.com");
}

TEST_F(AdminEventsTest, AWaitEndsWithTheFirstEvent) {
  std::thread writer([this] { S3("PUT", "/bucket/in/k", "body"); });
  EXPECT_EQ(Read("?after=1&wait_ms=60000").at("events").size(), 1u);
  writer.join();
  EXPECT_EQ(Read("?after=2&wait_ms=1").at("last"), 2);
}

TEST_F(AdminEventsTest, EventsStayUntilTheyAreRemoved) {
  S3("PUT", "/bucket/in/k", "body");
  EXPECT_EQ(Admin("DELETE", "events?through=1").status, 200);
  EXPECT_EQ(Read().at("events").at(0).at("number"), 2);
  EXPECT_EQ(Admin("DELETE", "events/default").status, 200);
  EXPECT_TRUE(Read().at("events").empty());
}

TEST_F(AdminEventsTest, RefusesUnknownParametersAndNamespaces) {
  EXPECT_EQ(Admin("GET", "events?since=1").status, 400);
  EXPECT_EQ(Admin("GET", "events?after=-1").status, 400);
  EXPECT_EQ(Admin("GET", "events?after=").status, 400);
  const HttpResponse refused = Admin("GET", "events?wait_ms=60001");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.text.find("wait_ms: must be an integer from 0 to 60000, not '60001'"),
            std::string::npos)
      << refused.text;
  EXPECT_EQ(Admin("DELETE", "events?after=1").status, 400);
  EXPECT_EQ(Admin("GET", "events/absent").status, 404);
}

}  // namespace
}  // namespace penstock::emulator::server
