#include "client/s3/call/client_state.h"

#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::seconds;

TEST(ClientStateTest, RequestsFollowTheConfiguration) {
  ClientConfig config{.region = "eu-west-1", .endpoint_url = "http://127.0.0.1:9000"};
  config.requester_pays = true;
  ClientUnderTest test(config);
  const ClientState& state = Client::Impl::StateOf(*test.client);
  EXPECT_EQ(state.build_context.region, "eu-west-1");
  EXPECT_TRUE(state.build_context.requester_pays);
  EXPECT_TRUE(state.build_context.upload_checksums);
}

TEST(ClientStateTest, RequestsCarryTheConnectSettings) {
  EXPECT_EQ(Client::Impl::StateOf(*ClientUnderTest().client).connect, nullptr);
  ClientConfig config;
  config.proxy = ProxyConfig{"http://proxy:3128", "example.com"};
  config.client_certificate_path = "cert.pem";
  config.client_key_path = "key.pem";
  ClientUnderTest test(config);
  test.transport.Expect(Object("text"));
  ASSERT_TRUE(test.Get().ok());
  const auto settings = test.transport.requests()[0].request.connect;
  ASSERT_NE(settings, nullptr);
  EXPECT_EQ(settings->proxy_url, "http://proxy:3128");
  EXPECT_EQ(settings->no_proxy, "example.com");
  EXPECT_EQ(settings->client_certificate_path, "cert.pem");
  EXPECT_EQ(settings->client_key_path, "key.pem");
}

TEST(ClientStateTest, TheKnownSkewCorrectsTheClock) {
  ClientUnderTest test;
  ClientState& state = Client::Impl::StateOf(*test.client);
  const WallTime local = test.transport.clock().Now();
  EXPECT_EQ(state.CorrectedNow(), local);
  state.clock_skew_seconds = -600;
  EXPECT_EQ(state.CorrectedNow(), local - seconds(600));
}

}  // namespace
}  // namespace penstock::s3
