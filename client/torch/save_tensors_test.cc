#include <ATen/ops/complex.h>

#include "client/torch/torch_checkpoint_test_support.h"

namespace penstock::torch {
namespace {

using SaveTensorsTest = TorchCheckpointTest;

TEST_F(SaveTensorsTest, TensorsThatShareAStorageShareItAgain) {
  StateDict state;
  state.tensors["all"] = Numbers(10);
  state.tensors["tail"] = state.tensors["all"].slice(0, 4, 10, 2);
  ASSERT_TRUE(SaveStateDict(store_, "s3://data/a.pt", state).ok());
  auto loaded = LoadStateDict(store_, "s3://data/a.pt");
  ASSERT_TRUE(loaded.ok());
  loaded->tensors["all"].fill_(1);
  EXPECT_TRUE(at::equal(loaded->tensors["tail"], at::ones({3})));
}

TEST_F(SaveTensorsTest, WhatCannotBeSavedIsRefusedAndPublishesNothing) {
  StateDict state;
  state.tensors["sparse"] = at::ones({2}).to_sparse();
  EXPECT_EQ(SaveStateDict(store_, "s3://data/x", state).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(SaveDistributed(store_, "s3://data/x", state).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(SaveSafetensors(store_, "s3://data/x", {{"a", at::ones({1}, at::kComplexDouble)}})
                .error()
                .kind,
            ErrorKind::kInvalidArgument);
  ListObjectsRequest list;
  list.bucket = BucketName("data");
  EXPECT_TRUE(store_->Call(std::move(list))->objects.empty());
}

TEST_F(SaveTensorsTest, DtypesThatShareAStorageAreRefusedAsByTorchSave) {
  StateDict state;
  state.tensors["a"] = Numbers(4);
  state.tensors["b"] = state.tensors["a"].view(at::kInt);
  const auto saved = SaveStateDict(store_, "s3://data/a.pt", state);
  EXPECT_EQ(saved.error().kind, ErrorKind::kInvalidArgument);
  // torch.save writes float8 with an untyped storage, whose views have any such dtype.
  state.tensors["a"] = at::arange(8, at::kByte);
  state.tensors["b"] = state.tensors["a"].view(at::kFloat8_e5m2);
  EXPECT_TRUE(SaveStateDict(store_, "s3://data/a.pt", state).ok());
  const auto loaded = LoadStateDict(store_, "s3://data/a.pt");
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->tensors.at("b").scalar_type(), at::kFloat8_e5m2);
  EXPECT_TRUE(at::equal(loaded->tensors.at("b").view(at::kByte), state.tensors["a"]));
}

TEST_F(SaveTensorsTest, ConjugatedTensorsAreSavedByValue) {
  StateDict state;
  state.tensors["c"] = at::complex(at::ones({2}), at::ones({2})).conj();
  ASSERT_TRUE(SaveStateDict(store_, "s3://data/a.pt", state).ok());
  const auto loaded = LoadStateDict(store_, "s3://data/a.pt");
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(at::equal(loaded->tensors.at("c"), state.tensors["c"].resolve_conj()));
}

}  // namespace
}  // namespace penstock::torch
