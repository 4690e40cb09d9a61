// Helpers for the tests of this module: a store with text objects.
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

// Creates objects "p/00", "p/01", ... whose content is their key.
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
