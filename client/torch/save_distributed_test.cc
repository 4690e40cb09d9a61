#include <utility>

#include "client/torch/torch_checkpoint_test_support.h"

namespace penstock::torch {
namespace {

using SaveDistributedTest = TorchCheckpointTest;

TEST_F(SaveDistributedTest, ADistributedCheckpointIsLoadedAsSavedAndReplaced) {
  StateDict state = Example();
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  state.tensors["weight"] = at::zeros({2, 2});
  const auto saved = SaveDistributed(store_, "s3://data/step/", state);
  ASSERT_TRUE(saved.ok()) << saved.error().ToString();
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ(checkpoint->tensors().size(), 5U);
  const auto loaded = checkpoint->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  ExpectEqual(loaded->tensors, state.tensors);
  EXPECT_EQ(loaded->values, state.values);
  ListObjectsRequest list;
  list.bucket = BucketName("data");
  list.prefix = "step/";
  EXPECT_EQ(store_->Call(std::move(list))->objects.size(), 2U);  // .metadata and one shard
}

TEST_F(SaveDistributedTest, ASaveThatAnotherOneOvertakesLeavesTheOtherCheckpoint) {
  StateDict other;
  other.tensors["other"] = at::ones({3});
  bool overtaken = false;
  const auto overtaking = std::make_shared<FaultyObjectStore>(
      store_,
      [&](const penstock::testing::CallPoint& point) -> std::optional<penstock::testing::Fault> {
        if (point.key == "step/.metadata" && point.operation == "PutObject" &&
            !std::exchange(overtaken, true)) {
          PENSTOCK_CHECK(SaveDistributed(store_, "s3://data/step", other).ok());
        }
        return std::nullopt;
      });
  const auto saved = SaveDistributed(overtaking, "s3://data/step", Example());
  ASSERT_TRUE(overtaken);
  EXPECT_EQ(saved.error().kind, ErrorKind::kPreconditionFailed);
  const auto loaded = DistributedCheckpoint::Open(store_, "s3://data/step")->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  ExpectEqual(loaded->tensors, other.tensors);
  ListObjectsRequest list;
  list.bucket = BucketName("data");
  EXPECT_EQ(store_->Call(std::move(list))->objects.size(), 2U);
}

}  // namespace
}  // namespace penstock::torch
