#include "client/http/reactor/thread_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::http {
namespace {

constexpr int kTransfers = 256;

int ConnectionsOf(const ThreadPlan& plan) {
  int sum = 0;
  for (int thread = 0; thread < plan.threads; ++thread) sum += plan.ConnectionsOf(thread);
  return sum;
}

TEST(ThreadPlan, HasHalfTheCoresOfWhichFourTakeEveryRequest) {
  const auto threads = [](int cores) {
    const ThreadPlan plan = PlanThreads(cores, 0, kTransfers);
    return std::pair(plan.threads, plan.for_all);
  };
  EXPECT_EQ(threads(0), std::pair(1, 1));
  EXPECT_EQ(threads(1), std::pair(1, 1));
  EXPECT_EQ(threads(2), std::pair(1, 1));
  EXPECT_EQ(threads(4), std::pair(2, 2));
  EXPECT_EQ(threads(8), std::pair(4, 4));
  EXPECT_EQ(threads(16), std::pair(8, 4));
  EXPECT_EQ(threads(32), std::pair(16, 4));
  EXPECT_EQ(threads(128), std::pair(16, 4));
}

TEST(ThreadPlan, ConfiguredThreadsTakeEveryRequest) {
  const ThreadPlan plan = PlanThreads(2, 12, kTransfers);
  EXPECT_EQ(plan.threads, 12);
  EXPECT_EQ(plan.for_all, 12);
  EXPECT_EQ(plan.connections, 21);
}

TEST(ThreadPlan, NeverHasMoreConnectionsThanAllowed) {
  for (int cores = 1; cores <= 64; ++cores) {
    for (int transfers = 1; transfers <= 64; ++transfers) {
      const ThreadPlan plan = PlanThreads(cores, 0, transfers);
      EXPECT_LE(ConnectionsOf(plan), transfers) << cores << " cores, " << transfers << " transfers";
      for (int thread = 0; thread < plan.threads; ++thread)
        EXPECT_GE(plan.ConnectionsOf(thread), 1);
    }
  }
  EXPECT_EQ(ConnectionsOf(PlanThreads(16, 0, kTransfers)), kTransfers);
}

TEST(ThreadPlan, OneThreadHasAllConnections) {
  EXPECT_EQ(PlanThreads(2, 0, kTransfers).connections, kTransfers);
}

TEST(ThreadPlan, SmallRequestsUseTheFirstThreads) {
  const ThreadPlan plan = PlanThreads(16, 0, kTransfers);
  EXPECT_EQ(ChooseThread(plan, std::vector<std::size_t>{9, 7, 8, 9, 0, 0, 0, 0}, false), 1u);
  EXPECT_EQ(ChooseThread(plan, std::vector<std::size_t>{1, 1, 1, 1, 0, 0, 0, 0}, true), 4u);
  EXPECT_EQ(ChooseThread(plan, std::vector<std::size_t>(8, 0), true), 0u);
}

TEST(ThreadPlan, AThreadWithoutAFreeConnectionIsTheLastChoice) {
  const ThreadPlan plan = PlanThreads(16, 0, kTransfers);
  ASSERT_EQ(plan.connections_for_large, 16);
  ASSERT_EQ(plan.connections, 48);
  EXPECT_EQ(ChooseThread(plan, std::vector<std::size_t>{20, 19, 20, 20, 16, 16, 16, 16}, true), 1u);
  EXPECT_EQ(ChooseThread(plan, std::vector<std::size_t>{48, 48, 48, 48, 17, 16, 16, 16}, true), 5u);
}

class Body final : public RequestBody {
 public:
  explicit Body(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  void Rewind() override {}
  ByteView Next(std::size_t) override { return {}; }

 private:
  const std::uint64_t size_;
};

TEST(ThreadPlan, RangesAndBodiesOfAMebibyteAreLarge) {
  const auto large = [](std::string range) {
    Request request;
    request.headers = {{"Host", "h"}, {"Range", std::move(range)}};
    return IsLarge(request, nullptr);
  };
  EXPECT_TRUE(large("bytes=0-1048575"));
  EXPECT_FALSE(large("bytes=0-1048574"));
  EXPECT_TRUE(large("bytes=5-18446744073709551614"));
  for (const char* other : {"bytes=5-", "bytes=-1048576", "bytes=1048576-0", "bytes=0-1048576,9-10",
                            "bytes=0-99999999999999999999", "bytes=", "lines=0-1048576", ""}) {
    EXPECT_FALSE(large(other)) << other;
  }
  EXPECT_FALSE(IsLarge(Request(), nullptr));
  const Body small((1 << 20) - 1);
  const Body whole(1 << 20);
  EXPECT_FALSE(IsLarge(Request(), &small));
  EXPECT_TRUE(IsLarge(Request(), &whole));
}

}  // namespace
}  // namespace penstock::http
