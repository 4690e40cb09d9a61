#include "penstock/append_writer.h"

#include <gtest/gtest.h>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;
using penstock::testing::MemoryObjectStore;

const BucketName kDirectory("data--usw2-az1--x-s3");

// A store with a directory bucket, and the faults that the test plants in its calls.
struct AppendTest {
  AppendTest() {
    EXPECT_TRUE(memory->Call(CreateBucketRequest{kDirectory, {}}).ok());
    store = std::make_shared<FaultyObjectStore>(memory, [this](const CallPoint& point) -> std::optional<Fault> {
      return hook ? hook(point) : std::nullopt;
    });
  }
  std::unique_ptr<AppendWriter> Open() {
    auto writer = AppendWriter::Open(store, kDirectory, kKey);
    EXPECT_TRUE(writer.ok());
    return std::move(writer).value();
  }
  // Makes the next PutObject fail so.
  void FailNextPut(ErrorKind kind, Fault::Moment moment, int attempts = 1) {
    const std::uint64_t number = store->count("PutObject");
    hook = [=](const CallPoint& point) -> std::optional<Fault> {
      if (point.operation != "PutObject" || point.ordinal != number) return std::nullopt;
      Fault fault = MakeFault(kind, moment);
      fault.error.attempts = attempts;
      return fault;
    };
  }
  std::string Text() const {
    std::string text;
    const Result<ObjectMetadata> head = memory->Call(HeadObjectRequest{kDirectory, kKey, {}, {}});
    if (!head.ok()) return "(none)";
    Bytes bytes(head->size);
    DownloadRequest request;
    request.bucket = kDirectory;
    request.key = kKey;
    request.destination = [&bytes](std::uint64_t) -> Result<MutableByteView> { return MutableByteView(bytes); };
    EXPECT_TRUE(Download(*memory, std::move(request)).ok());
    return std::string(AsText(ByteView(bytes)));
  }
  // Another writer's append.
  void Elsewhere(std::string_view text) {
    auto other = AppendWriter::Open(memory, kDirectory, kKey);
    EXPECT_TRUE(other.ok() && (*other)->Append(AsBytes(text)).ok());
  }

  std::shared_ptr<ObjectStore> memory = std::make_shared<MemoryObjectStore>();
  std::function<std::optional<Fault>(const CallPoint&)> hook;
  std::shared_ptr<FaultyObjectStore> store;
};

Result<void> Append(AppendWriter& writer, std::string_view text) { return writer.Append(AsBytes(text)); }

TEST(AppendWriterTest, TheFirstAppendMakesTheObjectTheNextOnesFollow) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_EQ(test.Text(), "(none)");
  EXPECT_TRUE(Append(*writer, "one ").ok());
  EXPECT_TRUE(Append(*writer, "").ok());
  EXPECT_TRUE(Append(*writer, "two").ok());
  EXPECT_EQ(writer->size(), 7u);
  EXPECT_EQ(test.Text(), "one two");
  const auto next = test.Open();
  EXPECT_EQ(next->size(), 7u);
  EXPECT_TRUE(Append(*next, "!").ok());
  EXPECT_EQ(test.Text(), "one two!");
}

TEST(AppendWriterTest, ALostAnswerIsFoundInTheObjectAndNothingAppendedTwice) {
  for (const ErrorKind kind : {ErrorKind::kTimeout, ErrorKind::kUnavailable}) {
    AppendTest test;
    const auto writer = test.Open();
    test.FailNextPut(kind, Fault::Moment::kAfter);
    EXPECT_TRUE(Append(*writer, "one ").ok());  // makes the object
    test.FailNextPut(kind, Fault::Moment::kAfter);
    EXPECT_TRUE(Append(*writer, "two ").ok());
    EXPECT_TRUE(Append(*writer, "three").ok());
    EXPECT_EQ(test.Text(), "one two three");
  }
}

// A retry inside the store met what the lost attempt had done.
TEST(AppendWriterTest, ARefusalOfARetryIsLookedAtToo) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.FailNextPut(ErrorKind::kPreconditionFailed, Fault::Moment::kAfter, 2);
  EXPECT_TRUE(Append(*writer, "two").ok());
  EXPECT_EQ(test.Text(), "one two");
}

TEST(AppendWriterTest, WhatDidNotHappenIsAnErrorAndCanBeTriedAgain) {
  AppendTest test;
  const auto writer = test.Open();
  for (const std::string_view text : {"one ", "two"}) {
    test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
    EXPECT_EQ(Append(*writer, text).error().kind, ErrorKind::kTimeout);
    EXPECT_TRUE(Append(*writer, text).ok());
  }
  EXPECT_EQ(test.Text(), "one two");
}

TEST(AppendWriterTest, AnotherWritersAppendIsNeverTakenForOurs) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.Elsewhere("abc");
  EXPECT_EQ(Append(*writer, "two").error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(test.Text(), "one abc");
  // As long as ours, and ours may have been carried out: the bytes tell.
  AppendTest again;
  const auto second = again.Open();
  EXPECT_TRUE(Append(*second, "one ").ok());
  again.Elsewhere("abc");
  again.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_EQ(Append(*second, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(Append(*second, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(again.Text(), "one abc");
}

TEST(AppendWriterTest, WhereTheObjectCannotBeLookedAtTheWriterEnds) {
  AppendTest test;
  const auto writer = test.Open();
  test.hook = [](const CallPoint&) -> std::optional<Fault> { return MakeFault(ErrorKind::kTimeout); };
  const auto lost = Append(*writer, "one");
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind, ErrorKind::kTimeout);
  EXPECT_NE(lost.error().message.find("whether these bytes were appended is not known"), std::string::npos);
  test.hook = nullptr;
  EXPECT_EQ(Append(*writer, "one").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(test.Text(), "(none)");
}

TEST(AppendWriterTest, AfterAnInterruptNothingMoreIsAsked) {
  AppendTest test;
  const auto writer = test.Open();
  const std::uint64_t heads = test.store->count("HeadObject");
  test.FailNextPut(ErrorKind::kCancelled, Fault::Moment::kBefore);
  EXPECT_EQ(Append(*writer, "one").error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(test.store->count("HeadObject"), heads);
}

TEST(AppendWriterTest, AGeneralPurposeBucketIsRefusedBeforeAnyRequest) {
  AppendTest test;
  const auto writer = AppendWriter::Open(test.store, BucketName("plain"), kKey);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(writer.error().message.find("`plain` is a general purpose bucket"), std::string::npos);
  EXPECT_EQ(test.store->count("HeadObject"), 0u);
}

TEST(AppendWriterTest, AMissingBucketIsSaidWhenItIsOpened) {
  AppendTest test;
  const auto writer = AppendWriter::Open(test.store, BucketName("none--usw2-az1--x-s3"), kKey);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace penstock::transfer
