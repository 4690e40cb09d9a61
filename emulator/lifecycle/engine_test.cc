#include "emulator/lifecycle/engine.h"

#include "emulator/lifecycle/lifecycle_fixture.h"

namespace penstock::emulator::lifecycle {
namespace {

using testing::Names;

class EngineTest : public testing::LifecycleFixture {
 protected:
  Engine::Begin Now() {
    return [this] { return RunOptions{.now = s3_.clock().Now()}; };
  }
  Engine engine_;
};

TEST_F(EngineTest, TheAccountHasBackgroundRunsOnce) {
  Put("a");
  Configure(Rule("r", Expire(1)));
  Advance(2);
  ASSERT_TRUE(engine_.Run(s3_.store(), Now()).ok());
  Advance(0);
  Put("b");
  Advance(2);
  const auto first = engine_.RunAndTake(s3_.store(), Now());
  EXPECT_EQ(Log(*first), (Names{"expire_object a", "expire_object b"}));
  EXPECT_EQ(Log(*engine_.RunAndTake(s3_.store(), Now())), (Names{}));
}

TEST_F(EngineTest, TheNumberOfVersionsIsThatBeforeABackgroundRun) {
  Put("a");
  Put("b");
  Configure(Rule("r", Expire(1)));
  Advance(2);
  ASSERT_TRUE(engine_.Run(s3_.store(), Now()).ok());
  const auto account = engine_.RunAndTake(s3_.store(), Now());
  EXPECT_EQ(account->actions(), 2u);
  EXPECT_EQ(account->buckets().begin()->second.versions, 2u);
  EXPECT_EQ(engine_.RunAndTake(s3_.store(), Now())->buckets().begin()->second.versions, 0u);
}

TEST_F(EngineTest, ARunThatIsNoLongerDueDoesNothing) {
  Put("a");
  Configure(Rule("r", Expire(1)));
  Advance(2);
  ASSERT_TRUE(engine_.Run(s3_.store(), [] { return std::optional<RunOptions>(); }).ok());
  EXPECT_EQ(Keys(), (Names{"a"}));
}

TEST_F(EngineTest, ForgottenActionsAreNotReported) {
  Put("a");
  Configure(Rule("r", Expire(1)));
  Advance(2);
  ASSERT_TRUE(engine_.Run(s3_.store(), Now()).ok());
  engine_.Forget();
  EXPECT_EQ(Log(*engine_.RunAndTake(s3_.store(), Now())), (Names{}));
}

TEST_F(EngineTest, ActionsBeforeAnErrorAreReportedByTheNextRun) {
  for (int i = 0; i < 1001; ++i) Put("k" + std::to_string(i));
  Configure(Rule("r", Expire(1)));
  Advance(2);
  int calls = 0;
  const auto cancelled = [&] { return ++calls > 1; };
  const auto begin = [&] { return RunOptions{.now = s3_.clock().Now(), .cancelled = cancelled}; };
  EXPECT_FALSE(engine_.RunAndTake(s3_.store(), begin).ok());
  EXPECT_EQ(engine_.RunAndTake(s3_.store(), Now())->actions(), 1001u);
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
