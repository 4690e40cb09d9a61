#include "client/torch/torch_checkpoint_test_support.h"

namespace penstock::torch {
namespace {

using LoadTensorsTest = TorchCheckpointTest;

TEST_F(LoadTensorsTest, AStateDictIsLoadedAsSaved) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveStateDict(store_, "s3://data/a.pt", state).ok());
  const auto loaded = LoadStateDict(store_, "s3://data/a.pt");
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  ExpectEqual(loaded->tensors, state.tensors);
  EXPECT_EQ(loaded->values, state.values);
  EXPECT_EQ(loaded->tensors.at("transposed").strides(), state.tensors.at("transposed").strides());
}

TEST_F(LoadTensorsTest, FiltersSelectByName) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveStateDict(store_, "s3://data/a.pt", state).ok());
  LoadTensorsOptions options;
  options.filter = [](std::string_view name) { return name == "half" || name == "step"; };
  const auto loaded = LoadStateDict(store_, "s3://data/a.pt", options);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->tensors.size(), 1U);
  EXPECT_EQ(loaded->values.size(), 1U);
}

TEST_F(LoadTensorsTest, SafetensorsAreLoadedAsSaved) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveSafetensors(store_, "s3://data/m/model.safetensors", state.tensors).ok());
  for (const char* uri : {"s3://data/m/model.safetensors", "s3://data/m/"}) {
    const auto loaded = LoadSafetensors(store_, uri);
    ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
    ExpectEqual(*loaded, state.tensors);
  }
}

TEST_F(LoadTensorsTest, ShardedSafetensorsAreLoadedByTheirIndex) {
  const StateDict state = Example();
  const auto put = [&](const std::string& key, const std::string& text) {
    PENSTOCK_CHECK(Upload(store_, BucketName("data"), ObjectKey(key), AsBytes(text), {}).ok());
  };
  ASSERT_TRUE(
      SaveSafetensors(store_, "s3://data/m/1.safetensors", {{"a", Numbers(3)}, {"b", Numbers(4)}})
          .ok());
  ASSERT_TRUE(SaveSafetensors(store_, "s3://data/m/2.safetensors", {{"c", Numbers(5)}}).ok());
  put("m/model.safetensors.index.json",
      R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors"}})");
  for (const char* uri : {"s3://data/m/", "s3://data/m/model.safetensors.index.json"}) {
    const auto loaded = LoadSafetensors(store_, uri);
    ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
    EXPECT_EQ(loaded->size(), 3U);
    EXPECT_TRUE(at::equal(loaded->at("c"), Numbers(5)));
  }
  put("m/model.safetensors.index.json", R"({"weight_map":{"z":"1.safetensors"}})");
  EXPECT_EQ(LoadSafetensors(store_, "s3://data/m/").error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace penstock::torch
