#include "client/torch/torch_checkpoint_test_support.h"

namespace penstock::torch {
namespace {

using LoadDistributedTest = TorchCheckpointTest;

TEST_F(LoadDistributedTest, BoxesGoToTensorsOfAnyDtypeAndStrides) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  const at::Tensor weight = state.tensors.at("weight");
  const at::Tensor box = weight.slice(0, 10, 30).slice(1, 100, 150);
  const at::Tensor plain = at::zeros({20, 50});
  const at::Tensor wider = at::zeros({20, 50}, at::kDouble).requires_grad_();
  const at::Tensor strided = at::zeros({50, 40}).t().slice(0, 0, 40, 2);
  const auto loaded = checkpoint->LoadInto(
      {{"weight", {10, 100}, plain}, {"weight", {10, 100}, wider}, {"weight", {10, 100}, strided}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_TRUE(at::equal(plain, box));
  EXPECT_TRUE(at::equal(wider.detach(), box.to(at::kDouble)));
  EXPECT_TRUE(at::equal(strided, box));
}

TEST_F(LoadDistributedTest, OneMemoryForTwoNamesHasTheLastOne) {
  StateDict state;
  state.tensors["a"] = at::ones({100'000});
  state.tensors["b"] = at::zeros({100'000});
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  const at::Tensor memory = at::full({100'000}, 3.0);
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  ASSERT_TRUE(checkpoint->LoadInto({{"a", {}, memory}, {"b", {}, memory}}).ok());
  EXPECT_TRUE(at::equal(memory, state.tensors["b"]));
}

TEST_F(LoadDistributedTest, ErrorsNameWhatIsMissing) {
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", Example()).ok());
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  EXPECT_EQ(checkpoint->LoadInto({{"nothing", {}, at::zeros({1})}}).error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(checkpoint->LoadInto({{"weight", {}, at::zeros({1, 2001})}}).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(checkpoint->LoadInto({{"weight", {}, at::Tensor()}}).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_NE(LoadStateDict(store_, "s3://data/step").error().message.find("DistributedCheckpoint"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::torch
