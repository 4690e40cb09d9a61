// Asynchronous writes of the store.
#include "emulator/store/commits/deferred_write.h"

#include <gtest/gtest.h>

#include <optional>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

struct ManualExecutor final : Executor {
  void Execute(Task& task, Caller) noexcept override { tasks.Push(task); }
  void RunAll() {
    while (Task* task = tasks.Pop()) task->Run();
  }
  TaskList tasks;
};

template <class T>
class Keep final : public Completion<T> {
 public:
  explicit Keep(std::optional<Result<T>>& into) : into_(into) {}
  void Complete(Result<T> result) noexcept override { into_.emplace(std::move(result)); }

 private:
  std::optional<Result<T>>& into_;
};

class DeferredWriteTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) options_.directory = directory_.path();
    store_ = OpenStore(options_);
    ASSERT_NE(store_, nullptr);
    MakeBucket(*store_);
  }
  template <class T>
  Async<T> Into(std::optional<Result<T>>& result) {
    return {executor_, std::make_unique<Keep<T>>(result)};
  }

  TemporaryDirectory directory_;
  StoreOptions options_;
  ManualExecutor executor_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Modes, DeferredWriteTest, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Directory" : "Memory"; });

TEST_P(DeferredWriteTest, IsVisibleAndReportedAfterTheCommit) {
  std::optional<Result<PutOutcome>> small;
  std::optional<Result<PutOutcome>> large;
  const std::string body = Body(100'000);
  store_->Put(MakePut(*store_, "small", "body"), Into(small));
  store_->Put(MakePut(*store_, "large", body), Into(large));
  EXPECT_FALSE(small.has_value());
  EXPECT_EQ(Get(*store_, "small"), "[NoSuchKey]");
  executor_.RunAll();
  ASSERT_TRUE(small.has_value() && small->ok());
  EXPECT_EQ((**small).object->key.value, "small");
  EXPECT_EQ(Text((**small).object->content), "body");
  ASSERT_TRUE(large.has_value() && large->ok());
  EXPECT_EQ(Get(*store_, "large"), body);
  if (!GetParam()) return;
  store_.reset();
  store_ = OpenStore(options_);
  EXPECT_EQ(Get(*store_, "small"), "body");
}

TEST_P(DeferredWriteTest, TheLaterOfTwoPutsInOneCommitWins) {
  std::optional<Result<PutOutcome>> first;
  std::optional<Result<PutOutcome>> second;
  store_->Put(MakePut(*store_, "key", "one"), Into(first));
  store_->Put(MakePut(*store_, "key", "two"), Into(second));
  executor_.RunAll();
  EXPECT_TRUE(first->ok() && second->ok());
  EXPECT_EQ(Get(*store_, "key"), "two");
}

TEST_P(DeferredWriteTest, AFailureAffectsOnlyItsOwnWrite) {
  std::optional<Result<PutOutcome>> refused;
  std::optional<Result<PutOutcome>> put;
  std::optional<Result<PutOutcome>> lost;
  PutObject picky = MakePut(*store_, "key", "no");
  picky.precondition = [](const ObjectRecord*) -> Result<void> {
    return Error::Make(ErrorKind::kConflict, "no");
  };
  store_->Put(std::move(picky), Into(refused));
  store_->Put(MakePut(*store_, "key", "yes"), Into(put));
  store_->Put(MakePut(*store_, "key", "x", BucketName("absent")), Into(lost));
  executor_.RunAll();
  EXPECT_EQ(refused->error().kind, ErrorKind::kConflict);
  EXPECT_TRUE(put->ok());
  EXPECT_EQ(lost->error().code, "NoSuchBucket");
  EXPECT_EQ(Get(*store_, "key"), "yes");
}

TEST_P(DeferredWriteTest, SupportsDeletesAndParts) {
  ASSERT_TRUE(PutText(*store_, "key", "body").ok());
  std::optional<Result<DeleteOutcome>> gone;
  store_->Delete({kBucket, ObjectKey("key"), std::nullopt, nullptr}, Into(gone));
  UploadRecord upload;
  upload.bucket = kBucket;
  upload.key = ObjectKey("parts");
  executor_.RunAll();
  const auto created = store_->CreateUpload(upload);
  ASSERT_TRUE(created.ok());
  EXPECT_TRUE((**gone).existed);
  EXPECT_EQ(Get(*store_, "key"), "[NoSuchKey]");
  std::optional<Result<void>> part;
  std::optional<Result<void>> stray;
  PutPart put{kBucket, upload.key, (*created)->id, {}, MakeContent(*store_, "part")};
  put.part.number = 1;
  put.part.size = 4;
  PutPart lost = put;
  lost.upload_id = UploadId("unknown");
  store_->Put(std::move(put), Into(part));
  store_->Put(std::move(lost), Into(stray));
  executor_.RunAll();
  EXPECT_TRUE(part->ok());
  EXPECT_EQ(stray->error().code, "NoSuchUpload");
  EXPECT_EQ(store_->ListParts(kBucket, upload.key, (*created)->id, 0, 10)->size(), 1u);
}

}  // namespace
}  // namespace penstock::emulator::store
