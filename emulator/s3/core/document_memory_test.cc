#include "emulator/s3/core/document_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using store::DocumentCharge;
using testing::TextBody;

constexpr std::uint64_t kMiB = 1 << 20;

// Reads the whole body, in steps, and calls `look` before each.
class ReadingHandler final : public Handler {
 public:
  static constexpr std::size_t kStepBytes = 256 << 10;

  void Handle(Exchange& exchange) override {
    exchange.response = Response{};
    std::string step(kStepBytes, ' ');
    for (;;) {
      if (look) look();
      const auto count =
          exchange.body->Read({reinterpret_cast<std::byte*>(step.data()), step.size()});
      if (!count.ok()) return RespondWithError(exchange, count.error());
      if (*count == 0) return;
    }
  }
  std::function<void()> look;
};

class DocumentMemoryTest : public ::testing::Test {
 protected:
  struct Reply {
    int status = 0;
    std::string text;
    std::size_t bytes_read = 0;
  };

  Reply Send(std::uint64_t size, std::string_view operation = "DeleteObjects",
             bool declare_length = true) {
    RequestHead head{.method = operation == "DeleteObjects" ? "POST" : "PUT",
                     .target = "/bucket?delete"};
    Connection connection;
    TextBody body(std::string(size, ' '),
                  declare_length ? std::optional<std::uint64_t>(size) : std::nullopt, {});
    Exchange exchange{head, connection, &body};
    exchange.operation = operation;
    chain_.Handle(exchange);
    EXPECT_EQ(exchange.body, &body);
    const auto* const text = std::get_if<std::string>(&exchange.response.body);
    return {exchange.response.status, text != nullptr ? *text : std::string(), body.bytes_read()};
  }

  // The most that was charged while the request was handled.
  std::uint64_t MostChargedFor(std::uint64_t size, std::string_view operation,
                               bool declare_length = true) {
    std::uint64_t most = 0;
    next_.look = [&] { most = std::max(most, limit_->used_bytes()); };
    EXPECT_EQ(Send(size, operation, declare_length).status, 200);
    return most;
  }

  std::shared_ptr<store::MemoryLimit> limit_ = std::make_shared<store::MemoryLimit>(64 * kMiB);
  ReadingHandler next_;
  FilterChain chain_{next_, MakeDocumentMemory(limit_)};
};

TEST_F(DocumentMemoryTest, DocumentIsChargedWhileItIsReadUntilTheResponse) {
  for (const bool declare_length : {true, false}) {
    std::vector<std::uint64_t> charged;
    next_.look = [&] { charged.push_back(limit_->used_bytes()); };
    EXPECT_EQ(Send(kMiB, "DeleteObjects", declare_length).status, 200);
    constexpr std::uint64_t kStep = ReadingHandler::kStepBytes * DocumentCharge::kBytesPerTextByte;
    EXPECT_EQ(charged, (std::vector<std::uint64_t>{0, kStep, 2 * kStep, 3 * kStep, 4 * kStep}))
        << declare_length;
    EXPECT_EQ(limit_->used_bytes(), 0U);
  }
}

TEST_F(DocumentMemoryTest, AnAnnouncedBodyOfWhichNothingHasArrivedTakesNoMemory) {
  store::MemoryCharge objects(limit_.get());
  ASSERT_TRUE(objects.GrowTo(limit_->limit_bytes()).ok());
  bool asked = false;
  next_.look = [&] {
    if (std::exchange(asked, true)) return;
    EXPECT_EQ(limit_->used_bytes(), limit_->limit_bytes());
    EXPECT_EQ(Send(kMiB).status, 200) << "the place beyond the limit is free";
  };
  EXPECT_EQ(Send(2 * kMiB).status, 200);
}

TEST_F(DocumentMemoryTest, BodiesThatAreStoredAreNoDocuments) {
  for (const char* operation : {"PutObject", "UploadPart", "PostObject"})
    EXPECT_EQ(MostChargedFor(kMiB, operation), 0U) << operation;
  EXPECT_GT(MostChargedFor(kMiB, "PutBucketTagging"), 0U);
}

TEST_F(DocumentMemoryTest, DocumentsBeyondTheLimitAreSlowDownUntilOthersAreHandled) {
  Reply second;
  Reply third;
  // The first charges 40 of 64 MiB. The second is the one that may exceed the limit. Each is sent
  // when the one before it has been read.
  int looks = 0;
  next_.look = [&] {
    if (++looks == 5) second = Send(kMiB);
    if (looks == 10) third = Send(kMiB);
  };
  EXPECT_EQ(Send(kMiB).status, 200);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.bytes_read, ReadingHandler::kStepBytes) << "the rest of the body is not read";
  EXPECT_NE(third.text.find("<Code>SlowDown</Code>"), std::string::npos) << third.text;
  EXPECT_NE(third.text.find(
                "needs 10.0 MiB more memory, and 80.0 MiB of the emulator's limit of 64.0 MiB"),
            std::string::npos)
      << third.text;
  next_.look = nullptr;
  EXPECT_EQ(Send(kMiB).status, 200) << "once the others are handled";
  EXPECT_EQ(limit_->used_bytes(), 0U);
}

TEST_F(DocumentMemoryTest, OneDocumentAtATimeIsReadInAFullStore) {
  store::MemoryCharge objects(limit_.get());
  ASSERT_TRUE(objects.GrowTo(limit_->limit_bytes()).ok());
  Reply beside;
  int looks = 0;
  next_.look = [&] {
    if (++looks == 2) beside = Send(kMiB);  // the first step has been read
  };
  EXPECT_EQ(Send(kMiB).status, 200);
  EXPECT_EQ(beside.status, 503);
  EXPECT_EQ(limit_->used_bytes(), limit_->limit_bytes());
}

TEST_F(DocumentMemoryTest, ABodyBeyondEveryDocumentsLimitIsChargedUpToThatLimit) {
  EXPECT_EQ(MostChargedFor(20 * kMiB, "DeleteObjects"),
            8 * kMiB * DocumentCharge::kBytesPerTextByte);
}

}  // namespace
}  // namespace penstock::emulator::s3
