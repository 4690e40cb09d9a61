#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "penstock/bodies.h"
#include "penstock/testing/faulty_object_store.h"
#include "penstock/testing/memory_object_store.h"

namespace penstock {
namespace {

const BucketName kBucket("data");
const ObjectKey kKey("key");

std::string ReadAll(Body& body, std::size_t limit) {
  std::string text;
  body.source()->Rewind();
  for (ByteView next = body.source()->Next(limit); !next.empty();
       next = body.source()->Next(limit)) {
    EXPECT_LE(next.size(), limit);
    text += AsText(next);
  }
  return text;
}

TEST(BodyTest, OwnedAndViewedMemoryIsReadAgainAfterRewind) {
  const std::string viewed = "viewed text";
  Body text("some text");
  Body moved(std::string("moved text"));
  Body bytes(std::vector<std::byte>(5, std::byte{'x'}));
  Body view = Body::View(viewed);
  Body empty("");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ReadAll(text, 4), "some text");
    EXPECT_EQ(ReadAll(moved, 100), "moved text");
    EXPECT_EQ(ReadAll(bytes, 2), "xxxxx");
    EXPECT_EQ(ReadAll(view, 3), viewed);
    EXPECT_EQ(ReadAll(empty, 3), "");
  }
  EXPECT_EQ(text.source()->size(), 9u);
}

// Passes `text` to a sink in pieces of the size of its windows. Returns the result of the body.
Result<void> Fill(BodySink& sink, std::string_view text, std::optional<std::uint64_t> announced) {
  PENSTOCK_TRY(sink.Begin({}, announced));
  while (!text.empty()) {
    const MutableByteView window = sink.Window();
    if (window.empty()) return Error::Make(ErrorKind::kDataLoss, "full");
    const std::size_t count = std::min({window.size(), text.size(), std::size_t{1} << 20});
    std::memcpy(window.data(), text.data(), count);
    PENSTOCK_TRY(sink.Commit(count));
    text.remove_prefix(count);
  }
  return Ok();
}

TEST(GrowingSinkTest, KeepsBodiesOfKnownAndUnknownLength) {
  for (const std::size_t size : {0u, 1u, 70'000u, 20'000'001u}) {
    std::string content(size, 'a');
    if (size > 1) content.back() = 'z';
    std::string text = "earlier content";
    std::vector<std::byte> bytes;
    StringSink string_sink(text);
    VectorSink vector_sink(bytes);
    for (const std::optional<std::uint64_t> announced : {std::optional<std::uint64_t>(size), {}}) {
      ASSERT_TRUE(Fill(string_sink, content, announced).ok());
      EXPECT_TRUE(text == content) << size;
      ASSERT_TRUE(Fill(vector_sink, content, announced).ok());
      EXPECT_TRUE(AsText(bytes) == content) << size;
    }
  }
}

TEST(GrowingSinkTest, AnnouncedLengthAllocatesOnlyWhatArrives) {
  std::string text;
  StringSink sink(text);
  ASSERT_TRUE(Fill(sink, "few bytes", std::uint64_t{1} << 62).ok());
  EXPECT_LE(text.capacity(), std::size_t{9} << 20);
}

TEST(GrowingSinkTest, LimitEndsLongBodies) {
  std::string text;
  StringSink sink(text, 10);
  EXPECT_TRUE(Fill(sink, "ten bytes.", 10).ok());
  EXPECT_EQ(Fill(sink, "eleven byte", 11).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(Fill(sink, "eleven byte", {}).error().kind, ErrorKind::kResourceExhausted);
}

TEST(SpanSinkTest, FillsMemoryAndRefusesMore) {
  std::vector<std::byte> memory(10);
  SpanSink sink(memory);
  ASSERT_TRUE(Fill(sink, "text", 4).ok());
  EXPECT_EQ(AsText(sink.bytes()), "text");
  EXPECT_EQ(Fill(sink, "eleven byte", 11).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(Fill(sink, "eleven byte", {}).error().kind, ErrorKind::kDataLoss);
}

TEST(SinkTest, BodyThatStartsAgainReplacesTheEarlierBytes) {
  auto inner = std::make_shared<testing::MemoryObjectStore>(testing::MemoryObjectStoreOptions{});
  testing::FaultyObjectStore store(inner, [](const testing::CallPoint& point) {
    std::optional<testing::Fault> fault;
    if (point.operation == "GetObject") fault = {{}, testing::Fault::Moment::kRetried, 3};
    return fault;
  });
  ASSERT_TRUE(store.Call(CreateBucketRequest{.bucket = kBucket}).ok());
  Body body("some text");
  ASSERT_TRUE(
      store.Call(PutObjectRequest{.bucket = kBucket, .key = kKey, .body = body.source()}).ok());
  std::string text;
  StringSink string_sink(text);
  ASSERT_TRUE(
      store.Call(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &string_sink}).ok());
  EXPECT_EQ(text, "some text");
  std::vector<std::byte> memory(9);
  SpanSink span_sink(memory);
  ASSERT_TRUE(
      store.Call(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &span_sink}).ok());
  EXPECT_EQ(AsText(span_sink.bytes()), "some text");
}

}  // namespace
}  // namespace penstock
