// Helpers for the tests of this module: contents from a seed, a store with one bucket, reading and
// writing whole objects.
#ifndef PENSTOCK_CLIENT_TRANSFER_TRANSFER_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TRANSFER_TRANSFER_TEST_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/testing/test_bodies.h"
#include "penstock/testing/faulty_object_store.h"
#include "penstock/testing/memory_object_store.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

using Bytes = std::vector<std::byte>;
using Completion = ::penstock::testing::MemoryObjectStoreOptions::Completion;

inline const BucketName kBucket("data");
inline const ObjectKey kKey("some/object");

inline Bytes MakeContent(std::uint64_t size, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Returns a memory store with one bucket and without the 5 MiB rule, so that tests transfer little
// data.
inline std::shared_ptr<penstock::testing::MemoryObjectStore> MakeStore(
    Completion completion = Completion::kThreaded) {
  penstock::testing::MemoryObjectStoreOptions options;
  options.completion = completion;
  options.threads = 3;
  options.min_part_size_bytes = 0;
  options.chunk_size_bytes = 7;  // odd and small, so that windows and pieces never align
  auto store = std::make_shared<penstock::testing::MemoryObjectStore>(options);
  CreateBucketRequest request;
  request.bucket = kBucket;
  PENSTOCK_CHECK(store->Call(std::move(request)).ok());
  return store;
}

inline ETag Put(ObjectStore& store, ByteView content, const ObjectKey& key = kKey) {
  penstock::testing::TextSource source{std::string(AsText(content))};
  PutObjectRequest request;
  request.bucket = kBucket;
  request.key = key;
  request.body = &source;
  auto put = store.Call(std::move(request));
  PENSTOCK_CHECK(put.ok());
  return put->etag;
}

// Collects a whole body in a vector.
class VectorSink final : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t> body_length) override {
    bytes.assign(body_length.value_or(0), std::byte{0});
    position = 0;
    return Ok();
  }
  MutableByteView Window() override { return MutableByteView(bytes).subspan(position); }
  Result<void> Commit(std::size_t count) override {
    position += count;
    return Ok();
  }
  Bytes bytes;
  std::size_t position = 0;
};

// Returns the content of the object in the store, or nullopt if there is none.
inline std::optional<Bytes> Stored(ObjectStore& store, const ObjectKey& key = kKey) {
  VectorSink sink;
  GetObjectRequest request;
  request.bucket = kBucket;
  request.key = key;
  request.sink = &sink;
  if (!store.Call(std::move(request)).ok()) return std::nullopt;
  return std::move(sink.bytes);
}

inline std::size_t OpenUploads(ObjectStore& store) {
  ListMultipartUploadsRequest request;
  request.bucket = kBucket;
  auto uploads = store.Call(std::move(request));
  PENSTOCK_CHECK(uploads.ok());
  return uploads->uploads.size();
}

inline penstock::testing::Fault MakeFault(
    ErrorKind kind,
    penstock::testing::Fault::Moment moment = penstock::testing::Fault::Moment::kBefore,
    std::uint64_t body_bytes = 0) {
  return {Error::Make(kind, "planted"), moment, body_bytes};
}

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_TRANSFER_TEST_SUPPORT_H_
