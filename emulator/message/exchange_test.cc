#include "emulator/message/exchange.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::emulator::message {
namespace {

class CountingResponse final : public AsyncResponse {
 public:
  Executor& executor() override { std::abort(); }
  void Complete() noexcept override { ++completions; }
  int completions = 0;
};

TEST(ExchangeTest, PendingResponseCompletesOnceAfterMoves) {
  CountingResponse async;
  {
    PendingResponse first(async);
    PendingResponse second(std::move(first));
    EXPECT_EQ(async.completions, 0);
  }
  EXPECT_EQ(async.completions, 1);
}

struct Count final : Attachment {
  explicit Count(int start) : value(start) {}
  int value;
};
struct Other final : Attachment {};

TEST(ExchangeTest, FindsTheNewestAttachmentOfAType) {
  RequestHead head;
  Connection connection;
  Exchange exchange(head, connection);
  EXPECT_EQ(exchange.Find<Count>(), nullptr);
  exchange.Attach<Other>();
  exchange.Attach<Count>(1);
  exchange.Attach<Count>(2).value += 10;
  ASSERT_NE(exchange.Find<Count>(), nullptr);
  EXPECT_EQ(exchange.Find<Count>()->value, 12);
  EXPECT_NE(exchange.Find<Other>(), nullptr);
}

class EmptyBody final : public BodyReader {
 public:
  Result<std::size_t> Read(MutableByteView) override { return std::size_t{0}; }
  std::optional<std::uint64_t> Length() const override { return 7; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  const std::vector<std::pair<std::string, std::string>> trailers_{{"name", "value"}};
};

// Notes when it reads and when it is destroyed.
class NotingWrapper final : public BodyWrapper {
 public:
  NotingWrapper(BodyReader& inner, std::string name, std::string& notes)
      : BodyWrapper(inner), name_(std::move(name)), notes_(notes) {}
  ~NotingWrapper() override { notes_ += "~" + name_ + " "; }
  Result<std::size_t> Read(MutableByteView buffer) override {
    notes_ += name_ + " ";
    return inner().Read(buffer);
  }

 private:
  const std::string name_;
  std::string& notes_;
};

TEST(ExchangeTest, OwnsTheWrappersOfItsBody) {
  RequestHead head;
  Connection connection;
  EmptyBody wire;
  std::string notes;
  {
    Exchange exchange(head, connection, &wire);
    exchange.WrapBody<NotingWrapper>("inner", notes);
    exchange.WrapBody<NotingWrapper>("outer", notes);
    EXPECT_EQ(exchange.body->Read({}).value(), 0U);
    EXPECT_EQ(exchange.body->Length(), 7U);
    EXPECT_EQ(exchange.body->Trailers().size(), 1U);
    exchange.UnwrapBody();
    EXPECT_EQ(exchange.body, &wire);
    EXPECT_EQ(notes, "outer inner ~outer ~inner ");
    notes.clear();
    exchange.WrapBody<NotingWrapper>("again", notes);
    exchange.WrapBody<NotingWrapper>("more", notes);
  }
  EXPECT_EQ(notes, "~more ~again ");
}

}  // namespace
}  // namespace penstock::emulator::message
