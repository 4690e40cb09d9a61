#include "client/http/transfer.h"

#include <gtest/gtest.h>

#include <array>

#include "client/http/body_for_test.h"

namespace penstock::http {
namespace {

class TransferTest : public ::testing::Test {
 protected:
  TransferTest() { transfer_.response_body = &sink_; }
  void FeedHead() {
    ASSERT_TRUE(transfer_.OnHeadLine("HTTP/1.1 200 OK\r\n"));
    ASSERT_TRUE(transfer_.OnHeadLine("\r\n"));
  }
  void Send(TextBody& body) { transfer_.request_body = &body; }
  std::optional<std::size_t> Fill(std::size_t room) { return transfer_.OnSend(MutableByteView(memory_).first(room)); }

  Collector sink_{3, 8};
  Transfer transfer_;
  std::array<std::byte, 64> memory_{};
};

TEST_F(TransferTest, BodyPassesThroughWindowsAfterOneBegin) {
  FeedHead();
  EXPECT_TRUE(transfer_.OnBody(AsBytes("1234")));
  EXPECT_TRUE(transfer_.OnBody(AsBytes("5678")));
  EXPECT_TRUE(transfer_.BeginOnce());
  EXPECT_EQ(sink_.heads.size(), 1u);
  EXPECT_EQ(sink_.text, "12345678");
  EXPECT_EQ(transfer_.received, 8u);
}

TEST_F(TransferTest, ByteBeyondTheLastWindowIsDataLoss) {
  FeedHead();
  EXPECT_TRUE(transfer_.OnBody(AsBytes("12345678")));
  EXPECT_FALSE(transfer_.OnBody(AsBytes("9")));
  EXPECT_EQ(transfer_.error->kind, ErrorKind::kDataLoss);
}

TEST_F(TransferTest, BeginHappensAtTheEndOfABodylessResponse) {
  FeedHead();
  EXPECT_TRUE(transfer_.BeginOnce());
  EXPECT_EQ(sink_.heads.size(), 1u);
}

TEST_F(TransferTest, MalformedHeadAborts) {
  EXPECT_FALSE(transfer_.OnHeadLine("garbage\r\n"));
  EXPECT_EQ(transfer_.error->kind, ErrorKind::kUnavailable);
}

TEST_F(TransferTest, SendsWhatTheBodyHoldsAndThenEnds) {
  TextBody body("hello");
  Send(body);
  EXPECT_EQ(Fill(3), 3u);
  EXPECT_EQ(Fill(64), 2u);
  EXPECT_EQ(Fill(64), 0u);
  EXPECT_EQ(transfer_.sent, 5u);
}

TEST_F(TransferTest, RewindStartsTheBodyOver) {
  TextBody body("hello");
  Send(body);
  Fill(4);
  EXPECT_TRUE(transfer_.OnRewind());
  EXPECT_EQ(transfer_.sent, 0u);
  EXPECT_EQ(Fill(64), 5u);
}

TEST_F(TransferTest, BodyThatEndsEarlyAborts) {
  TextBody body("hello");
  body.declared_size = 6;
  Send(body);
  EXPECT_EQ(Fill(64), 5u);
  EXPECT_FALSE(Fill(64).has_value());
  EXPECT_EQ(transfer_.error->kind, ErrorKind::kInternal);
}

TEST_F(TransferTest, NeverSendsBeyondTheDeclaredSize) {
  TextBody body("hello world");
  body.declared_size = 5;
  Send(body);
  EXPECT_EQ(Fill(64), 5u);
  EXPECT_EQ(Fill(64), 0u);
}

}  // namespace
}  // namespace penstock::http
