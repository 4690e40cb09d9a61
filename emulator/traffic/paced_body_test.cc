#include "emulator/traffic/paced_body.h"

#include <algorithm>
#include <array>
#include <thread>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;

class SomeBytes final : public s3::BodyReader {
 public:
  explicit SomeBytes(std::size_t size) : left_(size) {}
  Result<std::size_t> Read(MutableByteView into) override {
    const std::size_t count = std::min(into.size(), left_);
    left_ -= count;
    largest = std::max(largest, count);
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return 10; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }
  std::size_t largest = 0;

 private:
  std::size_t left_;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

std::chrono::steady_clock::duration TimeToRead(s3::BodyReader& body, std::size_t size) {
  const auto began = std::chrono::steady_clock::now();
  std::array<std::byte, 4'096> buffer;
  std::size_t read = 0;
  for (std::size_t got = 1; got > 0; read += got) got = body.Read(buffer).value();
  EXPECT_EQ(read, size);
  return std::chrono::steady_clock::now() - began;
}

TEST(PacedBodyTest, DoesNotExceedTheRate) {
  Pauses pauses;
  SomeBytes inner(4'000);
  PacedBody body(inner, pauses, nullptr, std::make_shared<Pacer>(100'000));
  EXPECT_GE(TimeToRead(body, 4'000), milliseconds(40));
  EXPECT_EQ(inner.largest, 2'000U) << "20 ms of the rate";
  EXPECT_EQ(body.Length(), 10U);
}

TEST(PacedBodyTest, BodiesShareThePacersRate) {
  Pauses pauses;
  const auto pacer = std::make_shared<Pacer>(100'000);
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        SomeBytes inner(1'000);
        PacedBody body(inner, pauses, nullptr, pacer);
        TimeToRead(body, 1'000);
      });
    }
  }
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(40));
}

TEST(PacedBodyTest, RejectsBodiesAboveTheLimit) {
  Pauses pauses;
  std::vector<std::unique_ptr<Pauses::Permit>> others;
  for (int i = 0; i < Pauses::kMax; ++i)
    others.push_back(std::make_unique<Pauses::Permit>(pauses, nullptr));
  SomeBytes inner(4'000);
  PacedBody body(inner, pauses, nullptr, std::make_shared<Pacer>(1));
  std::array<std::byte, 4'096> buffer;
  const Result<std::size_t> read = body.Read(buffer);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, "SlowDown");
  EXPECT_NE(read.error().message.find(" 1024 "), std::string::npos) << read.error().message;
  EXPECT_EQ(inner.largest, 0U) << "the body is not read";
}

TEST(PacedBodyTest, StoppedServerNeitherDelaysNorRejects) {
  Pauses pauses;
  pauses.End();
  SomeBytes inner(4'000);
  PacedBody body(inner, pauses, nullptr, std::make_shared<Pacer>(1));
  TimeToRead(body, 4'000);
}

TEST(PacedBodyTest, ReportsEveryWaitToTheWire) {
  struct Thread final : s3::Wire {
    void BeginWait() noexcept override { ++begun; }
    void EndWait() noexcept override { ++ended; }
    bool PeerHasClosed() const noexcept override { return false; }
    int begun = 0;
    int ended = 0;
  } thread;
  Pauses pauses;
  SomeBytes inner(4'000);
  PacedBody body(inner, pauses, &thread, std::make_shared<Pacer>(100'000));
  TimeToRead(body, 4'000);
  EXPECT_EQ(thread.begun, 2) << "one wait for each piece of 2,000 bytes";
  EXPECT_EQ(thread.ended, 2);
}

TEST(PacedBodyTest, HoldsATurnFromFirstToLastByte) {
  Pauses pauses;
  std::vector<std::unique_ptr<Pauses::Permit>> others;
  for (int i = 0; i + 1 < Pauses::kMax; ++i)
    others.push_back(std::make_unique<Pauses::Permit>(pauses, nullptr));
  {
    SomeBytes inner(10);
    PacedBody body(inner, pauses, nullptr, std::make_shared<Pacer>(1'000'000));
    EXPECT_TRUE(Pauses::Permit(pauses, nullptr).granted());
    TimeToRead(body, 10);
    EXPECT_FALSE(Pauses::Permit(pauses, nullptr).granted());
  }
  EXPECT_TRUE(Pauses::Permit(pauses, nullptr).granted());
}

}  // namespace
}  // namespace penstock::emulator::traffic
