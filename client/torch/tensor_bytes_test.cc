#include "client/torch/tensor_bytes.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "client/checkpoint/dtypes.h"

namespace penstock::torch {
namespace {

TEST(TensorBytes, DtypesHaveTheSizesThatCheckpointsExpect) {
  int known = 0;
  for (const checkpoint::DtypeInfo& dtype : checkpoint::AllDtypes()) {
    const auto type = DtypeOf(dtype.name);
    if (!type) continue;
    ++known;
    EXPECT_EQ(c10::elementSize(*type), dtype.item_bytes) << dtype.name;
    EXPECT_EQ(NameOf(*type), dtype.name);
  }
  EXPECT_GT(known, 15);
  EXPECT_FALSE(DtypeOf("float33").has_value());
}

TEST(TensorBytes, ViewsShareTheStorage) {
  const at::Tensor storage = EmptyStorage(16);
  const at::Tensor view = ViewOf(storage, at::kFloat, 1, {3}, {1});
  view.fill_(0);
  EXPECT_EQ(view.data_ptr(), static_cast<char*>(storage.data_ptr()) + 4);
  EXPECT_EQ(BytesOf(storage).size(), 16U);
}

TEST(TensorBytes, SparseTensorsAreNotPlain) {
  EXPECT_TRUE(PlainTensor("a", at::ones({2})).ok());
  const auto refused = PlainTensor("a", at::ones({2}).to_sparse());
  EXPECT_NE(refused.error().message.find("'a'"), std::string::npos);
  EXPECT_FALSE(PlainTensor("a", at::Tensor()).ok());
}

TEST(TensorBytes, ExceptionsBecomeErrors) {
  const S3Uri place{BucketName("b"), "k"};
  const auto failed =
      Guarded("Operation", place, []() -> Result<int> { throw std::runtime_error("no luck"); });
  EXPECT_EQ(failed.error().kind, ErrorKind::kInternal);
  EXPECT_NE(failed.error().ToString().find("no luck"), std::string::npos);
  const auto full = Guarded("Operation", place, []() -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(full.error().kind, ErrorKind::kResourceExhausted);
}

}  // namespace
}  // namespace penstock::torch
