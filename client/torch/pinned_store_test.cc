#include "client/torch/pinned_store.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "client/torch/torch_test_support.h"

namespace penstock::torch {
namespace {

Result<DownloadResponse> Get(ObjectStore& store, const std::string& key, std::string& text) {
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = ObjectKey(key);
  request.destination = [&text](std::uint64_t bytes) -> Result<MutableByteView> {
    text.resize(bytes);
    return MutableByteView(reinterpret_cast<std::byte*>(text.data()), bytes);
  };
  return Download(store, std::move(request), {});
}

TEST(PinnedStoreTest, LaterReadsHaveTheVersionOfTheFirst) {
  const auto inner = MakeStore();
  const auto store = PinVersions(inner);
  std::string text;
  EXPECT_EQ(Get(*store, "a", text).error().kind, ErrorKind::kNotFound);  // pins nothing
  Put(inner, "a", "one");
  Put(inner, "b", "other");
  ASSERT_TRUE(Get(*store, "a", text).ok());
  EXPECT_EQ(text, "one");
  Put(inner, "a", "two");
  EXPECT_EQ(Get(*store, "a", text).error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_TRUE(Get(*store, "b", text).ok());
  EXPECT_TRUE(Get(*PinVersions(inner), "a", text).ok());
  EXPECT_EQ(text, "two");
}

}  // namespace
}  // namespace penstock::torch
