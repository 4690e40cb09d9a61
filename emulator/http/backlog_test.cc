#include "emulator/http/backlog.h"

#include <string>

#include "emulator/http/connection/connection.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using Caller = store::Executor::Caller;

class BacklogTest : public testing::Test {
 protected:
  class Errand final : public store::Errand {
   public:
    Errand(BacklogTest& test, char name) : test_(test), name_(name) {}
    void Run() noexcept override {
      test_.ran_ += name_;
      if (next != nullptr) test_.backlog_.Execute(*next, Caller::kReturns);
      if (answer != nullptr) test_.backlog_.AddAnswer(*answer);
    }
    store::Errand* next = nullptr;
    WireConnection* answer = nullptr;

   private:
    BacklogTest& test_;
    const char name_;
  };

  int calls_ = 0;
  std::string ran_;
  Watch watch_;
  Backlog backlog_{[this] { ++calls_; }};
};

TEST_F(BacklogTest, RunsErrandsInTheirOrder) {
  Errand a(*this, 'a');
  Errand b(*this, 'b');
  EXPECT_TRUE(backlog_.empty());
  backlog_.Execute(a, Caller::kReturns);
  backlog_.Execute(b, Caller::kReturns);
  EXPECT_TRUE(backlog_.has_errands());
  backlog_.RunErrand();
  EXPECT_EQ(ran_, "a");
  backlog_.RunErrand();
  backlog_.RunErrand();  // there is none
  EXPECT_EQ(ran_, "ab");
  EXPECT_TRUE(backlog_.empty());
  EXPECT_EQ(backlog_.taken(), 2u);
}

TEST_F(BacklogTest, CallsForHelpOnlyWhereTheCallerGoesOn) {
  Errand a(*this, 'a');
  backlog_.Execute(a, Caller::kReturns);
  EXPECT_EQ(calls_, 0);
  backlog_.RunErrand();
  backlog_.Execute(a, Caller::kGoesOn);
  EXPECT_EQ(calls_, 1);
  backlog_.RunErrand();
}

TEST_F(BacklogTest, AnErrandMayLeaveTheNextOne) {
  Errand a(*this, 'a');
  a.next = &a;
  backlog_.Execute(a, Caller::kReturns);
  for (int i = 0; i < 3; ++i) backlog_.RunErrand();
  a.next = nullptr;
  backlog_.RunErrand();
  EXPECT_EQ(ran_, "aaaa");
  EXPECT_TRUE(backlog_.empty());
}

TEST_F(BacklogTest, AnswersFromOutsideCallAndThoseOfAnErrandDoNot) {
  const ConnectionSettings settings;
  WireConnection one(1, std::make_unique<PlainStream>(-1), nullptr, watch_, settings);
  WireConnection two(2, std::make_unique<PlainStream>(-1), nullptr, watch_, settings);
  Errand a(*this, 'a');
  a.answer = &one;
  backlog_.Execute(a, Caller::kReturns);
  backlog_.RunErrand();
  EXPECT_EQ(calls_, 0);
  backlog_.AddAnswer(two);
  EXPECT_EQ(calls_, 1);
  EXPECT_FALSE(backlog_.empty());
  EXPECT_EQ(backlog_.TakeAnswer(), &one);
  EXPECT_EQ(backlog_.TakeAnswer(), &two);
  EXPECT_EQ(backlog_.TakeAnswer(), nullptr);
  EXPECT_TRUE(backlog_.empty());
}

}  // namespace
}  // namespace penstock::emulator::http
