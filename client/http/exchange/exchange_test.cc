#include "client/http/exchange/exchange.h"

#include <gtest/gtest.h>

#include <string>

#include "client/http/body_for_test.h"
#include "client/http/socket_pair_for_test.h"

namespace penstock::http {
namespace {

using Step = Exchange::Step;

class ExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_.emplace(pair_.DuplicateOwn());
    transfer_.response_body = &sink_;
    transfer_.request.method = "GET";
    transfer_.request.endpoint = {"http", "h", 80};
    transfer_.request.target = "/k";
    transfer_.request.headers = {{"A", "b"}, {"Host", "h"}};
  }
  void Upload(TextBody& body, std::uint64_t expect_from = UINT64_MAX) {
    transfer_.request.method = "PUT";
    transfer_.request_body = &body;
    exchange_.Begin(transfer_, expect_from);
  }
  void Respond(std::string_view text) { pair_.PeerSends(text); }
  void ClosePeer() { pair_.ClosePeer(); }
  std::string PeerReads() { return pair_.PeerReads(); }
  Step Send() { return exchange_.Send(*socket_); }
  Step Receive() { return exchange_.Receive(*socket_, scratch_); }

  SocketPair pair_;
  std::optional<ConnectedSocket> socket_;
  std::array<std::byte, 4096> scratch_{};
  Collector sink_;
  Transfer transfer_;
  Exchange exchange_;
};

TEST_F(ExchangeTest, GetIsOneRequestAndOneResponse) {
  exchange_.Begin(transfer_, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(PeerReads(), "GET /k HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n");
  EXPECT_EQ(Receive(), Step::kReceive);
  Respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
  EXPECT_EQ(Receive(), Step::kReceive);
  Respond("llo");
  EXPECT_EQ(Receive(), Step::kDone);
  EXPECT_TRUE(exchange_.keeps_connection());
  const Outcome outcome = exchange_.TakeOutcome();
  EXPECT_EQ(outcome.head.status, 200);
  EXPECT_EQ(outcome.body_bytes, 5u);
  EXPECT_EQ(sink_.text, "hello");
}

TEST_F(ExchangeTest, ExtraBytesAfterTheResponseCloseTheConnection) {
  exchange_.Begin(transfer_, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  Respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more");
  EXPECT_EQ(Receive(), Step::kDone);
  EXPECT_EQ(sink_.text, "ok");
  EXPECT_FALSE(exchange_.keeps_connection());
}

// Symptom: a response before the end of the upload counted as one to the whole upload.
TEST_F(ExchangeTest, BytesThatTheSocketDidNotTakeAreNotSent) {
  const std::string much(1 << 22, 'x');
  TextBody body(much);
  Upload(body);
  EXPECT_EQ(Send(), Step::kSend);
  Respond("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Receive(), Step::kDone);
  const std::uint64_t sent = exchange_.TakeOutcome().sent_bytes;
  std::string arrived;
  for (std::string more = PeerReads(); !more.empty(); more = PeerReads()) arrived += more;
  EXPECT_EQ(arrived.size() - (arrived.find("\r\n\r\n") + 4), sent);
}

TEST_F(ExchangeTest, SendsASmallBodyWithItsHead) {
  TextBody body("hello");
  Upload(body);
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(PeerReads(), "PUT /k HTTP/1.1\r\nHost: h\r\nA: b\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_F(ExchangeTest, LargeBodyWaitsFor100Continue) {
  TextBody body("hello");
  Upload(body, 5);
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_TRUE(exchange_.waits());
  EXPECT_TRUE(PeerReads().ends_with("Expect: 100-continue\r\n\r\n"));
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(PeerReads(), "");
  Respond("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(Receive(), Step::kReceive);
  EXPECT_EQ(PeerReads(), "hello");
  EXPECT_FALSE(exchange_.waits());
}

TEST_F(ExchangeTest, SendsTheBodyIf100ContinueNeverArrives) {
  TextBody body("hello");
  Upload(body, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  PeerReads();
  exchange_.StopWaiting();
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(PeerReads(), "hello");
}

TEST_F(ExchangeTest, RejectionSkipsTheBodyAndClosesTheConnection) {
  TextBody body("hello");
  Upload(body, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  PeerReads();
  Respond("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nno!");
  EXPECT_EQ(Receive(), Step::kDone);
  EXPECT_FALSE(exchange_.keeps_connection());
  EXPECT_EQ(sink_.text, "no!");
  EXPECT_EQ(PeerReads(), "");
}

TEST_F(ExchangeTest, RejectionDuringTheBodyStopsIt) {
  TextBody body(std::string(8 << 20, 'x'));
  Upload(body);
  EXPECT_EQ(Send(), Step::kSend);  // the peer does not read
  Respond("HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(Receive(), Step::kReceive);
  PeerReads();
  EXPECT_EQ(Send(), Step::kReceive);  // nothing is left to send
  Respond("slow");
  EXPECT_EQ(Receive(), Step::kDone);
  EXPECT_EQ(sink_.text, "slow");
  EXPECT_FALSE(exchange_.keeps_connection());
  EXPECT_LT(transfer_.sent, body.size());
}

TEST_F(ExchangeTest, ReadsTheResponseOfAPeerThatClosed) {
  TextBody body(std::string(8 << 20, 'x'));
  Upload(body);
  EXPECT_EQ(Send(), Step::kSend);
  Respond("HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nbad");
  ClosePeer();
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(Receive(), Step::kDone);
  EXPECT_EQ(sink_.text, "bad");
}

TEST_F(ExchangeTest, RepeatsOnlyRequestsThatCannotHaveBeenProcessed) {
  exchange_.Begin(transfer_, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  ClosePeer();
  EXPECT_EQ(Receive(), Step::kFailed);
  EXPECT_TRUE(exchange_.may_repeat());
  EXPECT_EQ(exchange_.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(exchange_.error().message.find("lost before a response"), std::string::npos)
      << exchange_.error().message;
}

TEST_F(ExchangeTest, DoesNotRepeatAWriteThatWasSentCompletely) {
  TextBody body("hello");
  Upload(body);
  EXPECT_EQ(Send(), Step::kReceive);
  ClosePeer();
  EXPECT_EQ(Receive(), Step::kFailed);
  EXPECT_FALSE(exchange_.may_repeat());
}

TEST_F(ExchangeTest, DoesNotRepeatAfterAPartialResponse) {
  exchange_.Begin(transfer_, 1);
  EXPECT_EQ(Send(), Step::kReceive);
  Respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
  ClosePeer();
  EXPECT_EQ(Receive(), Step::kReceive);
  EXPECT_EQ(Receive(), Step::kFailed);
  EXPECT_FALSE(exchange_.may_repeat());
  EXPECT_NE(exchange_.error().message.find("expected 10 bytes of body, received 4"),
            std::string::npos);
}

TEST_F(ExchangeTest, RepetitionStartsFromTheBeginning) {
  TextBody body("hello");
  Upload(body);
  EXPECT_EQ(Send(), Step::kReceive);
  exchange_.Begin(transfer_, UINT64_MAX);
  EXPECT_EQ(Send(), Step::kReceive);
  EXPECT_EQ(body.rewinds, 2);
  EXPECT_EQ(transfer_.sent, 5u);
  const std::string both = PeerReads();
  EXPECT_EQ(both.substr(0, both.size() / 2), both.substr(both.size() / 2));
}

}  // namespace
}  // namespace penstock::http
