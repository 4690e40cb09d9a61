// Compares the store with a simple model: runs random sequences of operations, then compares all
// results. PENSTOCK_PROPERTY_RUNS sets the number of sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

struct ModelVersion {
  std::string id;
  std::string body;
  bool marker = false;
};

struct ModelUpload {
  UploadId id;
  std::string key;
  std::map<int, std::string> parts;
};

// A bucket with S3 semantics: the versions of each key, newest first.
struct Model {
  Versioning versioning = Versioning::kNever;
  std::map<std::string, std::deque<ModelVersion>> keys;
  std::vector<ModelUpload> uploads;

  void RemoveNullVersion(const std::string& key) {
    std::erase_if(keys[key], [](const ModelVersion& version) { return version.id == "null"; });
  }
  void Add(const std::string& key, ModelVersion version) {
    if (versioning != Versioning::kEnabled) RemoveNullVersion(key);
    keys[key].push_front(std::move(version));
  }
  bool Shows(const std::string& key) const {
    const auto found = keys.find(key);
    return found != keys.end() && !found->second.empty() && !found->second.front().marker;
  }
  std::string Get(const std::string& key) const {
    const auto found = keys.find(key);
    if (found == keys.end() || found->second.empty()) return "[NoSuchKey]";
    return found->second.front().marker ? "[marker]" : found->second.front().body;
  }
  // Keys and common prefixes after `after`, by brute force.
  std::vector<std::string> List(const std::string& prefix, const std::string& delimiter,
                                const std::string& after) const {
    std::vector<std::string> names;
    for (const auto& [key, versions] : keys) {
      if (versions.empty() || versions.front().marker || !key.starts_with(prefix)) continue;
      std::string name = key;
      if (!delimiter.empty()) {
        const std::size_t at = key.find(delimiter, prefix.size());
        if (at != std::string::npos) name = key.substr(0, at + delimiter.size());
      }
      // Must be after `after`, and not a group that contains it.
      if (name <= after || (name != key && after.starts_with(name))) continue;
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }
};

class Run {
 public:
  Run(unsigned seed, StoreOptions options) : random_(seed), options_(std::move(options)) {
    store_ = OpenStore(options_);
    MakeBucket(*store_);
  }

  void Steps(int count) {
    for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) Step();
    for (int i = 0; i < 4; ++i) CheckListing();
    CheckVersions();
    for (const auto& [key, versions] : model_.keys)
      EXPECT_EQ(Get(*store_, key), model_.Get(key)) << key;
    if (options_.directory.empty()) return;
    store_.reset();
    store_ = OpenStore(options_);
    CheckVersions();
  }

 private:
  unsigned Pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string Key() {
    static const std::vector<std::string> keys = {"a",  "a/",         "a/b", "a/b/c",  "a/c",
                                                  "a0", "b/",         "b/x", "b/y/z",  "b//z",
                                                  "c",  "\xC3\xA9/x", "zz/", "zz/\xFF"};
    return keys[Pick(static_cast<unsigned>(keys.size()))];
  }
  std::string SomeBody() { return Body(Pick(8) == 0 ? 40'000 + Pick(10) : Pick(20), Pick(1000)); }

  void Step() {
    switch (Pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3: return PutOne();
      case 4:
      case 5: return DeleteOne();
      case 6: return DeleteOneVersion();
      case 7: return ChangeVersioning();
      case 8: return CheckListing();
      case 9: return Upload();
      case 10: return FinishUpload();
      default: return CheckOne();
    }
  }

  void PutOne() {
    const std::string key = Key();
    const std::string body = SomeBody();
    const auto put = PutText(*store_, key, body);
    ASSERT_TRUE(put.ok());
    model_.Add(key, {put->object->version_id.value, body, false});
    EXPECT_EQ(put->object->version_id.value == "null", model_.versioning != Versioning::kEnabled);
  }

  void DeleteOne() {
    const std::string key = Key();
    const bool shown = model_.Shows(key);
    const auto deleted = Remove(*store_, key);
    ASSERT_TRUE(deleted.ok());
    EXPECT_EQ(deleted->existed, shown);
    EXPECT_EQ(deleted->created_marker, model_.versioning != Versioning::kNever);
    if (model_.versioning == Versioning::kNever) {
      model_.keys.erase(key);
    } else {
      model_.Add(key, {deleted->version_id.value, "", true});
    }
  }

  void DeleteOneVersion() {
    const std::string key = Key();
    auto& versions = model_.keys[key];
    if (versions.empty()) {
      EXPECT_FALSE(Remove(*store_, key, VersionId("null"))->existed);
      return;
    }
    const auto chosen = versions.begin() + Pick(static_cast<unsigned>(versions.size()));
    const auto deleted = Remove(*store_, key, VersionId(chosen->id));
    ASSERT_TRUE(deleted.ok());
    EXPECT_TRUE(deleted->existed);
    EXPECT_EQ(deleted->removed_marker, chosen->marker);
    versions.erase(chosen);
  }

  void ChangeVersioning() {
    model_.versioning = Pick(2) == 0 ? Versioning::kEnabled : Versioning::kSuspended;
    ASSERT_TRUE(store_->SetVersioning(kBucket, model_.versioning).ok());
  }

  void CheckOne() {
    const std::string key = Key();
    EXPECT_EQ(Get(*store_, key), model_.Get(key));
    for (const ModelVersion& version : model_.keys[key]) {
      EXPECT_EQ(Get(*store_, key, kBucket, VersionId(version.id)),
                version.marker ? "[marker]" : version.body);
    }
  }

  void Upload() {
    if (model_.uploads.empty() || Pick(3) == 0) {
      UploadRecord upload;
      upload.bucket = kBucket;
      upload.key = ObjectKey(Key());
      const auto created = store_->CreateUpload(upload);
      ASSERT_TRUE(created.ok());
      model_.uploads.push_back({(*created)->id, upload.key.value, {}});
    }
    ModelUpload& upload = model_.uploads[Pick(static_cast<unsigned>(model_.uploads.size()))];
    const int number = static_cast<int>(Pick(4)) + 1;
    upload.parts[number] = SomeBody();
    PutPart part{
        kBucket, ObjectKey(upload.key), upload.id, {}, MakeContent(*store_, upload.parts[number])};
    part.part.number = number;
    part.part.size = upload.parts[number].size();
    ASSERT_TRUE(store_->Put(part).ok());
  }

  void FinishUpload() {
    if (model_.uploads.empty()) return;
    const ModelUpload upload = model_.uploads.back();
    model_.uploads.pop_back();
    if (Pick(3) == 0) {
      ASSERT_TRUE(store_->AbortUpload(kBucket, ObjectKey(upload.key), upload.id).ok());
      return;
    }
    CompleteUpload complete{kBucket, ObjectKey(upload.key), upload.id, {}, {}, nullptr};
    std::string body;
    for (const auto& [number, part] : upload.parts) {
      if (Pick(4) == 0) continue;
      complete.parts.push_back({number, {}});
      body += part;
    }
    const auto done = store_->Complete(complete);
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->object->size, body.size());
    model_.Add(upload.key, {done->object->version_id.value, body, false});
  }

  void CheckListing() {
    static const std::vector<std::string> prefixes = {"", "a", "a/", "b/", "zz/", "nothing"};
    static const std::vector<std::string> delimiters = {"", "/", "//", "b"};
    ListObjects query;
    query.bucket = kBucket;
    query.prefix = prefixes[Pick(6)];
    query.delimiter = delimiters[Pick(4)];
    query.start_after = Pick(2) == 0 ? "" : Key();
    query.max_keys = static_cast<int>(Pick(4)) + 1;
    const auto expected = model_.List(query.prefix, query.delimiter, query.start_after);
    std::vector<std::string> seen;
    for (int pages = 0; pages < 40; ++pages) {
      const auto page = store_->List(query);
      ASSERT_TRUE(page.ok());
      for (const ListEntry& entry : page->entries) {
        seen.emplace_back(entry.key);
      }
      if (!page->truncated) break;
      ASSERT_EQ(page->entries.size(), static_cast<std::size_t>(query.max_keys));
      query.start_after = page->next;
    }
    EXPECT_EQ(seen, expected) << "prefix " << query.prefix << " delimiter " << query.delimiter;
  }

  void CheckVersions() {
    std::vector<std::string> expected;
    for (const auto& [key, versions] : model_.keys) {
      for (const ModelVersion& version : versions) {
        expected.push_back(key + " " + version.id + (version.marker ? " marker" : "") +
                           (&version == &versions.front() ? " latest" : ""));
      }
    }
    std::vector<std::string> seen;
    ListVersions query;
    query.bucket = kBucket;
    query.max_keys = static_cast<int>(Pick(5)) + 1;
    for (int pages = 0; pages < 1000; ++pages) {
      const auto page = store_->List(query);
      ASSERT_TRUE(page.ok());
      for (const ListEntry& entry : page->entries) {
        seen.push_back(std::string(entry.key) + " " + std::string(entry.version_id) +
                       (entry.is_delete_marker ? " marker" : "") +
                       (entry.is_latest ? " latest" : ""));
      }
      if (!page->truncated) break;
      query.key_marker = page->next_key_marker;
      query.version_id_marker = page->next_version_id_marker;
    }
    EXPECT_EQ(seen, expected);
  }

  std::mt19937 random_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
  Model model_;
};

int Runs(int default_runs) {
  const char* text = std::getenv("PENSTOCK_PROPERTY_RUNS");
  return text == nullptr ? default_runs : std::max(1, std::atoi(text));
}

void RunSeed(unsigned seed, StoreOptions options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Run(seed, std::move(options)).Steps(60);
}

TEST(StoreProperty, BehavesLikeTheModelInMemory) {
  const int runs = Runs(250);
  ::testing::Test::RecordProperty("sequences", runs);
  for (int seed = 1; seed <= runs && !::testing::Test::HasFailure(); ++seed)
    RunSeed(static_cast<unsigned>(seed), {});
}

TEST(StoreProperty, BehavesLikeTheModelInADirectory) {
  const int runs = std::max(1, Runs(250) / 25);
  for (int seed = 1; seed <= runs && !::testing::Test::HasFailure(); ++seed) {
    const TemporaryDirectory directory;
    RunSeed(10'000 + static_cast<unsigned>(seed), {.directory = directory.path()});
  }
}

}  // namespace
}  // namespace penstock::emulator::store
