#include "client/s3/attempt/response_bodies.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

GetObjectRequest Request(StringSink& sink) {
  return {.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink};
}

Result<void> Feed(http::ResponseBody& body, std::string_view text) {
  while (!text.empty()) {
    const MutableByteView window = body.Window();
    const std::size_t count = std::min(window.size(), text.size());
    std::memcpy(window.data(), text.data(), count);
    PENSTOCK_TRY(body.Commit(count));
    text.remove_prefix(count);
  }
  return Ok();
}

http::ResponseHead Head(std::string_view length, std::string checksum = "rosUhgp5mIg=") {
  return {200,
          {{"ETag", "\"e\""},
           {"Content-Length", std::string(length)},
           {"x-amz-checksum-crc64nvme", std::move(checksum)}}};
}

TEST(ResponseBodiesTest, PassesAnObjectToTheSinkAndVerifiesIt) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, true);
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "123456789").ok());
  ASSERT_TRUE(body.Finish().ok());
  EXPECT_EQ(body.TakeMetadata().size, 9u);
  EXPECT_EQ(sink.text, "123456789");
  EXPECT_EQ(sink.body_length, 9u);
}

TEST(ResponseBodiesTest, AFlippedBitIsDataLoss) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, true);
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "123456788").ok());
  EXPECT_EQ(body.Finish().error().kind, ErrorKind::kDataLoss);
  EXPECT_FALSE(body.refused_by_caller());
}

TEST(ResponseBodiesTest, WithoutVerificationBytesAreNotChecked) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, false);
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "123456788").ok());
  EXPECT_TRUE(body.Finish().ok());
}

TEST(ResponseBodiesTest, MissingBytesAreDataLoss) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, true);
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "12345678").ok());
  EXPECT_EQ(body.Finish().error().kind, ErrorKind::kDataLoss);
}

TEST(ResponseBodiesTest, BeginRestartsTheBody) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, true);
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "1234").ok());
  ASSERT_TRUE(body.Begin(Head("9")).ok());
  ASSERT_TRUE(Feed(body, "123456789").ok());
  EXPECT_TRUE(body.Finish().ok());
  EXPECT_EQ(sink.text, "123456789");
}

TEST(ResponseBodiesTest, AnErrorOfTheSinkIsAnErrorOfTheCaller) {
  StringSink sink;
  sink.refusal = Error::Make(ErrorKind::kResourceExhausted, "no room");
  const GetObjectRequest request = Request(sink);
  ObjectBody body(request, true);
  EXPECT_FALSE(body.Begin(Head("9")).ok());
  EXPECT_TRUE(body.refused_by_caller());
  sink.refusal = Error::Make(ErrorKind::kDataLoss, "another size");
  EXPECT_FALSE(body.Begin(Head("9")).ok());
  EXPECT_FALSE(body.refused_by_caller()) << "another response may be right";
}

TEST(ResponseBodiesTest, ErrorResponsesNeverReachTheSink) {
  StringSink sink;
  const GetObjectRequest request = Request(sink);
  ObjectBody object(request, true);
  AttemptBody attempt(Info(Operation::kGetObject), &object);
  ASSERT_TRUE(attempt.Begin({404, {}}).ok());
  ASSERT_TRUE(Feed(attempt, "<Error/>").ok());
  EXPECT_EQ(attempt.TakeText(), "<Error/>");
  EXPECT_EQ(sink.begins, 0);
  EXPECT_EQ(attempt.head()->status, 404);
}

TEST(ResponseBodiesTest, LargeDocumentsAreCollected) {
  AttemptBody attempt(Info(Operation::kListObjectsV2), nullptr);
  const std::string text(3 << 20, 'x');
  ASSERT_TRUE(attempt.Begin({200, {}}).ok());
  ASSERT_TRUE(Feed(attempt, text).ok());
  EXPECT_EQ(attempt.TakeText(), text);
}

TEST(ResponseBodiesTest, AnAnnouncedDocumentHasOneWindowOfAtMostOneMebibyte) {
  AttemptBody attempt(Info(Operation::kListObjectsV2), nullptr);
  ASSERT_TRUE(attempt.Begin({200, {{"Content-Length", "300000"}}}).ok());
  EXPECT_EQ(attempt.Window().size(), 300'000u);
  AttemptBody huge(Info(Operation::kListObjectsV2), nullptr);
  ASSERT_TRUE(huge.Begin({200, {{"Content-Length", "1000000000000"}}}).ok());
  EXPECT_EQ(huge.Window().size(), 1u << 20);
}

TEST(ResponseBodiesTest, ErrorPagesHaveALimit) {
  AttemptBody attempt(Info(Operation::kListObjectsV2), nullptr);
  ASSERT_TRUE(attempt.Begin({500, {}}).ok());
  ASSERT_TRUE(Feed(attempt, std::string(1 << 20, 'x')).ok());
  EXPECT_TRUE(attempt.Window().empty());
}

TEST(ResponseBodiesTest, ResetDiscardsTheEarlierAttempt) {
  AttemptBody attempt(Info(Operation::kListObjectsV2), nullptr);
  ASSERT_TRUE(attempt.Begin({500, {}}).ok());
  ASSERT_TRUE(Feed(attempt, "old").ok());
  attempt.Reset();
  EXPECT_FALSE(attempt.head());
  EXPECT_EQ(attempt.TakeText(), "");
}

}  // namespace
}  // namespace penstock::s3
