#include "emulator/http/connection/completion_queue.h"

#include <string>

#include "emulator/http/connection/connection.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using Caller = Executor::Caller;

class CompletionQueueTest : public testing::Test {
 protected:
  class Task final : public penstock::Task {
   public:
    Task(CompletionQueueTest& test, char name) : test_(test), name_(name) {}
    void Run() noexcept override {
      test_.ran_ += name_;
      if (next != nullptr) test_.completions_.Execute(*next, Caller::kReturns);
      if (response != nullptr) test_.completions_.AddResponse(*response);
    }
    penstock::Task* next = nullptr;
    WireConnection* response = nullptr;

   private:
    CompletionQueueTest& test_;
    const char name_;
  };

  int calls_ = 0;
  std::string ran_;
  EpollRegistration registration_;
  CompletionQueue completions_{[this] { ++calls_; }};
};

TEST_F(CompletionQueueTest, RunsTasksInFifoOrder) {
  Task a(*this, 'a');
  Task b(*this, 'b');
  EXPECT_TRUE(completions_.empty());
  completions_.Execute(a, Caller::kReturns);
  completions_.Execute(b, Caller::kReturns);
  EXPECT_TRUE(completions_.has_tasks());
  completions_.RunTask();
  EXPECT_EQ(ran_, "a");
  completions_.RunTask();
  completions_.RunTask();  // the list is empty
  EXPECT_EQ(ran_, "ab");
  EXPECT_TRUE(completions_.empty());
  EXPECT_EQ(completions_.taken(), 2u);
}

TEST_F(CompletionQueueTest, WakesAnotherThreadOnlyIfTheCallerContinues) {
  Task a(*this, 'a');
  completions_.Execute(a, Caller::kReturns);
  EXPECT_EQ(calls_, 0);
  completions_.RunTask();
  completions_.Execute(a, Caller::kGoesOn);
  EXPECT_EQ(calls_, 1);
  completions_.RunTask();
}

TEST_F(CompletionQueueTest, ATaskMayAddAnotherTask) {
  Task a(*this, 'a');
  a.next = &a;
  completions_.Execute(a, Caller::kReturns);
  for (int i = 0; i < 3; ++i) completions_.RunTask();
  a.next = nullptr;
  completions_.RunTask();
  EXPECT_EQ(ran_, "aaaa");
  EXPECT_TRUE(completions_.empty());
}

TEST_F(CompletionQueueTest, ResponsesWakeAThreadUnlessATaskAddsThem) {
  const ConnectionSettings settings;
  WireConnection one(1, std::make_unique<PlainStream>(-1), nullptr, registration_, settings);
  WireConnection two(2, std::make_unique<PlainStream>(-1), nullptr, registration_, settings);
  Task a(*this, 'a');
  a.response = &one;
  completions_.Execute(a, Caller::kReturns);
  completions_.RunTask();
  EXPECT_EQ(calls_, 0);
  completions_.AddResponse(two);
  EXPECT_EQ(calls_, 1);
  EXPECT_FALSE(completions_.empty());
  EXPECT_EQ(completions_.TakeResponse(), &one);
  EXPECT_EQ(completions_.TakeResponse(), &two);
  EXPECT_EQ(completions_.TakeResponse(), nullptr);
  EXPECT_TRUE(completions_.empty());
}

}  // namespace
}  // namespace penstock::emulator::http
