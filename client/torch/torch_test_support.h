// What the tests of this module share: a store with objects of text.
#ifndef PENSTOCK_CLIENT_TORCH_TORCH_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TORCH_TORCH_TEST_SUPPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "penstock/testing/faulty_object_store.h"
#include "penstock/testing/memory_object_store.h"
#include "penstock/torch.h"

namespace penstock::torch {

inline const BucketName kBucket("data");

inline std::shared_ptr<ObjectStore> MakeStore() {
  auto store = std::make_shared<penstock::testing::MemoryObjectStore>();
  CreateBucketRequest request;
  request.bucket = kBucket;
  PENSTOCK_CHECK(store->Call(std::move(request)).ok());
  return store;
}

inline void Put(const std::shared_ptr<ObjectStore>& store, const std::string& key,
                const std::string& text) {
  PENSTOCK_CHECK(Upload(store, kBucket, ObjectKey(key), AsBytes(text), {}).ok());
}

// Objects "p/00" ... each with its own key as content.
inline void PutNumbered(const std::shared_ptr<ObjectStore>& store, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string key = "p/" + std::string(i < 10 ? "0" : "") + std::to_string(i);
    Put(store, key, key);
  }
}

inline std::string Text(const ::torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()),
          static_cast<std::size_t>(tensor.numel())};
}

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_TORCH_TEST_SUPPORT_H_
