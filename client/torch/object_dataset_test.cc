#include <gtest/gtest.h>
#include <torch/data/dataloader.h>
#include <torch/data/samplers/sequential.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/torch/torch_test_support.h"

namespace penstock::torch {
namespace {

TEST(ObjectDataset, ListsThePrefixAndReadsByIndex) {
  const auto store = MakeStore();
  PutNumbered(store, 3);
  Put(store, "q/other", "x");
  auto dataset = ObjectDataset::Create(store, "s3://data/p/").value();
  EXPECT_EQ(dataset.size(), 3u);
  const ObjectExample example = dataset.get(1);
  EXPECT_EQ(example.target, "p/01");
  EXPECT_EQ(Text(example.data), "p/01");
  EXPECT_EQ(dataset.object(2).key.value, "p/02");
}

TEST(ObjectDataset, ABatchKeepsTheRequestedOrder) {
  const auto store = MakeStore();
  PutNumbered(store, 9);
  DatasetOptions options;
  options.max_parallel_objects = 2;
  auto dataset = ObjectDataset::Create(store, "s3://data/p/", options).value();
  std::string keys;
  const std::vector<std::size_t> wanted = {4, 0, 8, 8, 1};
  for (const ObjectExample& example : dataset.get_batch(wanted)) keys += Text(example.data) + " ";
  EXPECT_EQ(keys, "p/04 p/00 p/08 p/08 p/01 ");
}

TEST(ObjectDataset, AnIndexBeyondTheEndThrows) {
  auto dataset = ObjectDataset::Create(MakeStore(), "s3://data").value();
  EXPECT_EQ(dataset.size(), 0u);
  EXPECT_THROW(dataset.get(0), std::out_of_range);
}

TEST(ObjectDataset, AnUnreadableObjectThrowsTheError) {
  const auto store = MakeStore();
  PutNumbered(store, 1);
  auto dataset = ObjectDataset::Create(store, "s3://data/p/").value();
  DeleteObjectRequest request;
  request.bucket = kBucket;
  request.key = ObjectKey("p/00");
  ASSERT_TRUE(store->Call(std::move(request)).ok());
  try {
    dataset.get(0);
    FAIL() << "no exception";
  } catch (const DatasetError& failure) {
    EXPECT_EQ(failure.error().code, "NoSuchKey");
    EXPECT_NE(std::string(failure.what()).find("p/00"), std::string::npos);
  }
}

TEST(ObjectDataset, AMissingBucketAndAnInvalidUriAreErrors) {
  EXPECT_EQ(ObjectDataset::Create(MakeStore(), "s3://none/").error().code, "NoSuchBucket");
  EXPECT_EQ(ObjectDataset::Create(MakeStore(), "data/p").error().kind, ErrorKind::kInvalidArgument);
}

TEST(ObjectDataset, FeedsADataLoaderWithWorkers) {
  const auto store = MakeStore();
  PutNumbered(store, 20);
  auto dataset = ObjectDataset::Create(store, "s3://data/p/").value();
  auto loader = ::torch::data::make_data_loader<::torch::data::samplers::SequentialSampler>(
      std::move(dataset), ::torch::data::DataLoaderOptions().batch_size(3).workers(2));
  std::set<std::string> seen;
  for (auto& batch : *loader) {
    for (const ObjectExample& example : batch) seen.insert(Text(example.data));
  }
  EXPECT_EQ(seen.size(), 20u);
}

}  // namespace
}  // namespace penstock::torch
