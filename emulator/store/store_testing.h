// Shared by the store's tests: a store with a bucket in either mode, and helpers that write and
// read objects.
#ifndef PENSTOCK_EMULATOR_STORE_STORE_TESTING_H_
#define PENSTOCK_EMULATOR_STORE_STORE_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/store/store.h"

namespace penstock::emulator::store::testing {

// A new directory in the system's temporary directory, removed by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Waits for a condition that a background thread makes true. False: it is still false after 30 s.
template <class Condition>
bool WaitUntil(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// Number of regular files below a directory.
inline int CountFilesBelow(const std::string& path) {
  int files = 0;
  std::error_code ended;  // a directory may be removed concurrently
  for (std::filesystem::recursive_directory_iterator at(path, ended), end; at != end;
       at.increment(ended)) {
    files += at->is_regular_file(ended) ? 1 : 0;
  }
  return files;
}

// Waits until the store in `directory` has `files` blob files. False after 30 s.
inline bool WaitForBlobFiles(const TemporaryDirectory& directory, int files) {
  return WaitUntil([&] { return CountFilesBelow(directory.path() + "/blobs") == files; });
}

inline const BucketName kBucket("bucket");

inline std::unique_ptr<Store> OpenStore(StoreOptions options) {
  auto store = Store::Open(std::move(options));
  EXPECT_TRUE(store.ok()) << store.error().ToString();
  return store.ok() ? std::move(store).value() : nullptr;
}

inline void MakeBucket(Store& store, const BucketName& name = kBucket,
                       Versioning versioning = Versioning::kNever) {
  BucketRecord bucket;
  bucket.name = name;
  bucket.owner_id = "owner";
  bucket.region = "us-east-1";
  ASSERT_TRUE(store.CreateBucket(bucket).ok());
  if (versioning != Versioning::kNever) {
    ASSERT_TRUE(store.SetVersioning(name, versioning).ok());
  }
}

inline Content MakeContent(Store& store, std::string_view body, std::uint64_t hint = 0) {
  auto writer = store.NewBlob(hint);
  EXPECT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->Append(AsBytes(body)).ok());
  auto content = (*writer)->Finish();
  EXPECT_TRUE(content.ok());
  return std::move(content).value();
}

inline PutObject MakePut(Store& store, std::string key, std::string_view body,
                         const BucketName& bucket = kBucket) {
  PutObject put;
  put.bucket = bucket;
  put.record.key = ObjectKey(std::move(key));
  put.record.etag = ETag("etag-" + std::string(body.substr(0, 16)));
  put.record.size = body.size();
  put.record.storage_class = "STANDARD";
  put.record.owner_id = "owner";
  put.record.content = MakeContent(store, body);
  return put;
}

inline Result<PutOutcome> PutText(Store& store, std::string key, std::string_view body,
                                  const BucketName& bucket = kBucket) {
  return store.Put(MakePut(store, std::move(key), body, bucket));
}

inline std::string Text(const Content& content) {
  std::string text(content.size(), '\0');
  const auto read = ReadContent(
      content, 0, MutableByteView(reinterpret_cast<std::byte*>(text.data()), text.size()));
  EXPECT_TRUE(read.ok());
  return text;
}

// The object's body, or the S3 code of the error in brackets.
inline std::string Get(Store& store, const std::string& key, const BucketName& bucket = kBucket,
                       const std::optional<VersionId>& version = std::nullopt) {
  const auto found = store.FindObject(bucket, ObjectKey(key), version);
  if (!found.ok()) return "[" + found.error().code + "]";
  return (*found)->is_delete_marker ? "[marker]" : Text((*found)->content);
}

inline Result<DeleteOutcome> Remove(Store& store, const std::string& key,
                                    const std::optional<VersionId>& version = std::nullopt) {
  return store.Delete({kBucket, ObjectKey(key), version, nullptr});
}

// A pseudo-random body that depends on the seed.
inline std::string Body(std::size_t size, unsigned seed = 1) {
  std::string body(size, '\0');
  std::uint64_t state = 0x9E3779B97F4A7C15ULL * (seed + 1);
  for (char& c : body) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    c = static_cast<char>(state >> 56);
  }
  return body;
}

}  // namespace penstock::emulator::store::testing

#endif  // PENSTOCK_EMULATOR_STORE_STORE_TESTING_H_
