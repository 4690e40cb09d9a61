// Accepting connections while memory runs out.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <new>

#include "base/testing/allocations.h"
#include "emulator/http/engine.h"
#include "emulator/http/engine_fixture.h"
#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

// Returns whether the engine had memory for the connection. If not, the connection is closed.
bool AddWithFailure(Engine& engine, int nth) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  bool added = true;
  allocations_until_failure = nth;
  try {
    engine.Add(ends[0]);
  } catch (const std::bad_alloc&) {  // as in the accept loop (listener.cc)
    added = false;
  }
  allocations_until_failure = -1;
  char byte;
  if (!added) {
    EXPECT_EQ(::recv(ends[1], &byte, 1, MSG_DONTWAIT), 0) << "the connection is open";
  }
  ::close(ends[1]);
  return added;
}

TEST(EngineMemory, FailedAcceptLeaksNothing) {
  constexpr int kConnections = 256;
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  RequestIdSource ids(1);
  EngineOptions options = OneThread(handler, ids);
  const auto engine = Engine::Start(std::move(options)).value();
  AddWithFailure(*engine, -1);  // makes the containers allocate their first memory
  int nth = 0;
  for (; nth < 100; ++nth) {
    const std::ptrdiff_t before = live_allocations;
    if (AddWithFailure(*engine, nth)) break;
    for (int i = 1; i < kConnections; ++i) EXPECT_FALSE(AddWithFailure(*engine, nth));
    // Allow one: a container may grow once.
    EXPECT_LE(live_allocations - before, 1) << "allocation " << nth;
  }
  EXPECT_GT(nth, 0);
  engine->Stop(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace penstock::emulator::http
