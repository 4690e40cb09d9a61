// Objects whose bodies end early: the next request, and how its response is handled.
#include <gtest/gtest.h>

#include <string>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

constexpr const char* kDigits = "123456789";
constexpr const char* kDigitsChecksum = "rosUhgp5mIg=";  // CRC64NVME of kDigits.

Error Reset() { return Error::Make(ErrorKind::kUnavailable, "connection reset"); }

// A response that announces all of `text` and delivers `count` bytes.
FakeReply Cut(const std::string& text, std::size_t count, std::vector<http::Header> headers = {}) {
  FakeReply reply = Object(text, std::move(headers));
  reply.chunks = {text.substr(0, count)};
  return reply;
}

FakeReply Rest(const std::string& text, std::size_t from, std::size_t to,
               const std::string& etag = "\"e\"") {
  const std::string range = "bytes " + std::to_string(from) + "-" + std::to_string(to - 1) + "/" +
                            std::to_string(text.size());
  return FakeReply::Respond(206, {{"Content-Range", range}, {"ETag", etag}},
                            text.substr(from, to - from));
}

FakeReply RestOfDigits(std::size_t from) { return Rest(kDigits, from, 9); }

TEST(DispatcherResumeTest, AnIncompleteBodyIsResumedAtTheByteReached) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 2), Reset()));
  test.transport.Expect(RestOfDigits(2));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(0, "Range"), "(none)");
  EXPECT_EQ(test.Header(1, "Range"), "bytes=2-8");
  EXPECT_EQ(test.Header(1, "If-Match"), "\"e\"");
}

TEST(DispatcherResumeTest, TheSinkSeesOneBody) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 2), Reset()));
  FakeReply more = RestOfDigits(2);
  more.chunks = {"345"};
  test.transport.Expect(
      FakeReply::FailAfter(more, Error::Make(ErrorKind::kTimeout, "no byte for 30 s")));
  test.transport.Expect(RestOfDigits(5));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.sink.text, kDigits);
  EXPECT_EQ(test.sink.begins, 1);
  EXPECT_EQ(test.Header(2, "Range"), "bytes=5-8");
  EXPECT_EQ(test.client->stats().retries, 2u);
  EXPECT_EQ(test.client->stats().bytes_received, 9u);
}

TEST(DispatcherResumeTest, AShortBodyThatTheTransportMissedIsResumed) {
  ClientUnderTest test;
  test.transport.Expect(Cut(kDigits, 2));
  test.transport.Expect(RestOfDigits(2));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.sink.text, kDigits);
}

TEST(DispatcherResumeTest, AResumedRangeStaysWithinTheRequestedRange) {
  ClientUnderTest test;
  FakeReply first = Rest(kDigits, 3, 7);
  first.chunks = {"45"};
  test.transport.Expect(FakeReply::FailAfter(first, Reset()));
  test.transport.Expect(Rest(kDigits, 5, 7));
  ASSERT_TRUE(test.Run(GetObjectRequest{.bucket = BucketName("b"),
                                        .key = ObjectKey("k"),
                                        .range = RangeRequest{3, 7, {}},
                                        .sink = &test.sink})
                  .ok());
  EXPECT_EQ(test.Header(1, "Range"), "bytes=5-6");
  EXPECT_EQ(test.sink.text, "4567");
}

TEST(DispatcherResumeTest, TheChecksumCoversResumedBytes) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 2});
  const std::vector<http::Header> checksum = {{"x-amz-checksum-crc64nvme", kDigitsChecksum}};
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 4, checksum), Reset()));
  test.transport.Expect(RestOfDigits(4));
  EXPECT_TRUE(test.Get().ok());

  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 4, checksum), Reset()));
  test.transport.Expect(Rest("123456780", 4, 9));
  const auto wrong = test.Get();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(wrong.error().message.find(kDigitsChecksum), std::string::npos);
}

TEST(DispatcherResumeTest, AResumedBodyWithAWrongChecksumIsReadAgain) {
  ClientUnderTest test;
  const std::vector<http::Header> checksum = {{"x-amz-checksum-crc64nvme", kDigitsChecksum}};
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 4, checksum), Reset()));
  test.transport.Expect(Rest("123456780", 4, 9));
  test.transport.Expect(Object(kDigits, checksum));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(2, "Range"), "(none)");
  EXPECT_EQ(test.Header(2, "If-Match"), "(none)");
  EXPECT_EQ(test.sink.begins, 2);
  EXPECT_EQ(test.sink.text, kDigits);
}

TEST(DispatcherResumeTest, AChangedObjectEndsTheCall) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 4), Reset()));
  test.transport.Expect(Refuse(412, "PreconditionFailed"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(test.sent(), 2u);
}

// After such a response the client does not request a remainder again.
TEST(DispatcherResumeTest, AResponseThatDoesNotResumeTheBodyRestartsIt) {
  const FakeReply others[] = {
      Rest(kDigits, 3, 9),                                    // Another range.
      Rest(kDigits, 4, 8),                                    // A shorter range.
      Rest(kDigits, 4, 9, "\"other\""),                       // Another version.
      Rest(std::string(kDigits) + "0", 4, 9),                 // Another object size.
      Object(kDigits),                                        // Range ignored.
      FakeReply::Respond(206, {{"ETag", "\"e\""}}, "56789"),  // No Content-Range.
  };
  for (const FakeReply& other : others) {
    ClientUnderTest test;
    test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 4), Reset()));
    test.transport.Expect(other);
    test.transport.Expect(Object(kDigits));
    const auto result = test.Get();
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    EXPECT_EQ(test.Header(1, "Range"), "bytes=4-8");
    EXPECT_EQ(test.Header(2, "Range"), "(none)");
    EXPECT_EQ(test.sink.text, kDigits);
  }
}

TEST(DispatcherResumeTest, WithoutAStrongETagTheBodyIsReadAgain) {
  for (const char* etag : {"", "W/\"e\""}) {
    ClientUnderTest test;
    FakeReply broken = FakeReply::Respond(200, {{"Content-Length", "9"}, {"ETag", etag}}, "1234");
    test.transport.Expect(FakeReply::FailAfter(broken, Reset()));
    test.transport.Expect(Object(kDigits));
    ASSERT_TRUE(test.Get().ok());
    EXPECT_EQ(test.Header(1, "Range"), "(none)");
    EXPECT_EQ(test.sink.text, kDigits);
  }
}

TEST(DispatcherResumeTest, ResumptionsCountAsAttempts) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 3});
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 1), Reset()));
  // All bytes arrived, but the attempt failed.
  test.transport.Expect(FakeReply::FailAfter(RestOfDigits(1), Reset()));
  test.transport.Expect(FakeReply::FailAfter(Cut(kDigits, 1), Reset()));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().attempts, 3);
  EXPECT_EQ(test.Header(2, "Range"), "(none)");
}

// Accepts `most` bytes and then stops the call.
class StoppingSink final : public BodySink {
 public:
  explicit StoppingSink(std::size_t most) : bytes_(most) {}
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override { return Ok(); }
  MutableByteView Window() override { return MutableByteView(bytes_).subspan(taken_); }
  Result<void> Commit(std::size_t count) override {
    taken_ += count;
    if (taken_ < bytes_.size()) return Ok();
    return Error::Make(ErrorKind::kCancelled, "enough");
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
};

TEST(DispatcherResumeTest, ASinkThatStopsEndsTheCallWithoutAFailure) {
  ClientUnderTest test;
  std::string code = "none seen";
  test.client->SetObserver([&code](const RequestEvent& event) { code = event.error_code; });
  test.transport.Expect(Object(kDigits));
  StoppingSink sink(4);
  const auto result =
      test.Run(GetObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "enough");
  EXPECT_EQ(test.sent(), 1u);
  EXPECT_EQ(code, "");
  EXPECT_EQ(test.client->stats().failures, 0u);
  EXPECT_EQ(test.client->stats().bytes_received, 4u);
}

}  // namespace
}  // namespace penstock::s3
