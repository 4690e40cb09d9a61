#include "penstock/append_writer.h"

#include <gtest/gtest.h>

#include "client/transfer/checksummed_store_test_support.h"
#include "client/transfer/transfer_test_support.h"
#include "client/transfer/upload/part_body.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::MemoryObjectStore;

const BucketName kDirectory("data--usw2-az1--x-s3");
const std::string kChanged = "changed under this writer; open another writer";

// A store with a directory bucket, and faults that the test injects.
struct AppendTest {
  AppendTest() {
    EXPECT_TRUE(memory->Call(CreateBucketRequest{kDirectory, {}}).ok());
    store = std::make_shared<ChecksummedStore>(
        memory, "", [this](const CallPoint& point) -> std::optional<Fault> {
          return hook ? hook(point) : std::nullopt;
        });
  }
  std::unique_ptr<AppendWriter> Open() {
    auto writer = AppendWriter::Open(store, kDirectory, kKey);
    EXPECT_TRUE(writer.ok());
    return std::move(writer).value();
  }
  // Makes the next PutObject fail this way.
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
    request.destination = [&bytes](std::uint64_t) -> Result<MutableByteView> {
      return MutableByteView(bytes);
    };
    EXPECT_TRUE(Download(*memory, std::move(request)).ok());
    return std::string(AsText(ByteView(bytes)));
  }
  // Appends through another writer.
  void AppendByAnotherWriter(std::string_view text) {
    auto other = AppendWriter::Open(memory, kDirectory, kKey);
    EXPECT_TRUE(other.ok() && (*other)->Append(AsBytes(text)).ok());
  }

  std::shared_ptr<ObjectStore> memory = std::make_shared<MemoryObjectStore>();
  std::function<std::optional<Fault>(const CallPoint&)> hook;
  std::shared_ptr<ChecksummedStore> store;
};

Result<void> Append(AppendWriter& writer, std::string_view text) {
  return writer.Append(AsBytes(text));
}

TEST(AppendWriterTest, FirstAppendCreatesTheObjectAndLaterOnesExtendIt) {
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

TEST(AppendWriterTest, LostResponseDoesNotAppendTwice) {
  for (const ErrorKind kind : {ErrorKind::kTimeout, ErrorKind::kUnavailable}) {
    AppendTest test;
    const auto writer = test.Open();
    test.FailNextPut(kind, Fault::Moment::kAfter);
    EXPECT_TRUE(Append(*writer, "one ").ok());  // creates the object
    test.FailNextPut(kind, Fault::Moment::kAfter);
    EXPECT_TRUE(Append(*writer, "two ").ok());
    EXPECT_TRUE(Append(*writer, "three").ok());
    EXPECT_EQ(test.Text(), "one two three");
  }
}

TEST(AppendWriterTest, RefusalSaysThatTheRequestMayHaveBeenSentTwice) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.hook = [&](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "PutObject") test.AppendByAnotherWriter("other ");
    return std::nullopt;
  };
  const auto append = Append(*writer, "two");
  ASSERT_FALSE(append.ok());
  EXPECT_NE(append.error().message.find(kChanged), std::string::npos) << append.error().message;
  EXPECT_NE(append.error().message.find("read its end"), std::string::npos);
}

TEST(AppendWriterTest, ErrorOfTooManyPartsNamesTheFix) {
  // Regression test: the caller, who had added no parts, got "You have attempted to add more parts
  // than allowed".
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.hook = [](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation != "PutObject") return std::nullopt;
    Fault fault = MakeFault(ErrorKind::kInvalidArgument, Fault::Moment::kBefore);
    fault.error.code = "TooManyParts";
    return fault;
  };
  const auto refused = Append(*writer, "two");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "TooManyParts");
  EXPECT_NE(refused.error().message.find("10,000 appends and parts"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(writer->unsettled_bytes(), 0u);
  test.hook = nullptr;
  EXPECT_TRUE(Append(*writer, "two").ok()) << "S3 accepts it after all";
  EXPECT_EQ(test.Text(), "one two");
}

// A retry in the store found the effect of the lost attempt.
TEST(AppendWriterTest, ChecksTheObjectAfterARejectedRetry) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.FailNextPut(ErrorKind::kPreconditionFailed, Fault::Moment::kAfter, 2);
  EXPECT_TRUE(Append(*writer, "two").ok());
  EXPECT_EQ(test.Text(), "one two");
}

TEST(AppendWriterTest, FailedAppendIsUnsettledAndCanBeRetried) {
  AppendTest test;
  const auto writer = test.Open();
  for (const std::string_view text : {"one ", "two"}) {
    test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
    const auto open = Append(*writer, text);
    EXPECT_EQ(open.error().kind, ErrorKind::kTimeout);
    EXPECT_NE(open.error().message.find("may still arrive"), std::string::npos);
    EXPECT_EQ(writer->unsettled_bytes(), text.size());
    EXPECT_TRUE(Append(*writer, text).ok());
    EXPECT_EQ(writer->unsettled_bytes(), 0u);
  }
  EXPECT_EQ(test.Text(), "one two");
}

TEST(AppendWriterTest, DoesNotMistakeAnotherWritersAppendForItsOwn) {
  AppendTest test;
  const auto writer = test.Open();
  EXPECT_TRUE(Append(*writer, "one ").ok());
  test.AppendByAnotherWriter("abc");
  const auto refused = Append(*writer, "two");
  EXPECT_EQ(refused.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_NE(refused.error().message.find(kChanged), std::string::npos);
  EXPECT_EQ(Append(*writer, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(test.Text(), "one abc");
  // Has the length of the appended data, which may have been stored: only the bytes differ.
  AppendTest again;
  const auto second = again.Open();
  EXPECT_TRUE(Append(*second, "one ").ok());
  again.AppendByAnotherWriter("abc");
  again.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_EQ(Append(*second, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(Append(*second, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(again.Text(), "one abc");
}

// Regression test: an append that S3 executed after the client gave up on its response was reported
// as rejected.
TEST(AppendWriterTest, NextAppendFindsALateArrival) {
  for (const std::string_view before : {"", "first "}) {     // a new object, and an existing one
    for (const std::string_view more : {"", "and more "}) {  // written since then
      AppendTest test;
      if (!before.empty()) test.AppendByAnotherWriter(before);
      const auto writer = test.Open();
      test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
      EXPECT_EQ(Append(*writer, "record ").error().kind, ErrorKind::kTimeout);
      test.AppendByAnotherWriter("record ");
      EXPECT_TRUE(Append(*writer, "record " + std::string(more)).ok());
      EXPECT_EQ(writer->unsettled_bytes(), 0u);
      EXPECT_TRUE(Append(*writer, "last").ok());
      EXPECT_EQ(test.Text(), std::string(before) + "record " + std::string(more) + "last");
      EXPECT_EQ(writer->size(), test.Text().size());
    }
  }
}

// Same, with three attempts, each longer than the previous one. Any one may arrive; 3: none does.
TEST(AppendWriterTest, FindsWhicheverAttemptArrives) {
  const std::vector<std::string> tries = {"a", "a b", "a b c"};
  for (const std::string_view before : {"", "first "}) {
    for (std::size_t which = 0; which <= tries.size(); ++which) {
      AppendTest test;
      if (!before.empty()) test.AppendByAnotherWriter(before);
      const auto writer = test.Open();
      for (const std::string& text : tries) {
        test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
        EXPECT_FALSE(Append(*writer, text).ok());
      }
      if (which < tries.size()) test.AppendByAnotherWriter(tries[which]);
      EXPECT_TRUE(Append(*writer, "a b c d").ok());
      EXPECT_EQ(test.Text(), std::string(before) + "a b c d") << which;
    }
  }
}

// Regression test: responses to reads of a range have no checksum. One wrong bit made the writer
// report that bytes which are in the object are not in it.
TEST(AppendWriterTest, AWrongBitOfTheCheckDoesNotHideAnArrival) {
  for (const int flips : {1, 2}) {
    AppendTest test;
    test.AppendByAnotherWriter("first ");
    const auto writer = test.Open();
    test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kAfter);
    test.store->flip = 7;
    test.store->flips_left = 1;
    if (flips == 2) {  // in another byte of the second reading
      test.hook = [&, put = test.hook](const CallPoint& point) {
        if (point.operation == "GetObject" && point.ordinal == 1) {
          test.store->flip = 8;
          test.store->flips_left = 1;
        }
        return put(point);
      };
    }
    EXPECT_TRUE(Append(*writer, "one ").ok()) << flips;
    EXPECT_EQ(test.store->count("GetObject"), static_cast<std::uint64_t>(flips + 1));
    test.store->flip.reset();
    EXPECT_TRUE(Append(*writer, "two").ok());
    EXPECT_EQ(test.Text(), "first one two");
  }
}

// The wrong bit follows a shorter attempt, which did not arrive.
TEST(AppendWriterTest, AWrongBitDoesNotMakeAShorterAttemptOfALongerOne) {
  AppendTest test;
  const auto writer = test.Open();
  for (const std::string_view text : {"a ", "a b"}) {
    test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
    EXPECT_FALSE(Append(*writer, text).ok());
  }
  test.AppendByAnotherWriter("a b");
  test.store->flip = 2;
  test.store->flips_left = 1;
  EXPECT_TRUE(Append(*writer, "a b c").ok());
  EXPECT_EQ(test.Text(), "a b c");
}

TEST(AppendWriterTest, BytesThatEachReadingShowsDifferentlyStayUnsettled) {
  AppendTest test;
  test.AppendByAnotherWriter("first ");
  const auto writer = test.Open();
  const std::uint64_t number = test.store->count("PutObject");
  test.store->flips_left = 1'000;
  test.hook = [&](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "GetObject") test.store->flip = 6 + point.ordinal;
    if (point.operation != "PutObject" || point.ordinal != number) return std::nullopt;
    return MakeFault(ErrorKind::kTimeout, Fault::Moment::kAfter);
  };
  const auto lost = Append(*writer, "record ");
  EXPECT_EQ(lost.error().kind, ErrorKind::kTimeout);
  EXPECT_NE(lost.error().message.find("7 bytes after the first 6 may have been appended"),
            std::string::npos)
      << lost.error().message;
  EXPECT_EQ(writer->unsettled_bytes(), 7u);
  EXPECT_EQ(test.store->count("GetObject"), 3u);
  test.hook = nullptr;
  test.store->flip.reset();
  EXPECT_TRUE(Append(*writer, "record two").ok());
  EXPECT_EQ(test.Text(), "first record two");
}

// The middle attempt is rejected for another reason, which gives no information about the previous
// attempt.
TEST(AppendWriterTest, OtherRejectionsKeepEarlierAttemptsUnsettled) {
  AppendTest test;
  const auto writer = test.Open();
  test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_FALSE(Append(*writer, "one").ok());
  test.FailNextPut(ErrorKind::kAccessDenied, Fault::Moment::kBefore, 1);
  const auto refused = Append(*writer, "one two");
  EXPECT_EQ(refused.error().kind, ErrorKind::kAccessDenied);
  EXPECT_NE(refused.error().message.find("3 bytes after the first 0 may have been appended"),
            std::string::npos);
  EXPECT_EQ(writer->unsettled_bytes(), 3u);
  test.AppendByAnotherWriter("one");
  EXPECT_TRUE(Append(*writer, "one two").ok());
  EXPECT_EQ(test.Text(), "one two");
}

TEST(AppendWriterTest, UnsettledBytesMustBeRepeated) {
  AppendTest test;
  const auto writer = test.Open();
  test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_FALSE(Append(*writer, "one").ok());
  const std::uint64_t puts = test.store->count("PutObject");
  for (const std::string_view other : {"two", "on"}) {
    const auto refused = Append(*writer, other);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("begin with the same bytes, or open another writer"),
              std::string::npos);
  }
  EXPECT_TRUE(Append(*writer, "").ok());
  EXPECT_EQ(test.store->count("PutObject"), puts);
  EXPECT_TRUE(Append(*writer, "one").ok());
  EXPECT_EQ(test.Text(), "one");
}

TEST(AppendWriterTest, ReportsAnotherWritersAppendAfterALateArrival) {
  AppendTest test;
  const auto writer = test.Open();
  test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_FALSE(Append(*writer, "one ").ok());
  test.AppendByAnotherWriter("one ");
  test.AppendByAnotherWriter("abc");
  const auto changed = Append(*writer, "one two");
  EXPECT_EQ(changed.error().kind, ErrorKind::kConflict);
  EXPECT_NE(changed.error().message.find("which had 4 bytes and has 7, has " + kChanged),
            std::string::npos);
  EXPECT_EQ(writer->size(), 4u);  // "one " is in the object, "two" is not
  EXPECT_EQ(test.Text(), "one abc");
  // Nothing was left to append: that append succeeds, and the following one fails.
  AppendTest whole;
  const auto second = whole.Open();
  whole.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
  EXPECT_FALSE(Append(*second, "one ").ok());
  whole.AppendByAnotherWriter("one ");
  whole.AppendByAnotherWriter("abc");
  EXPECT_TRUE(Append(*second, "one ").ok());
  EXPECT_EQ(Append(*second, "two").error().kind, ErrorKind::kConflict);
  EXPECT_EQ(whole.Text(), "one abc");
}

// Instead of the late bytes, others arrived: as long, longer or shorter, or another object.
TEST(AppendWriterTest, DoesNotMistakeAnotherWritersChangeForALateArrival) {
  for (const std::string_view other :
       {"first abc", "first onx", "first abcdef", "first o", "fir", "second one"}) {
    AppendTest test;
    test.AppendByAnotherWriter("first ");
    const auto writer = test.Open();
    test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
    EXPECT_FALSE(Append(*writer, "one").ok());
    EXPECT_TRUE(test.memory->Call(DeleteObjectRequest{kDirectory, kKey, {}, {}, {}}).ok());
    test.AppendByAnotherWriter(other);
    for (int i = 0; i < 2; ++i) {
      const auto changed = Append(*writer, "one");
      ASSERT_FALSE(changed.ok()) << other;
      EXPECT_NE(changed.error().message.find(kChanged), std::string::npos);
    }
    EXPECT_EQ(writer->size(), 6u);
    EXPECT_EQ(test.Text(), other);
  }
}

TEST(AppendWriterTest, DeletedObjectCountsAsChanged) {
  for (const bool unsettled : {false, true}) {
    AppendTest test;
    test.AppendByAnotherWriter("first ");
    const auto writer = test.Open();
    if (unsettled) test.FailNextPut(ErrorKind::kTimeout, Fault::Moment::kBefore);
    EXPECT_EQ(Append(*writer, "one").ok(), !unsettled);
    EXPECT_TRUE(test.memory->Call(DeleteObjectRequest{kDirectory, kKey, {}, {}, {}}).ok());
    const auto gone = Append(*writer, "one");
    EXPECT_EQ(gone.error().kind, ErrorKind::kConflict);
    EXPECT_NE(gone.error().message.find(kChanged), std::string::npos);
    EXPECT_EQ(test.Text(), "(none)");
  }
}

// Reading the object after a lost response fails too: the next append settles it.
TEST(AppendWriterTest, NextAppendSettlesIfTheObjectCannotBeRead) {
  for (const std::string operation : {"HeadObject", "GetObject"}) {
    for (const bool arrives : {false, true}) {
      AppendTest test;
      const auto writer = test.Open();
      test.hook = [&](const CallPoint& point) -> std::optional<Fault> {
        if (point.operation == "PutObject")
          return MakeFault(ErrorKind::kTimeout,
                           arrives ? Fault::Moment::kAfter : Fault::Moment::kBefore);
        return point.operation == operation ? std::optional(MakeFault(ErrorKind::kUnavailable))
                                            : std::nullopt;
      };
      const auto lost = Append(*writer, "one ");
      ASSERT_FALSE(lost.ok());
      EXPECT_EQ(lost.error().kind, ErrorKind::kTimeout);
      EXPECT_NE(lost.error().message.find("may have been appended or may still arrive"),
                std::string::npos);
      test.hook = nullptr;
      EXPECT_TRUE(Append(*writer, "one two").ok());
      EXPECT_EQ(test.Text(), "one two");
    }
  }
}

TEST(AppendWriterTest, NextAppendSettlesAfterAnInterrupt) {
  for (const Fault::Moment moment : {Fault::Moment::kBefore, Fault::Moment::kAfter}) {
    AppendTest test;
    const auto writer = test.Open();
    const std::uint64_t heads = test.store->count("HeadObject");
    test.FailNextPut(ErrorKind::kCancelled, moment);
    EXPECT_EQ(Append(*writer, "one").error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(test.store->count("HeadObject"), heads);
    EXPECT_TRUE(Append(*writer, "one").ok());
    EXPECT_EQ(test.Text(), "one");
  }
}

// A request that S3 received after its client gave up: it is executed later, or rejected by its
// condition.
struct LateRequest {
  std::optional<ETag> condition;
  std::uint64_t offset = 0;
  std::string bytes;
};

// One writer whose requests may fail, get lost in either direction, or arrive late, while the data
// to append grows.
std::string AppendWithRandomFaults(std::uint64_t seed, std::string& expected) {
  std::mt19937_64 random(seed);
  const auto one_in = [&random](std::uint64_t n) { return random() % n == 0; };
  AppendTest test;
  if (one_in(2)) test.AppendByAnotherWriter(expected = "before ");
  const auto writer = test.Open();
  std::string pending;
  std::uint64_t start = writer->size();  // of `pending`
  std::vector<LateRequest> stragglers;
  test.hook = [&](const CallPoint& point) -> std::optional<Fault> {
    for (auto next = stragglers.begin(); next != stragglers.end();) {
      if (!one_in(4)) {
        ++next;
        continue;
      }
      PartBody body = PartBody::Of(AsBytes(next->bytes));
      PutObjectRequest request;
      request.bucket = kDirectory;
      request.key = kKey;
      request.body = &body;
      request.if_match = next->condition;
      request.write_offset = next->offset;
      static_cast<void>(test.memory->Call(std::move(request)));
      next = stragglers.erase(next);
    }
    if (one_in(3)) return std::nullopt;
    const bool cancelled = one_in(5);
    Fault fault = MakeFault(cancelled ? ErrorKind::kCancelled : ErrorKind::kTimeout,
                            one_in(2) ? Fault::Moment::kAfter : Fault::Moment::kBefore);
    fault.error.attempts = one_in(2) ? 1 : 2;
    if (point.operation != "PutObject") return fault;
    if (one_in(6))
      fault.error.kind = ErrorKind::kAccessDenied, fault.error.attempts = 1,
      fault.moment = Fault::Moment::kBefore;
    const bool late = fault.error.kind != ErrorKind::kAccessDenied &&
                      fault.moment == Fault::Moment::kBefore && one_in(2);
    if (late)
      stragglers.push_back(
          {writer->etag(), writer->size(), pending.substr(writer->size() - start)});
    return fault;
  };
  for (int record = 0; record < 12; ++record) {
    const std::string text = "tick" + std::string(random() % 3, '!');  // similar each time
    pending += text;
    expected += text;
    if (!one_in(2)) static_cast<void>(Append(*writer, pending));
    pending.erase(0, writer->size() - start);
    start = writer->size();
  }
  test.hook = nullptr;
  EXPECT_TRUE(Append(*writer, pending).ok()) << seed;
  return test.Text();
}

TEST(AppendWriterTest, EveryByteIsAppendedOnceDespiteLostAndLateRequests) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::string expected;
    const std::string text = AppendWithRandomFaults(seed, expected);
    ASSERT_EQ(text, expected) << "seed " << seed;
  }
}

TEST(AppendWriterTest, RejectsAGeneralPurposeBucketWithoutARequest) {
  AppendTest test;
  const auto writer = AppendWriter::Open(test.store, BucketName("plain"), kKey);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(writer.error().message.find("`plain` is a general purpose bucket"), std::string::npos);
  EXPECT_EQ(test.store->count("HeadObject"), 0u);
}

TEST(AppendWriterTest, OpenReportsAMissingBucket) {
  AppendTest test;
  const auto writer = AppendWriter::Open(test.store, BucketName("none--usw2-az1--x-s3"), kKey);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace penstock::transfer
