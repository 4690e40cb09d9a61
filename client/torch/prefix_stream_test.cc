#include <gtest/gtest.h>
#include <torch/data/dataloader.h>

#include <map>
#include <sstream>
#include <string>

#include "client/torch/torch_test_support.h"

namespace penstock::torch {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

std::string Drain(PrefixStreamDataset& dataset, std::size_t batch_size = 4) {
  std::string keys;
  while (const auto batch = dataset.get_batch(batch_size)) {
    for (const ObjectExample& example : *batch) {
      EXPECT_EQ(Text(example.data), example.target);
      keys += example.target.substr(2) + " ";
    }
  }
  return keys;
}

TEST(PrefixStreamDataset, StreamsThePrefixInOrderOnce) {
  const auto store = MakeStore();
  PutNumbered(store, 6);
  auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/").value();
  EXPECT_EQ(Drain(dataset), "00 01 02 03 04 05 ");
  EXPECT_FALSE(dataset.get_batch(1).has_value());
  dataset.reset();
  EXPECT_EQ(Drain(dataset), "00 01 02 03 04 05 ");
}

TEST(PrefixStreamDataset, TheLastBatchIsShort) {
  const auto store = MakeStore();
  PutNumbered(store, 5);
  auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/").value();
  EXPECT_EQ(dataset.get_batch(4)->size(), 4u);
  EXPECT_EQ(dataset.get_batch(4)->size(), 1u);
  EXPECT_FALSE(dataset.get_batch(4).has_value());
}

TEST(PrefixStreamDataset, ShardsContainEveryObjectExactlyOnce) {
  const auto store = MakeStore();
  PutNumbered(store, 23);
  std::map<std::string, int> seen;
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    for (std::uint64_t worker = 0; worker < 2; ++worker) {
      auto dataset =
          PrefixStreamDataset::Create(store, "s3://data/p/", {rank, 3, worker, 2}).value();
      std::istringstream keys(Drain(dataset));
      for (std::string key; keys >> key;) ++seen[key];
    }
  }
  EXPECT_EQ(seen.size(), 23u);
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST(PrefixStreamDataset, ShardsInterleaveLikeTheS3ConnectorForPyTorch) {
  // Item i belongs to rank i % W, and within the rank to worker (i / W) % N.
  const auto store = MakeStore();
  PutNumbered(store, 10);
  auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/", {1, 2, 0, 2}).value();
  EXPECT_EQ(Drain(dataset), "01 05 09 ");
}

TEST(PrefixStreamDataset, PrefetchingIsLimitedByCount) {
  const auto store = MakeStore();
  PutNumbered(store, 20);
  const auto counting = std::make_shared<FaultyObjectStore>(store, nullptr);
  DatasetOptions options;
  options.max_parallel_objects = 3;
  auto dataset = PrefixStreamDataset::Create(counting, "s3://data/p/", {}, options).value();
  EXPECT_EQ(counting->count("GetObject"), 0u);
  ASSERT_TRUE(dataset.get_batch(1).has_value());
  EXPECT_LE(counting->count("GetObject"), 4u);
}

TEST(PrefixStreamDataset, PrefetchingIsLimitedByBytes) {
  const auto store = MakeStore();
  PutNumbered(store, 20);
  const auto counting = std::make_shared<FaultyObjectStore>(store, nullptr);
  DatasetOptions options;
  options.look_ahead_bytes = 1;
  auto dataset = PrefixStreamDataset::Create(counting, "s3://data/p/", {}, options).value();
  ASSERT_TRUE(dataset.get_batch(1).has_value());
  EXPECT_EQ(counting->count("GetObject"), 2u);
}

TEST(PrefixStreamDataset, ASavedPositionContinuesTheEpoch) {
  const auto store = MakeStore();
  PutNumbered(store, 7);
  std::stringstream saved;
  {
    auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/").value();
    ASSERT_TRUE(dataset.get_batch(3).has_value());
    ::torch::serialize::OutputArchive archive;
    dataset.save(archive);
    archive.save_to(saved);
  }
  ::torch::serialize::InputArchive archive;
  archive.load_from(saved);
  auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/").value();
  dataset.load(archive);
  EXPECT_EQ(Drain(dataset), "03 04 05 06 ");
  dataset.reset();
  EXPECT_EQ(Drain(dataset), "00 01 02 03 04 05 06 ");
}

TEST(PrefixStreamDataset, APositionThatIsNoCountIsAnError) {
  const auto store = MakeStore();
  PutNumbered(store, 2);
  for (const at::Tensor& position :
       {at::scalar_tensor(-1, at::kLong), at::scalar_tensor(1.5), at::ones({2}, at::kLong)}) {
    std::stringstream saved;
    ::torch::serialize::OutputArchive written;
    written.write("position", position);
    written.save_to(saved);
    ::torch::serialize::InputArchive archive;
    archive.load_from(saved);
    auto dataset = PrefixStreamDataset::Create(store, "s3://data/p/").value();
    EXPECT_THROW(dataset.load(archive), DatasetError);
    EXPECT_EQ(Drain(dataset), "00 01 ");
  }
}

TEST(PrefixStreamDataset, ErrorsThrowUntilReset) {
  const auto store = MakeStore();
  PutNumbered(store, 4);
  const auto faulty = std::make_shared<FaultyObjectStore>(
      store, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.operation != "GetObject" || point.ordinal != 2) return std::nullopt;
        return Fault{Error::Make(ErrorKind::kAccessDenied, "planted")};
      });
  auto dataset = PrefixStreamDataset::Create(faulty, "s3://data/p/").value();
  EXPECT_THROW(dataset.get_batch(4), DatasetError);
  EXPECT_THROW(dataset.get_batch(1), DatasetError);
  dataset.reset();
  EXPECT_EQ(Drain(dataset), "00 01 02 03 ");
}

TEST(PrefixStreamDataset, RejectsAShardOutsideItsWorld) {
  EXPECT_FALSE(PrefixStreamDataset::Create(MakeStore(), "s3://data", {2, 2}).ok());
  EXPECT_FALSE(PrefixStreamDataset::Create(MakeStore(), "s3://data", {0, 1, 0, 0}).ok());
  EXPECT_FALSE(PrefixStreamDataset::Create(MakeStore(), "nonsense").ok());
}

TEST(PrefixStreamDataset, FeedsADataLoaderWithWorkersForTwoEpochs) {
  const auto store = MakeStore();
  PutNumbered(store, 20);
  auto loader =
      ::torch::data::make_data_loader(PrefixStreamDataset::Create(store, "s3://data/p/").value(),
                                      ::torch::data::DataLoaderOptions().batch_size(3).workers(2));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::map<std::string, int> seen;
    for (auto& batch : *loader) {
      for (const ObjectExample& example : batch) ++seen[Text(example.data)];
    }
    EXPECT_EQ(seen.size(), 20u);
    for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
  }
}

}  // namespace
}  // namespace penstock::torch
