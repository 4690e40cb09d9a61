// Helpers for tests of loads: a store in memory, and files as torch and Penstock write them.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_TEST_SUPPORT_H_

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/pickle/state_pickle.h"
#include "client/checkpoint/zip_writer.h"
#include "penstock/testing/memory_object_store.h"
#include "penstock/transfer.h"

namespace penstock::checkpoint {

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

inline std::string RandomBytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// An archive of torch.save: a pickle, and storages by key.
inline std::string Archive(const std::string& pickle,
                           const std::map<std::string, std::string>& storages) {
  ZipWriter zip;
  std::string out = BeginArchive(zip, pickle);
  for (const auto& [key, bytes] : storages) out += zip.Record("data/" + key, bytes);
  return out += EndArchive(zip);
}

// An item of a distributed checkpoint.
inline std::string ItemArchive(const PickledTensor& tensor, const std::string& payload) {
  return Archive(*WriteTensorPickle(tensor), {{tensor.storage_key, payload}});
}

inline MutableByteView Bytes(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_TEST_SUPPORT_H_
