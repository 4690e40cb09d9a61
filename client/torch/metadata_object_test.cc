#include "client/torch/metadata_object.h"

#include <gtest/gtest.h>

#include <string>

#include "client/torch/torch_test_support.h"

namespace penstock::torch {
namespace {

TEST(MetadataObjectTest, AllBytesAreRead) {
  const auto store = MakeStore();
  const checkpoint::LoadContext context{store, {}, {}};
  EXPECT_EQ(OpenMetadata(context, kBucket, "step/").error().code, "NoSuchKey");
  const std::string text(5'000'000, 'x');  // more than the first read
  Put(store, "step/.metadata", text);
  const auto object = OpenMetadata(context, kBucket, "step/");
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  EXPECT_EQ(ReadMetadata(context, *object).value(), text);
}

}  // namespace
}  // namespace penstock::torch
