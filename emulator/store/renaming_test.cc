#include <gtest/gtest.h>

#include "emulator/store/checks/fsck.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

RenameObject Renaming(const std::string& from, const std::string& to,
                      const std::string& token = {}) {
  RenameObject request;
  request.bucket = kBucket;
  request.source = ObjectKey(from);
  request.target = ObjectKey(to);
  request.token = token;
  request.request = from + "\n" + to;
  return request;
}

std::string Outcome(const Result<void>& result) {
  return result.ok() ? "done" : result.error().code;
}

class RenamingTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeBucket(*store_); }
  std::unique_ptr<Store> store_ = OpenStore({});
};

TEST_F(RenamingTest, ChangesOnlyTheKeyOfTheObject) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  const auto before = store_->FindObject(kBucket, ObjectKey("a"));
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "folder/b"))), "done");
  EXPECT_EQ(Get(*store_, "a"), "[NoSuchKey]");
  EXPECT_EQ(Get(*store_, "folder/b"), "bytes");
  const auto after = store_->FindObject(kBucket, ObjectKey("folder/b"));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ((*after)->etag, (*before)->etag);
  EXPECT_EQ((*after)->last_modified, (*before)->last_modified);
}

TEST_F(RenamingTest, ReplacesTheObjectAtTheTarget) {
  ASSERT_TRUE(PutText(*store_, "a", "new").ok());
  ASSERT_TRUE(PutText(*store_, "b", "old").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b"))), "done");
  EXPECT_EQ(Get(*store_, "b"), "new");
  EXPECT_EQ(Get(*store_, "a"), "[NoSuchKey]");
}

TEST_F(RenamingTest, RenamingToTheSameKeyChangesNothing) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "a"))), "done");
  EXPECT_EQ(Get(*store_, "a"), "bytes");
}

TEST_F(RenamingTest, BothPreconditionsMayFail) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "b"))), "NoSuchKey");
  RenameObject request = Renaming("a", "b");
  bool got_null = false;
  request.target_precondition = [&](const ObjectRecord* object) -> Result<void> {
    got_null = object == nullptr;
    Error error = Error::Make(ErrorKind::kPreconditionFailed, "no");
    error.code = "PreconditionFailed";
    return error;
  };
  EXPECT_EQ(Outcome(store_->Rename(request)), "PreconditionFailed");
  EXPECT_TRUE(got_null);
  request.source_precondition = std::exchange(request.target_precondition, nullptr);
  EXPECT_EQ(Outcome(store_->Rename(request)), "PreconditionFailed");
  EXPECT_FALSE(got_null);
  EXPECT_EQ(Get(*store_, "a"), "bytes");
}

TEST_F(RenamingTest, ATokenIsValidForOneRequest) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b", "token"))), "done");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b", "token"))), "done")
      << "a repeated request succeeds";
  EXPECT_EQ(Get(*store_, "b"), "bytes");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("b", "c", "token"))), "IdempotencyParameterMismatch");
  EXPECT_EQ(Get(*store_, "b"), "bytes");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "c", "other"))), "NoSuchKey");
  ASSERT_TRUE(PutText(*store_, "absent", "now present").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "c", "other"))), "done")
      << "failed requests are not recorded";
}

TEST(RenamingOnDiskTest, RenamesAndTokensSurviveARestart) {
  const TemporaryDirectory directory;
  const std::string body = Body(100'000);
  {
    auto store = OpenStore({.directory = directory.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "a", body).ok());
    ASSERT_TRUE(PutText(*store, "b", Body(100'000, 2)).ok());
    ASSERT_EQ(Outcome(store->Rename(Renaming("a", "b", "token"))), "done");
    EXPECT_TRUE(WaitForBlobFiles(directory, 1)) << "the data of the replaced object is deleted";
  }
  {
    auto store = OpenStore({.directory = directory.path()});
    EXPECT_EQ(Get(*store, "b"), body);
    EXPECT_EQ(Outcome(store->Rename(Renaming("a", "b", "token"))), "done");
    EXPECT_EQ(Outcome(store->Rename(Renaming("b", "a", "token"))), "IdempotencyParameterMismatch");
  }
}

}  // namespace
}  // namespace penstock::emulator::store
