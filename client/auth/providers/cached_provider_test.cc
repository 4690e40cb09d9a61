#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/fake_clock.h"
#include "client/auth/providers/credentials.h"
#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Returns its result when the test calls Complete.
class ManualProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    asked.push_back(std::move(done));
  }
  void Complete(Result<CredentialsPtr> result) {
    const auto done = std::move(asked.back());
    asked.clear();
    done(std::move(result));
  }
  std::vector<std::function<void(Result<CredentialsPtr>)>> asked;
};

CredentialsPtr Make(std::string id, std::optional<WallTime> expires_at = std::nullopt) {
  return std::make_shared<const Credentials>(Credentials{std::move(id), "s", "", expires_at});
}

class CachedProvider : public ::testing::Test {
 protected:
  void RequestCredentials() {
    cached_->Start(
        [this](Result<CredentialsPtr> result) { results_.push_back(std::move(result)); });
  }
  std::string LastId() const { return (*results_.back())->access_key_id; }

  FakeClock clock_;
  // Shared with the cache.
  const std::shared_ptr<ManualProvider> inner_ = std::make_shared<ManualProvider>();
  const std::shared_ptr<auth::CachedProvider> cached_ = MakeCachedProvider(inner_, clock_);
  std::vector<Result<CredentialsPtr>> results_;
};

TEST_F(CachedProvider, ConcurrentCallersShareOneRequest) {
  RequestCredentials();
  RequestCredentials();
  EXPECT_EQ(inner_->asked.size(), 1u);
  inner_->Complete(Make("a"));
  EXPECT_EQ(results_.size(), 2u);
  RequestCredentials();
  EXPECT_EQ(results_.size(), 3u);
  EXPECT_TRUE(inner_->asked.empty());
}

TEST_F(CachedProvider, CredentialsWithoutExpiryAreKept) {
  RequestCredentials();
  inner_->Complete(Make("a"));
  clock_.Advance(std::chrono::hours(1000));
  RequestCredentials();
  EXPECT_EQ(LastId(), "a");
  EXPECT_TRUE(inner_->asked.empty());
}

TEST_F(CachedProvider, RefreshesFiveMinutesEarlyWithoutDelayingCallers) {
  RequestCredentials();
  inner_->Complete(Make("old", clock_.Now() + minutes(60)));
  clock_.Advance(minutes(55) - seconds(1));
  RequestCredentials();
  EXPECT_TRUE(inner_->asked.empty());
  clock_.Advance(seconds(1));
  RequestCredentials();
  EXPECT_EQ(LastId(), "old");
  ASSERT_EQ(inner_->asked.size(), 1u);
  inner_->Complete(Make("new", clock_.Now() + minutes(60)));
  RequestCredentials();
  EXPECT_EQ(LastId(), "new");
}

TEST_F(CachedProvider, AFailedRefreshKeepsTheOldCredentialsUntilTheyExpire) {
  RequestCredentials();
  inner_->Complete(Make("old", clock_.Now() + minutes(60)));
  clock_.Advance(minutes(56));
  RequestCredentials();
  inner_->Complete(Error::Make(ErrorKind::kUnavailable, "down"));
  RequestCredentials();
  EXPECT_EQ(LastId(), "old");
  EXPECT_TRUE(inner_->asked.empty());  // Not for every request.
  clock_.Advance(seconds(30));
  RequestCredentials();
  EXPECT_EQ(inner_->asked.size(), 1u);
  inner_->Complete(Error::Make(ErrorKind::kUnavailable, "down"));
  clock_.Advance(minutes(4));
  RequestCredentials();
  ASSERT_EQ(inner_->asked.size(), 1u);
  inner_->Complete(Error::Make(ErrorKind::kUnavailable, "down"));
  ASSERT_FALSE(results_.back().ok());
  EXPECT_EQ(results_.back().error().kind, ErrorKind::kUnavailable);
}

TEST_F(CachedProvider, DoesNotCacheErrors) {
  RequestCredentials();
  inner_->Complete(Error::Make(ErrorKind::kUnauthenticated, "none"));
  RequestCredentials();
  inner_->Complete(Make("a"));
  EXPECT_EQ(LastId(), "a");
}

TEST_F(CachedProvider, NewButExpiredCredentialsAreAnError) {
  RequestCredentials();
  inner_->Complete(Make("a", clock_.Now() - seconds(1)));
  ASSERT_FALSE(results_.back().ok());
  EXPECT_EQ(results_.back().error().kind, ErrorKind::kUnauthenticated);
}

TEST_F(CachedProvider, CachesAnonymousCredentials) {
  RequestCredentials();
  inner_->Complete(CredentialsPtr());
  RequestCredentials();
  ASSERT_EQ(results_.size(), 2u);
  EXPECT_EQ(*results_.back(), nullptr);
}

TEST_F(CachedProvider, RejectedCredentialsAreRequestedAgainOnce) {
  RequestCredentials();
  const CredentialsPtr first = Make("a");
  inner_->Complete(first);
  cached_->Forget(first);
  RequestCredentials();
  ASSERT_EQ(inner_->asked.size(), 1u);
  inner_->Complete(Make("b"));
  EXPECT_EQ(LastId(), "b");
  cached_->Forget(first);  // Of another call that was signed before.
  RequestCredentials();
  EXPECT_EQ(LastId(), "b");
  EXPECT_TRUE(inner_->asked.empty());
}

TEST(CachedProviderThrows, AnExceptionIsAnErrorForAllWaitingCallers) {
  class Throws final : public CredentialsProvider {
   public:
    void Start(std::function<void(Result<CredentialsPtr>)>) override {
      throw std::runtime_error("no vault");
    }
  };
  const FakeClock clock;
  const ProviderPtr cached = MakeCachedProvider(std::make_shared<Throws>(), clock);
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(ErrorOf(cached).message.find("no vault"), std::string::npos);
}

TEST(CachedProviderThreads, EveryCallerGetsOneResult) {
  const FakeClock clock;
  const ProviderPtr cached = MakeCachedProvider(MakeStaticProvider({"a", "s", "", {}}), clock);
  std::atomic<int> succeeded{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) {
          cached->Start([&](Result<CredentialsPtr> result) { succeeded += result.ok() ? 1 : 0; });
        }
      });
    }
  }
  EXPECT_EQ(succeeded, 400);
}

}  // namespace
}  // namespace penstock::auth
