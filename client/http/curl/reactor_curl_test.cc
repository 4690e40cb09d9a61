#include <gtest/gtest.h>

#include <atomic>

#include "client/http/pending_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor.h"
#include "client/http/tls_server_for_test.h"

namespace penstock::http {
namespace {

TEST(ReactorCurl, CurlPlaneWorksAfterItsIdleConnectionsWereClosed) {
  std::atomic<int> closed = 0;
  RawServer server([&](RawConnection& connection) {
    RawServer::Ok(connection);
    ++closed;
    closed.notify_all();
  });
  const auto reactor = std::make_shared<Reactor>(
      HttpTransportOptions{.plane = DataPlane::kCurl, .max_idle_age = std::chrono::seconds(0)}, 4);
  for (int i = 0; i < 3; ++i) {
    Pending pending;
    reactor->Submit(pending.Make(server.Get()));
    ASSERT_TRUE(pending.Wait().ok());
    closed.wait(i);
  }
  EXPECT_EQ(server.connections(), 3);
  reactor->Stop();
}

// Regression test: unrequested bytes after a response over TLS were taken for the next response.
TEST(ReactorCurl, BytesAfterAResponseOverTlsAreNotTheNextResponse) {
  for (const DataPlane plane : {DataPlane::kDirect, DataPlane::kCurl}) {
    TlsServer server([&](TlsConnection& connection) {
      while (connection.ReadHead()) {
        connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        if (connection.raw().index() == 0)
          connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
        connection.Flush();
      }
    });
    const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{.plane = plane}, 4);
    for (int i = 0; i < 3; ++i) {
      Pending pending;
      reactor->Submit(pending.Make(server.Get()));
      const Result<Outcome> outcome = pending.Wait();
      ASSERT_TRUE(outcome.ok()) << outcome.error().message;
      EXPECT_EQ(outcome->body_bytes, 2u) << i;
    }
    EXPECT_EQ(server.connections(), 2) << "the second connection is kept";
    reactor->Stop();
  }
}

}  // namespace
}  // namespace penstock::http
