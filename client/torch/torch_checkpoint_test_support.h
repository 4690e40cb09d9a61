// A fixture with a store and example tensors, for tests of loads and saves of checkpoints.
#ifndef PENSTOCK_CLIENT_TORCH_TORCH_CHECKPOINT_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TORCH_TORCH_CHECKPOINT_TEST_SUPPORT_H_

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "penstock/testing/faulty_object_store.h"
#include "penstock/testing/memory_object_store.h"
#include "penstock/torch_checkpoint.h"

namespace penstock::torch {

using penstock::testing::FaultyObjectStore;

inline at::Tensor Numbers(std::int64_t count) { return at::arange(count, at::kFloat); }

class TorchCheckpointTest : public ::testing::Test {
 protected:
  TorchCheckpointTest() {
    CreateBucketRequest request;
    request.bucket = BucketName("data");
    PENSTOCK_CHECK(store_->Call(std::move(request)).ok());
  }

  static StateDict Example() {
    StateDict state;
    state.tensors["weight"] = Numbers(600'000).view({300, 2000});
    state.tensors["transposed"] = Numbers(12).view({3, 4}).t();
    state.tensors["scalar"] = at::full({}, 2.5, at::kDouble);
    state.tensors["empty"] = at::empty({0, 3});
    state.tensors["half"] = Numbers(7).to(at::kBFloat16);
    state.values["step"] = std::int64_t{12};
    state.values["name"] = std::string("run");
    return state;
  }
  static void ExpectEqual(const Tensors& loaded, const Tensors& saved) {
    ASSERT_EQ(loaded.size(), saved.size());
    for (const auto& [name, tensor] : saved) {
      ASSERT_TRUE(loaded.contains(name)) << name;
      EXPECT_EQ(loaded.at(name).scalar_type(), tensor.scalar_type()) << name;
      EXPECT_TRUE(at::equal(loaded.at(name), tensor)) << name;
    }
  }

  std::shared_ptr<FaultyObjectStore> store_ = std::make_shared<FaultyObjectStore>(
      std::make_shared<penstock::testing::MemoryObjectStore>(), nullptr);
};

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_TORCH_CHECKPOINT_TEST_SUPPORT_H_
