#include "emulator/events/delivery/deliverer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/store/store_testing.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::events {
namespace {

using namespace store::testing;  // NOLINT: test helpers

// What a sink received; shared with the test, because the deliverer owns the sink.
class Inbox {
 public:
  // Fails the next `count` calls after they were received.
  void Fail(int count) {
    const MutexLock lock(mutex_);
    failures_ = count;
  }
  // Fails the first call with each message after it was received.
  void FailEachMessageOnce() {
    const MutexLock lock(mutex_);
    fails_each_once_ = true;
  }
  // Calls of Send block until the sink is cancelled.
  void Block() {
    const MutexLock lock(mutex_);
    blocked_ = true;
  }
  void Cancel() {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    changed_.NotifyAll();
  }
  Result<void> Receive(std::span<const store::StoredEvent> events) {
    const MutexLock lock(mutex_);
    for (const store::StoredEvent& stored : events) messages_.push_back(stored.event.message);
    changed_.NotifyAll();
    if (fails_each_once_ && failed_.insert(messages_.back()).second)
      return Error::Make(ErrorKind::kUnavailable, "not at the first time");
    while (blocked_ && !cancelled_) changed_.WaitIdle(mutex_);
    if (cancelled_ || failures_-- > 0) return Error::Make(ErrorKind::kUnavailable, "no");
    return Ok();
  }
  std::vector<std::string> Await(std::size_t count) {
    const MutexLock lock(mutex_);
    while (messages_.size() < count) changed_.WaitIdle(mutex_);
    return messages_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> messages_;
  std::set<std::string> failed_;
  bool fails_each_once_ = false;
  int failures_ = 0;
  bool blocked_ = false;
  bool cancelled_ = false;
};

class InboxSink final : public Sink {
 public:
  explicit InboxSink(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}
  std::size_t most() const override { return 1; }
  Result<void> Send(std::string_view /*name_space*/,
                    std::span<const store::StoredEvent> events) override {
    return inbox_->Receive(events);
  }
  void Cancel() override { inbox_->Cancel(); }

 private:
  const std::shared_ptr<Inbox> inbox_;
};

class DelivererTest : public ::testing::Test {
 protected:
  ~DelivererTest() override { deliverer_.reset(); }

  void OpenSpace(const std::string& directory = {}) {
    space_ = std::make_shared<s3::Namespace>();
    space_->name = "default";
    space_->store = OpenStore({.directory = directory, .event_signal = signal_});
  }
  std::shared_ptr<Inbox> AddRoute(const std::string& pattern) {
    auto inbox = std::make_shared<Inbox>();
    routes_.push_back({pattern, std::make_unique<InboxSink>(inbox)});
    return inbox;
  }
  void Start() {
    const std::weak_ptr<s3::Namespace> space = space_;
    deliverer_ = Deliverer::Start(
                     std::move(routes_), [space] { return std::vector{space}; }, signal_)
                     .value();
    routes_.clear();
  }
  void Put(const std::string& key, const std::string& destination) {
    store::PutObject request;
    request.bucket = kBucket;
    request.record.key = ObjectKey(key);
    request.events = [destination](const store::VersionChange& change) {
      return std::vector<store::Event>{{destination, change.version.key.value}};
    };
    ASSERT_TRUE(space_->store->Put(std::move(request)).ok());
  }
  std::size_t Undelivered() { return space_->store->ListUndelivered(0, 100).value().size(); }

  const std::shared_ptr<store::ChangeSignal> signal_ = std::make_shared<store::ChangeSignal>();
  std::shared_ptr<s3::Namespace> space_;
  std::vector<Route> routes_;
  std::unique_ptr<Deliverer> deliverer_;
};

using Texts = std::vector<std::string>;

TEST_F(DelivererTest, TheFirstMatchReceivesTheEventsInTheirOrder) {
  OpenSpace();
  MakeBucket(*space_->store);
  const auto queue = AddRoute("arn:aws:sqs:*:q");
  const auto others = AddRoute("arn:aws:s?s:*");
  Start();
  Put("a", "arn:aws:sqs:us-east-1:1:q");
  Put("b", "arn:aws:sns:us-east-1:1:t");
  Put("c", "arn:aws:sqs:us-east-1:1:q");
  Put("d", "arn:aws:lambda:us-east-1:1:function:f");
  Put("e", "arn:aws:sqs:us-east-1:1:r");
  EXPECT_EQ(queue->Await(2), (Texts{"a", "c"}));
  EXPECT_EQ(others->Await(2), (Texts{"b", "e"}));
  deliverer_.reset();
  const auto left = space_->store->ListUndelivered(0, 100).value();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().event.message, "d");
}

TEST_F(DelivererTest, AFailedEventIsSentAgainBeforeTheNext) {
  OpenSpace();
  MakeBucket(*space_->store);
  const auto inbox = AddRoute("*");
  inbox->Fail(2);
  Put("a", "arn:q");
  Put("b", "arn:q");
  Start();
  EXPECT_EQ(inbox->Await(4), (Texts{"a", "a", "a", "b"}));
}

// Seven pauses of 0.1 s. Pauses that double from event to event are 12.7 s.
TEST_F(DelivererTest, ThePauseBeginsAnewAfterADeliveredEvent) {
  OpenSpace();
  MakeBucket(*space_->store);
  const auto inbox = AddRoute("*");
  inbox->FailEachMessageOnce();
  for (const char* const key : {"a", "b", "c", "d", "e", "f", "g"}) Put(key, "arn:q");
  const auto begin = std::chrono::steady_clock::now();
  Start();
  EXPECT_EQ(inbox->Await(14).back(), "g");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST_F(DelivererTest, ABlockedSinkDelaysNoOtherAndNoStop) {
  OpenSpace();
  MakeBucket(*space_->store);
  const auto blocked = AddRoute("arn:blocked");
  const auto other = AddRoute("*");
  blocked->Block();
  Start();
  Put("a", "arn:blocked");
  Put("b", "arn:q");
  EXPECT_EQ(blocked->Await(1), (Texts{"a"}));
  EXPECT_EQ(other->Await(1), (Texts{"b"}));
  deliverer_.reset();
  const auto left = space_->store->ListUndelivered(0, 100).value();
  ASSERT_GE(left.size(), 1u);
  EXPECT_EQ(left.front().event.message, "a");
}

TEST_F(DelivererTest, ABlockedSinkHoldsNoNamespace) {
  OpenSpace();
  MakeBucket(*space_->store);
  const auto inbox = AddRoute("*");
  inbox->Block();
  Start();
  Put("a", "arn:q");
  inbox->Await(1);
  const std::weak_ptr<s3::Namespace> weak = space_;
  space_.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(DelivererTest, ARestartSendsWhatWasNotAcknowledged) {
  const TemporaryDirectory directory;
  OpenSpace(directory.path());
  MakeBucket(*space_->store);
  const auto first = AddRoute("arn:acknowledged");
  Start();
  Put("a", "arn:acknowledged");
  Put("b", "arn:q");
  first->Await(1);
  deliverer_.reset();
  space_.reset();
  OpenSpace(directory.path());
  const auto second = AddRoute("*");
  Start();
  Put("c", "arn:q");
  const Texts received = second->Await(2);
  EXPECT_EQ(Texts(received.end() - 2, received.end()), (Texts{"b", "c"}));
}

TEST_F(DelivererTest, RemovedEventsAreNotSent) {
  OpenSpace();
  MakeBucket(*space_->store);
  Put("a", "arn:q");
  ASSERT_TRUE(space_->store->RemoveEvents(1).ok());
  const auto inbox = AddRoute("*");
  Start();
  Put("b", "arn:q");
  EXPECT_EQ(inbox->Await(1), (Texts{"b"}));
}

}  // namespace
}  // namespace penstock::emulator::events
