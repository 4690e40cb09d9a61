// The transport across fork(). Excluded under ThreadSanitizer, which terminates a process that
// starts threads after a fork of a multi-threaded one.
#if !defined(__SANITIZE_THREAD__)

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "client/http/call_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"

namespace penstock::http {
namespace {

// Returns the exit status of a child that runs `body`.
template <class Body>
int InChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(body() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(TransportFork, TransportWorksInTheChildAndStillInTheParent) {
  RawServer server(RawServer::Ok);
  const auto transport = MakeHttpTransport({});
  const auto one_request = [&] {
    Call call;
    return call.Start(*transport, server.Get()).Wait().ok() && call.body.text == "ok";
  };
  ASSERT_TRUE(one_request());
  EXPECT_EQ(InChild(one_request), 0);
  EXPECT_TRUE(one_request());
  EXPECT_EQ(server.connections(), 2);  // the parent's connection survived; the child made its own
}

TEST(TransportFork, ForkDuringTransfersLeavesBothSidesWorking) {
  RawServer server(RawServer::Ok);
  const auto transport = SharedTransport();
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->Start(*transport, server.Get());
  }
  const int status = InChild([&] {
    Call call;
    const bool good = call.Start(*SharedTransport(), server.Get()).Wait().ok();
    // These calls belong to the parent: stopping them must have no effect here.
    for (const auto& inherited : calls) inherited->stop.request_stop();
    return good;
  });
  EXPECT_EQ(status, 0);
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().ok());
}

TEST(TransportFork, ChildMayDestroyAnInheritedTransport) {
  RawServer server(RawServer::Ok);
  auto transport = MakeHttpTransport({});
  Call call;
  ASSERT_TRUE(call.Start(*transport, server.Get()).Wait().ok());
  EXPECT_EQ(InChild([&] {
              transport.reset();  // must not join a thread that does not exist
              return true;
            }),
            0);
}

}  // namespace
}  // namespace penstock::http

#endif  // !defined(__SANITIZE_THREAD__)
