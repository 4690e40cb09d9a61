#include <gtest/gtest.h>

#include "emulator/store/checks/fsck.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder's tests

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

TEST_F(RenamingTest, TheObjectKeepsEverythingButItsKey) {
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

TEST_F(RenamingTest, WhatHadTheKeyIsReplaced) {
  ASSERT_TRUE(PutText(*store_, "a", "new").ok());
  ASSERT_TRUE(PutText(*store_, "b", "old").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b"))), "done");
  EXPECT_EQ(Get(*store_, "b"), "new");
  EXPECT_EQ(Get(*store_, "a"), "[NoSuchKey]");
}

TEST_F(RenamingTest, OntoItselfNothingHappens) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "a"))), "done");
  EXPECT_EQ(Get(*store_, "a"), "bytes");
}

TEST_F(RenamingTest, BothSidesMayRefuse) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "b"))), "NoSuchKey");
  RenameObject request = Renaming("a", "b");
  bool asked_of_nothing = false;
  request.target_precondition = [&](const ObjectRecord* object) -> Result<void> {
    asked_of_nothing = object == nullptr;
    Error error = Error::Make(ErrorKind::kPreconditionFailed, "no");
    error.code = "PreconditionFailed";
    return error;
  };
  EXPECT_EQ(Outcome(store_->Rename(request)), "PreconditionFailed");
  EXPECT_TRUE(asked_of_nothing);
  request.source_precondition = std::exchange(request.target_precondition, nullptr);
  EXPECT_EQ(Outcome(store_->Rename(request)), "PreconditionFailed");
  EXPECT_FALSE(asked_of_nothing);
  EXPECT_EQ(Get(*store_, "a"), "bytes");
}

TEST_F(RenamingTest, ATokenIsGoodForOneRequest) {
  ASSERT_TRUE(PutText(*store_, "a", "bytes").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b", "token"))), "done");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("a", "b", "token"))), "done")
      << "a repeated request is answered as it was";
  EXPECT_EQ(Get(*store_, "b"), "bytes");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("b", "c", "token"))), "IdempotencyParameterMismatch");
  EXPECT_EQ(Get(*store_, "b"), "bytes");
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "c", "other"))), "NoSuchKey");
  ASSERT_TRUE(PutText(*store_, "absent", "now there").ok());
  EXPECT_EQ(Outcome(store_->Rename(Renaming("absent", "c", "other"))), "done")
      << "what failed is not remembered";
}

TEST(RenamingOnDiskTest, RenamesAndTokensSurviveARestartAndNoBytesMove) {
  const TemporaryDirectory directory;
  const std::string body = Body(100'000);
  {
    auto store = OpenStore({.directory = directory.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "a", body).ok());
    ASSERT_TRUE(PutText(*store, "b", Body(100'000, 2)).ok());
    ASSERT_EQ(Outcome(store->Rename(Renaming("a", "b", "token"))), "done");
    EXPECT_TRUE(ComesToBlobs(directory, 1)) << "the bytes of what was replaced are free";
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
