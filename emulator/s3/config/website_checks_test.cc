#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Refused;

using WebsiteChecksTest = ConfigurationTest;

TEST_F(WebsiteChecksTest, NeedsAnIndexOrOneRedirect) {
  const Refused cases[] = {
      {"<WebsiteConfiguration/>", "400 InvalidArgument",
       "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty"},
      {"<WebsiteConfiguration><IndexDocument><Suffix>a/b</Suffix></IndexDocument></"
       "WebsiteConfiguration>",
       "400 InvalidArgument", "The IndexDocument Suffix is not well formed"},
      {"<WebsiteConfiguration><IndexDocument><Suffix/></IndexDocument></WebsiteConfiguration>",
       "400 InvalidArgument", "The IndexDocument Suffix is not well formed"},
      {"<WebsiteConfiguration><RedirectAllRequestsTo><HostName>h</HostName></"
       "RedirectAllRequestsTo><IndexDocument>"
       "<Suffix>i</Suffix></IndexDocument></WebsiteConfiguration>",
       "400 InvalidArgument",
       "RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules."},
      {"<WebsiteConfiguration><RedirectAllRequestsTo><HostName>h</HostName><Protocol>ftp</"
       "Protocol></RedirectAllRequestsTo>"
       "</WebsiteConfiguration>",
       "400 InvalidRequest",
       "Invalid protocol, protocol can be http or https. If not defined the protocol will be "
       "selected automatically."},
      {"<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument><ErrorDocument><Key/"
       "></ErrorDocument>"
       "</WebsiteConfiguration>",
       "400 InvalidArgument", ""}};
  ExpectRefused("website", cases);
}

TEST_F(WebsiteChecksTest, RoutingRulesAreChecked) {
  const std::pair<const char*, const char*> cases[] = {
      {"<Condition/><Redirect><HostName>h</HostName></Redirect>",
       "Condition cannot be empty. To redirect all requests without a condition, the condition "
       "element shouldn't be "
       "present."},
      {"<Condition><HttpErrorCodeReturnedEquals>301</HttpErrorCodeReturnedEquals></"
       "Condition><Redirect><HostName>h</HostName>"
       "</Redirect>",
       "The provided HTTP error code (301) is not valid. Valid codes are 4XX or 5XX."},
      {"<Redirect><HttpRedirectCode>300</HttpRedirectCode></Redirect>",
       "The provided HTTP redirect code (300) is not valid. Valid codes are 3XX except 300."},
      {"<Redirect><ReplaceKeyWith>a</ReplaceKeyWith><ReplaceKeyPrefixWith>b</"
       "ReplaceKeyPrefixWith></Redirect>",
       "You can only define ReplaceKeyPrefix or ReplaceKey but not both."}};
  const std::string head =
      "<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument><RoutingRules>";
  const std::string tail = "</RoutingRules></WebsiteConfiguration>";
  for (const auto& [rule, message] : cases) {
    const auto reply = Put("website", head + "<RoutingRule>" + rule + "</RoutingRule>" + tail);
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << rule;
    EXPECT_EQ(reply.Element("Message"), message) << rule;
  }
  std::string many;
  for (int i = 0; i < 51; ++i)
    many += "<RoutingRule><Redirect><HostName>h</HostName></Redirect></RoutingRule>";
  EXPECT_EQ(Put("website", head + many + tail).Element("Message"),
            "51 routing rules provided, the number of routing rules in a website configuration is "
            "limited to 50.");
}

}  // namespace
}  // namespace penstock::emulator::s3
