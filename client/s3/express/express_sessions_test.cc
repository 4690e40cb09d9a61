#include "client/s3/express/express_sessions.h"

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/fake_clock.h"

namespace penstock::s3 {
namespace {

using std::chrono::seconds;

const SessionKey kKey{"data--usw2-az1--x-s3", "us-west-2", "me"};

// A fake CreateSession: calls wait until the test responds.
class Sessions {
 public:
  std::string Use(const SessionKey& key = kKey, seconds wanted = seconds(0)) {
    std::string& got = got_.emplace_back("(waits)");  // The result may arrive much later.
    Wait(key, got, wanted);
    return got;
  }
  void Wait(const SessionKey& key, std::string& got, seconds wanted = seconds(0)) {
    sessions->Start(
        key, wanted, [this](auto done) { asked.push_back(std::move(done)); },
        [&got](Result<CredentialsPtr> result) {
          got = result.ok() ? (*result)->access_key_id : "error: " + result.error().message;
        });
  }
  // Responds to the oldest request.
  void Respond(const std::string& id, seconds lifetime = seconds(300)) {
    last = std::make_shared<const Credentials>(Credentials{id, "secret", "token", {}});
    Settle(BucketSession{last, lifetime});
  }
  void Fail() { Settle(Error::Make(ErrorKind::kAccessDenied, "no")); }
  void Settle(Result<BucketSession> result) {
    auto done = std::move(asked.front());
    asked.erase(asked.begin());
    done(std::move(result));
  }

  FakeClock clock;
  std::shared_ptr<ExpressSessions> sessions = std::make_shared<ExpressSessions>(clock);
  std::vector<std::function<void(Result<BucketSession>)>> asked;
  CredentialsPtr last;

 private:
  std::deque<std::string> got_;  // Results of Use; elements keep their address.
};

TEST(ExpressSessionsTest, AllWaitingCallersShareOneRequest) {
  Sessions test;
  std::vector<std::string> got(64, "(waits)");
  for (std::string& one : got) test.Wait(kKey, one);
  ASSERT_EQ(test.asked.size(), 1u);
  test.Respond("S1");
  for (const std::string& one : got) EXPECT_EQ(one, "S1");
  EXPECT_EQ(test.Use(), "S1");
  EXPECT_TRUE(test.asked.empty());
}

// The same with threads, for the sanitizers. The response arrives on its own thread.
TEST(ExpressSessionsTest, ThreadsWaitForTheSameResponse) {
  FakeClock clock;
  const auto sessions = std::make_shared<ExpressSessions>(clock);
  std::atomic<int> asked{0};
  std::atomic<int> served{0};
  std::jthread service;
  const ExpressSessions::Create create = [&](auto done) {
    ++asked;
    service = std::jthread([done = std::move(done)] {
      done(BucketSession{
          std::make_shared<const Credentials>(Credentials{"S1", "secret", "token", {}}),
          seconds(300)});
    });
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 64; ++i) {
      callers.emplace_back([&] {
        sessions->Start(kKey, seconds(0), create, [&](const Result<CredentialsPtr>& result) {
          served += result.ok() ? 1 : 0;
        });
      });
    }
  }
  service.join();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(served, 64);
}

TEST(ExpressSessionsTest, BucketsRegionsAndIdentitiesHaveTheirOwnSessions) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  for (const SessionKey& other :
       {SessionKey{"other--usw2-az1--x-s3", "us-west-2", "me"},
        SessionKey{kKey.bucket, "us-east-1", "me"}, SessionKey{kKey.bucket, "us-west-2", "you"}}) {
    EXPECT_EQ(test.Use(other), "(waits)");
    test.Respond("other");
  }
  EXPECT_EQ(test.Use(), "S1");
}

TEST(ExpressSessionsTest, AUseInTheLastMinuteRenewsInTheBackground) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  test.clock.Advance(seconds(239));
  EXPECT_EQ(test.Use(), "S1");
  EXPECT_TRUE(test.asked.empty());
  test.clock.Advance(seconds(1));
  EXPECT_EQ(test.Use(), "S1");
  EXPECT_EQ(test.Use(), "S1");
  ASSERT_EQ(test.asked.size(), 1u);
  test.Respond("S2");
  EXPECT_EQ(test.Use(), "S2");
  EXPECT_TRUE(test.asked.empty());
}

TEST(ExpressSessionsTest, TheOldSessionIsUsedUntilFiveSecondsBeforeItsExpiry) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  test.clock.Advance(seconds(294));
  EXPECT_EQ(test.Use(), "S1");
  test.clock.Advance(seconds(1));
  std::string got = "(waits)";
  test.Wait(kKey, got);
  EXPECT_EQ(got, "(waits)");
  ASSERT_EQ(test.asked.size(), 1u);
  test.Respond("S2");
  EXPECT_EQ(got, "S2");
}

TEST(ExpressSessionsTest, AFailedRenewalKeepsTheOldSessionAndIsRetriedLater) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  test.clock.Advance(seconds(250));
  test.Use();
  test.Fail();
  EXPECT_EQ(test.Use(), "S1");
  EXPECT_TRUE(test.asked.empty());
  test.clock.Advance(seconds(5));
  EXPECT_EQ(test.Use(), "S1");
  EXPECT_EQ(test.asked.size(), 1u);
}

TEST(ExpressSessionsTest, AUseThatWantsMoreTimeGetsTheNextSession) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  test.clock.Advance(seconds(29));
  EXPECT_EQ(test.Use(kKey, seconds(86'400)), "S1") << "the next one lasts hardly longer";
  test.clock.Advance(seconds(71));
  EXPECT_EQ(test.Use(kKey, seconds(200)), "S1") << "that long";
  EXPECT_TRUE(test.asked.empty());
  std::string got = "(waits)";
  test.Wait(kKey, got, seconds(201));
  EXPECT_EQ(got, "(waits)");
  EXPECT_EQ(test.Use(), "S1") << "other uses do not wait";
  ASSERT_EQ(test.asked.size(), 1u);
  test.Respond("S2");
  EXPECT_EQ(got, "S2");
  EXPECT_EQ(test.Use(), "S2");
}

TEST(ExpressSessionsTest, AUseThatWantsMoreTimeGetsTheOldSessionIfThereIsNoOther) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  test.clock.Advance(seconds(100));
  std::string got = "(waits)";
  test.Wait(kKey, got, seconds(300));
  ASSERT_EQ(test.asked.size(), 1u);
  test.Fail();
  EXPECT_EQ(got, "S1");
  EXPECT_EQ(test.Use(kKey, seconds(300)), "S1");
  EXPECT_TRUE(test.asked.empty());
  test.clock.Advance(seconds(5));
  EXPECT_EQ(test.Use(kKey, seconds(300)), "(waits)");
}

TEST(ExpressSessionsTest, AFailureIsReturnedToAllWaitingCallersAndNotStored) {
  Sessions test;
  std::string one = "(waits)";
  std::string two = "(waits)";
  test.Wait(kKey, one);
  test.Wait(kKey, two);
  test.Fail();
  EXPECT_EQ(one, "error: no");
  EXPECT_EQ(two, "error: no");
  EXPECT_EQ(test.Use(), "(waits)");
  EXPECT_EQ(test.asked.size(), 1u);
}

TEST(ExpressSessionsTest, ARejectedSessionIsNotUsedAgain) {
  Sessions test;
  test.Use();
  test.Respond("S1");
  const CredentialsPtr refused = test.last;
  test.sessions->Drop(kKey.bucket, refused);
  EXPECT_EQ(test.Use(), "(waits)");
  test.Respond("S2");
  test.sessions->Drop(kKey.bucket, refused);  // Another thread reports the same error later.
  EXPECT_EQ(test.Use(), "S2");
}

TEST(ExpressSessionsTest, AnExpiredSessionCanBeReplacedAtOnce) {
  Sessions test;
  test.Use();
  test.Respond("S1", seconds(3));  // Used for the waiting callers only.
  EXPECT_EQ(test.Use(), "(waits)");
  EXPECT_EQ(test.asked.size(), 1u);
}

TEST(ExpressSessionsTest, EvictsTheLeastRecentlyUsedSession) {
  Sessions test;
  for (int i = 0; i <= 100; ++i) {
    test.clock.Advance(std::chrono::milliseconds(1));
    test.Use({"b" + std::to_string(i), "r", "me"});
    test.Respond("S" + std::to_string(i));
  }
  EXPECT_EQ(test.Use({"b1", "r", "me"}), "S1");
  EXPECT_EQ(test.Use({"b0", "r", "me"}), "(waits)");
}

TEST(ExpressSessionsTest, AnIdentityContainsNoSecret) {
  const std::string identity = IdentityOf({"AKID", "the-secret", "the-token", {}});
  EXPECT_EQ(identity.find("the-"), std::string::npos);
  EXPECT_EQ(identity, IdentityOf({"AKID", "the-secret", "the-token", {}}));
  EXPECT_NE(identity, IdentityOf({"AKID", "the-secret", "another", {}}));
}

}  // namespace
}  // namespace penstock::s3
