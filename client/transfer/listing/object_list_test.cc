#include "penstock/object_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace penstock {
namespace {

WallTime At(std::int64_t milliseconds) { return WallTime(std::chrono::milliseconds(milliseconds)); }

ObjectSummary Object(std::string key, std::uint64_t size, std::string etag,
                     WallTime time = At(1767323045000), std::string storage = "") {
  return {ObjectKey(std::move(key)), size, ETag(std::move(etag)), time, std::move(storage)};
}

std::string Described(const ObjectSummary& o) {
  return o.key.value + "|" + std::to_string(o.size) + "|" + o.etag.value + "|" +
         std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                            o.last_modified.time_since_epoch())
                            .count()) +
         "|" + o.storage_class;
}

void ExpectSame(const ObjectList& list, const std::vector<ObjectSummary>& objects) {
  ASSERT_EQ(list.size(), objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i)
    ASSERT_EQ(Described(list[i]), Described(objects[i])) << i;
}

std::string Hex(std::mt19937_64& random, std::size_t digits) {
  std::string text;
  for (std::size_t i = 0; i < digits; ++i) text += "0123456789abcdef"[random() % 16];
  return text;
}

// All fields that a listing can have, including values that only unusual servers return.
std::vector<ObjectSummary> Odd() {
  const std::string digest = "0123456789abcdef0123456789abcdef";
  return {Object("", 0, ""),
          Object("a", 1, digest),
          Object("a", UINT64_MAX, digest + "-1", At(0)),
          Object("a/", 5, digest + "-10000", At(-1)),
          Object("ab", 5, digest + "-", At(1), "GLACIER"),
          Object("a\xff", 5, digest + "-01", At(7258118400123)),
          Object("b", 5, "0123456789ABCDEF0123456789ABCDEF", At(5), "DEEP_ARCHIVE"),
          Object("b", 5, digest + "x", At(5), "GLACIER"),
          Object(std::string(1024, 'k'), 5, digest.substr(1), At(6001)),
          Object(std::string(1025, 'k'), 5, std::string(300, 'e'), At(6000)),
          Object(std::string("nul\0l", 5), 5, "e", At(999), "NEW_CLASS")};
}

TEST(ObjectListTest, ReturnsTheAppendedObjects) {
  std::vector<ObjectSummary> objects;
  for (int copies = 0; copies < 9; ++copies) {  // at every position in a block
    for (ObjectSummary& object : Odd()) objects.push_back(std::move(object));
  }
  ObjectList list;
  for (const ObjectSummary& object : objects) list.Append(object);
  ExpectSame(list, objects);
}

TEST(ObjectListTest, SupportsAnyNumberOfStorageClasses) {
  ObjectList list;
  std::vector<ObjectSummary> objects;
  for (int i = 0; i < 40; ++i) {
    objects.push_back(Object("k", 1, "e", At(0), "CLASS_" + std::to_string(i)));
    list.Append(objects.back());
  }
  ExpectSame(list, objects);
}

TEST(ObjectListTest, SavesAndLoads) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 500u}) {
    std::vector<ObjectSummary> objects;
    ObjectList list;
    for (std::size_t i = 0; i < count; ++i) {
      objects.push_back(Object("p/" + Hex(random, random() % 30), random() >> (random() % 64),
                               Hex(random, 32),
                               At(static_cast<std::int64_t>(random() % 7258118400000)),
                               random() % 5 == 0 ? "STANDARD_IA" : ""));
      list.Append(objects.back());
    }
    Result<ObjectList> loaded = ObjectList::Load(list.Save());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    ExpectSame(*loaded, objects);
    loaded->Append(Object("zzz", 1, "e"));  // the loaded list can grow
    objects.push_back(Object("zzz", 1, "e"));
    ExpectSame(*loaded, objects);
  }
}

TEST(ObjectListTest, RejectsDamagedBytes) {
  ObjectList list;
  for (const ObjectSummary& object : Odd()) list.Append(object);
  const std::string saved = list.Save();
  for (std::size_t length = 0; length < saved.size(); ++length) {
    const auto loaded = ObjectList::Load(std::string_view(saved).substr(0, length));
    ASSERT_FALSE(loaded.ok()) << length;
    EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
  }
  EXPECT_FALSE(ObjectList::Load(saved + "x").ok());
  std::mt19937 random(3);
  // For other damage, Load must return and not read out of bounds.
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = saved;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto loaded = ObjectList::Load(damaged);
    EXPECT_TRUE(!loaded.ok() || loaded->size() == list.size());
    for (std::size_t i = 0; loaded.ok() && i < loaded->size(); ++i)
      EXPECT_LE((*loaded)[i].key.value.size(), saved.size());
  }
}

// Ten million keys must fit in the memory limit, for all key patterns.
TEST(ObjectListTest, UsesAtMost24BytesPerObjectBesidesTheKey) {
  constexpr int kCount = 100'000;
  std::mt19937_64 random(11);
  for (const bool numbered : {true, false}) {
    std::vector<std::string> keys;
    for (int i = 0; i < kCount; ++i) {
      const std::string number = std::to_string(1'000'000 + i);
      keys.push_back(numbered ? "data/train/" + number + ".jpg" : Hex(random, 32));
    }
    std::sort(keys.begin(), keys.end());
    ObjectList list;
    std::uint64_t key_bytes = 0;
    for (const std::string& key : keys) {
      key_bytes += key.size();
      // Objects written over a year, 100 KB to 1 GB, with MD5 ETags as S3 assigns them.
      list.Append(
          Object(key, 100'000 + random() % 1'000'000'000, Hex(random, 32),
                 At(1767323045000 + static_cast<std::int64_t>(random() % 31'536'000) * 1000)));
    }
    const double besides =
        (static_cast<double>(list.memory_bytes()) - static_cast<double>(key_bytes)) / kCount;
    EXPECT_LE(besides, 24.0) << (numbered ? "numbered" : "random");
    EXPECT_EQ(list[kCount - 1].key.value, keys.back());
  }
}

TEST(ObjectListTest, FewObjectsUseLittleMemory) {
  ObjectList list;
  for (int i = 0; i < 40; ++i) list.Append(Object("k" + std::to_string(i), 1, "e"));
  EXPECT_LE(list.memory_bytes(), 8u << 10);
}

}  // namespace
}  // namespace penstock
