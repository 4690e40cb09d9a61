#include "client/transfer/upload/single_put.h"

#include <gtest/gtest.h>

#include "client/transfer/transfer_test_support.h"
#include "client/transfer/upload/upload_outcome.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

Result<UploadResponse> PutContent(ObjectStore& store, ByteView content,
                                  const UploadOptions& options = {}) {
  PartBody body = PartBody::Of(content);
  return PutWhole(store, kBucket, kKey, body, options, {});
}

TEST(CheckUploadOptions, ErrorsNameValueAndLimit) {
  UploadOptions options;
  EXPECT_TRUE(CheckUploadOptions(options).ok());
  options.part_size_bytes = (5ull << 20) - 1;
  const auto checked = CheckUploadOptions(options);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("5242879"), std::string::npos);
  options.part_size_bytes = (5ull << 30) + 1;
  EXPECT_FALSE(CheckUploadOptions(options).ok());
  options = {};
  options.single_put_limit_bytes = (5ull << 30) + 1;
  EXPECT_FALSE(CheckUploadOptions(options).ok());
  options = {};
  options.max_parallel_parts = 0;
  EXPECT_FALSE(CheckUploadOptions(options).ok());
}

TEST(PutWhole, PublishesTheBytes) {
  const auto store = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(10);
  const auto put = PutContent(*store, content);
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->bytes, 10u);
  EXPECT_EQ(Stored(*store), content);
}

TEST(PutWhole, LostResponseIsStillSuccess) {
  const auto inner = MakeStore(Completion::kInline);
  FaultyObjectStore store(inner, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "PutObject")
      return MakeFault(ErrorKind::kTimeout, Fault::Moment::kAfter);
    return std::nullopt;
  });
  EXPECT_TRUE(PutContent(store, MakeContent(10)).ok());
}

TEST(PutWhole, SendsNoRequestAfterAnInterrupt) {
  // Regression test: after Ctrl-C on a hanging network, the check for a published object took 30 s.
  FaultyObjectStore store(MakeStore(Completion::kInline),
                          [](const CallPoint& point) -> std::optional<Fault> {
                            if (point.operation == "PutObject")
                              return MakeFault(ErrorKind::kCancelled);
                            return std::nullopt;
                          });
  EXPECT_EQ(PutContent(store, MakeContent(10)).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(store.count("HeadObject"), 0u);
}

TEST(PutWhole, FailureWithoutEffectIsAnError) {
  const auto inner = MakeStore(Completion::kInline);
  Put(*inner, MakeContent(10, 7));
  FaultyObjectStore store(inner, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "PutObject") return MakeFault(ErrorKind::kTimeout);
    return std::nullopt;
  });
  EXPECT_EQ(PutContent(store, MakeContent(10)).error().kind, ErrorKind::kTimeout);
}

TEST(PutWhole, FailedConditionIsNotReportedAsSuccess) {
  const auto store = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(10);
  Put(*store, content);
  UploadOptions options;
  options.if_none_match_any = true;
  EXPECT_EQ(PutContent(*store, content, options).error().kind, ErrorKind::kPreconditionFailed);
}

TEST(PutWhole, IfMatchReplacesOnlyThatVersion) {
  const auto store = MakeStore(Completion::kInline);
  const ETag first = Put(*store, MakeContent(10));
  UploadOptions over_first;
  over_first.if_match = first;
  const Bytes second = MakeContent(11);
  ASSERT_TRUE(PutContent(*store, second, over_first).ok());
  EXPECT_EQ(PutContent(*store, MakeContent(12), over_first).error().kind,
            ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Stored(*store), second);
}

TEST(PutWhole, RejectsTwoConditions) {
  const auto store = MakeStore(Completion::kInline);
  UploadOptions options;
  options.if_match = ETag("e");
  options.if_none_match_any = true;
  EXPECT_EQ(CheckUploadOptions(options).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(Upload(store, kBucket, kKey, MakeContent(1), options).error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::transfer
