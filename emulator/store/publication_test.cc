// Every change becomes visible at one point: a read that begins after a listing is not older than
// the listing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

constexpr int kKeys = 4;
constexpr int kWriters = 4;

std::string KeyOf(int index) { return "key-" + std::to_string(index); }

// Threads that put increasing generations of their key, and sometimes delete it before the next
// one.
class Writers {
 public:
  explicit Writers(Store& store) {
    for (int i = 0; i < kWriters; ++i)
      threads_.emplace_back([this, &store, i] { Write(store, i % kKeys); });
  }
  ~Writers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Write(Store& store, int key) {
    for (int generation = 1; !stop_; ++generation) {
      PutObject put = MakePut(store, KeyOf(key), "body");
      put.record.etag = ETag(std::to_string(generation));
      EXPECT_TRUE(store.Put(std::move(put)).ok());
      if (generation % 4 == 0) {
        EXPECT_TRUE(Remove(store, KeyOf(key)).ok());
      }
    }
  }

  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

std::int64_t GenerationOf(std::string_view etag) {
  std::int64_t generation = 0;
  std::from_chars(etag.data(), etag.data() + etag.size(), generation);
  return generation;
}

// The generation that a listing or a read returns; kAbsent if the key has no object.
constexpr std::int64_t kAbsent = -1;

std::int64_t Listed(const ListPage& page, const std::string& key) {
  for (const ListEntry& entry : page.entries) {
    if (entry.key == key) return GenerationOf(entry.etag);
  }
  return kAbsent;
}

std::int64_t Read(Store& store, const std::string& key) {
  const auto found = store.FindObject(kBucket, ObjectKey(key));
  return found.ok() ? GenerationOf((*found)->etag.value) : kAbsent;
}

struct Violations {
  int writes = 0;  // the read returns an older generation than the listing
  // The read returns a generation that the listing shows as deleted.
  int deletions = 0;
};

Violations Observe(Store& store, int rounds) {
  Violations violations;
  std::vector<std::int64_t> newest(kKeys, 0);  // newest generation of each key seen so far
  for (int round = 0; round < rounds; ++round) {
    const auto page = store.List(ListObjects{.bucket = kBucket, .prefix = "key-"});
    if (!page.ok()) {
      ADD_FAILURE() << page.error().ToString();
      return violations;
    }
    for (int key = 0; key < kKeys; ++key) {
      const std::int64_t listed = Listed(*page, KeyOf(key));
      const std::int64_t read = Read(store, KeyOf(key));
      std::int64_t& seen = newest[static_cast<std::size_t>(key)];
      if (listed != kAbsent && read != kAbsent && read < listed) ++violations.writes;
      if (listed == kAbsent && read != kAbsent && read <= seen) ++violations.deletions;
      seen = std::max({seen, listed, read});
    }
  }
  return violations;
}

class Publication : public ::testing::TestWithParam<std::string> {
 protected:
  StoreOptions Options() const {
    if (GetParam() == "memory") return {};
    return {.directory = directory_.path(),
            .durability = GetParam() == "strict" ? Durability::kStrict : Durability::kRelaxed};
  }
  int Rounds() const { return std::getenv("PENSTOCK_LONG") != nullptr ? 200'000 : 5'000; }

  TemporaryDirectory directory_;
};

TEST_P(Publication, AReadAfterAListingIsNotOlder) {
  const auto store = OpenStore(Options());
  MakeBucket(*store);
  Violations violations;
  {
    const Writers writers(*store);
    violations = Observe(*store, Rounds());
  }
  EXPECT_EQ(violations.writes, 0);
  EXPECT_EQ(violations.deletions, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, Publication, ::testing::Values("memory", "relaxed", "strict"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace penstock::emulator::store
