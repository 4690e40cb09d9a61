#include "client/http/exchange/transfer.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

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
  // Returns the size of the next piece of the request body.
  std::optional<std::size_t> Next(std::size_t limit) {
    const std::optional<ByteView> piece = transfer_.NextPiece(limit);
    return piece ? std::optional(piece->size()) : std::nullopt;
  }

  Collector sink_{3, 8};
  Transfer transfer_;
};

TEST_F(TransferTest, DeliversTheBodyThroughWindowsAfterOneBegin) {
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

TEST_F(TransferTest, CallsBeginAtTheEndOfAResponseWithoutABody) {
  FeedHead();
  EXPECT_TRUE(transfer_.BeginOnce());
  EXPECT_EQ(sink_.heads.size(), 1u);
}

TEST_F(TransferTest, MalformedHeadAborts) {
  EXPECT_FALSE(transfer_.OnHeadLine("garbage\r\n"));
  EXPECT_EQ(transfer_.error->kind, ErrorKind::kUnavailable);
}

TEST_F(TransferTest, SendsTheWholeBody) {
  TextBody body("hello");
  Send(body);
  EXPECT_EQ(Next(3), 3u);
  EXPECT_EQ(Next(64), 2u);
  EXPECT_EQ(Next(64), 0u);
  EXPECT_EQ(transfer_.sent, 5u);
}

TEST_F(TransferTest, RewindStartsTheBodyOver) {
  TextBody body("hello");
  Send(body);
  Next(4);
  EXPECT_TRUE(transfer_.OnRewind());
  EXPECT_EQ(transfer_.sent, 0u);
  EXPECT_EQ(Next(64), 5u);
}

TEST_F(TransferTest, BodyThatEndsEarlyAborts) {
  TextBody body("hello");
  body.declared_size = 6;
  Send(body);
  EXPECT_EQ(Next(64), 5u);
  EXPECT_FALSE(Next(64).has_value());
  EXPECT_EQ(transfer_.error->kind, ErrorKind::kInternal);
}

class ThrowingBody final : public ResponseBody {
 public:
  enum class In { kBegin, kWindow, kCommit };
  explicit ThrowingBody(In in) : in_(in) {}
  Result<void> Begin(const ResponseHead&) override { return Throw(In::kBegin); }
  MutableByteView Window() override {
    static_cast<void>(Throw(In::kWindow));
    return memory_;
  }
  Result<void> Commit(std::size_t) override { return Throw(In::kCommit); }

 private:
  Result<void> Throw(In here) const {
    if (here == in_) throw std::length_error("vector::_M_default_append");
    return Ok();
  }
  const In in_;
  std::array<std::byte, 8> memory_{};
};

TEST_F(TransferTest, ExceptionInTheResponseBodyIsTheTransfersError) {
  for (const auto in :
       {ThrowingBody::In::kBegin, ThrowingBody::In::kWindow, ThrowingBody::In::kCommit}) {
    ThrowingBody body(in);
    Transfer transfer;
    transfer.response_body = &body;
    ASSERT_TRUE(transfer.OnHeadLine("HTTP/1.1 200 OK\r\n"));
    EXPECT_FALSE(transfer.OnBody(AsBytes("1234")));
    ASSERT_TRUE(transfer.error.has_value());
    EXPECT_EQ(transfer.error->kind, ErrorKind::kResourceExhausted);
    EXPECT_NE(transfer.error->message.find("vector::_M_default_append"), std::string::npos);
  }
}

TEST_F(TransferTest, ExceptionInTheRequestBodyIsTheTransfersError) {
  class Body final : public RequestBody {
   public:
    std::uint64_t size() const override { return 5; }
    void Rewind() override { throw std::runtime_error("cannot rewind"); }
    ByteView Next(std::size_t) override { throw std::runtime_error("cannot read"); }
  } body;
  transfer_.request_body = &body;
  EXPECT_FALSE(Next(3).has_value());
  EXPECT_NE(transfer_.error->message.find("cannot read"), std::string::npos);
  transfer_.error.reset();
  EXPECT_FALSE(transfer_.OnRewind());
  EXPECT_NE(transfer_.error->message.find("cannot rewind"), std::string::npos);
}

TEST_F(TransferTest, NeverSendsBeyondTheDeclaredSize) {
  TextBody body("hello world");
  body.declared_size = 5;
  Send(body);
  EXPECT_EQ(Next(64), 5u);
  EXPECT_EQ(Next(64), 0u);
}

}  // namespace
}  // namespace penstock::http
