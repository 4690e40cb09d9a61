// Helpers for the tests of this module: a cache in a temporary directory, and a store that counts.
#ifndef PENSTOCK_CLIENT_CACHE_CACHE_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_CACHE_CACHE_TEST_SUPPORT_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/cache/cached_read.h"
#include "client/testing/test_bodies.h"
#include "penstock/base/mutex.h"
#include "penstock/base/pending.h"
#include "penstock/testing/memory_object_store.h"

namespace penstock::cache {

using Bytes = std::vector<std::byte>;

inline Bytes MakeContent(std::uint64_t size, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
    PENSTOCK_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

  // The block files, sorted.
  std::vector<std::filesystem::path> Blocks() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (entry.is_regular_file() && entry.path().filename() != "state")
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

 private:
  std::string path_;
};

inline void Overwrite(const std::filesystem::path& file, std::uint64_t offset, char byte) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.put(byte);
}

// Collects a whole body. Its windows are of odd sizes.
class CollectingSink final : public BodySink {
 public:
  explicit CollectingSink(std::size_t window = 1 << 20) : most_(window) {}

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override {
    bytes.assign(body_length.value_or(0), std::byte{0});
    seen = metadata;
    position = 0;
    ++begins;
    return Ok();
  }
  MutableByteView Window() override {
    const MutableByteView rest = MutableByteView(bytes).subspan(position);
    return rest.first(std::min(rest.size(), most_));
  }
  Result<void> Commit(std::size_t count) override {
    position += count;
    if (position < stop_after) return Ok();
    return Error::Make(ErrorKind::kCancelled, "enough");
  }

  Bytes bytes;
  ObjectMetadata seen;
  std::size_t position = 0;
  std::size_t stop_after = SIZE_MAX;
  int begins = 0;

 private:
  const std::size_t most_;
};

// A store in memory with one bucket, a backend that counts its requests, and a cache.
class CachedStore {
 public:
  explicit CachedStore(std::uint64_t max_bytes = 1ull << 30)
      : cache(NodeCache::PerProcess({directory.path(), max_bytes}).value()) {
    CreateBucketRequest request;
    request.bucket = bucket;
    PENSTOCK_CHECK(store->Call(std::move(request)).ok());
    backend->endpoint = "test";
    UseStore(store);
  }

  void UseStore(std::shared_ptr<ObjectStore> other) {
    backend->get = [this, other](GetObjectRequest request, Callback<ObjectMetadata> done) {
      ++gets;
      ++running_;
      other->Start(std::move(request), [this, done](Result<ObjectMetadata> result) {
        if (result.ok()) downloaded += result->range.size();
        done(std::move(result));
        --running_;
      });
    };
    backend->head = [this, other](HeadObjectRequest request, Callback<ObjectMetadata> done) {
      ++heads;
      other->Start(std::move(request), std::move(done));
    };
  }

  ETag Put(const std::string& key, const Bytes& content) {
    auto body = std::make_unique<penstock::testing::TextSource>(std::string(AsText(content)));
    PutObjectRequest request{.bucket = bucket, .key = ObjectKey(key), .body = body.get()};
    return store->Call(std::move(request)).value().etag;
  }

  GetObjectRequest Get(const std::string& key, BodySink& sink) const {
    return {.bucket = bucket, .key = ObjectKey(key), .sink = &sink};
  }

  Result<ObjectMetadata> Read(GetObjectRequest request) {
    auto call = MakePending<ObjectMetadata>(request.options.cancel);
    request.options.cancel = std::move(call.cancel);
    StartCachedRead(*cache, backend, std::move(request), std::move(call.done));
    auto result = std::move(call.pending).Get();
    while (running_ > 0) std::this_thread::yield();  // so that the counts are complete
    return result;
  }

  // Waits until every block that was downloaded is stored or refused.
  void WaitUntilStored() {
    while (cache->in_flight() > 0 || running_ > 0) std::this_thread::yield();
  }

  void ResetCounts() {
    WaitUntilStored();
    gets = heads = 0;
    downloaded = 0;
  }

  const TemporaryDirectory directory;
  const BucketName bucket{"data"};
  std::atomic<int> gets{0};
  std::atomic<int> heads{0};
  std::atomic<std::uint64_t> downloaded{0};
  const std::shared_ptr<penstock::testing::MemoryObjectStore> store =
      std::make_shared<penstock::testing::MemoryObjectStore>();
  NodeCache* const cache;  // never destroyed
  const std::shared_ptr<CacheBackend> backend = std::make_shared<CacheBackend>();

 private:
  std::atomic<int> running_{0};
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_CACHE_TEST_SUPPORT_H_
