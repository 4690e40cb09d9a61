#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/testing/memory_state.h"

namespace penstock::testing {
namespace {

StoredBucket BucketWith(const std::vector<std::string>& keys) {
  StoredBucket bucket;
  for (const std::string& key : keys) bucket.objects[key];
  return bucket;
}

// Returns the keys and prefixes of all pages, with pages separated by "|".
std::string Walk(const StoredBucket& bucket, ListObjectsRequest request) {
  std::string walked;
  for (int page = 0; page < 20; ++page) {
    const auto listed = ListBucket(bucket, request);
    if (!listed.ok()) return listed.error().code;
    for (const auto& object : listed->objects) walked += object.key.value + " ";
    for (const auto& prefix : listed->common_prefixes) walked += "[" + prefix + "] ";
    if (listed->next_token.empty()) return walked;
    walked += "| ";
    request.continuation_token = listed->next_token;
  }
  return walked + "(endless)";
}

// Same for versions.
std::string WalkVersions(const StoredBucket& bucket, ListObjectVersionsRequest request) {
  std::string walked;
  for (int page = 0; page < 20; ++page) {
    const auto listed = ListBucket(bucket, request);
    if (!listed.ok()) return listed.error().code;
    for (const auto& version : listed->versions)
      walked += version.key.value + "@" + version.version_id.value + " ";
    for (const auto& prefix : listed->common_prefixes) walked += "[" + prefix + "] ";
    if (listed->next_key_marker.empty()) return walked;
    walked += "| ";
    request.key_marker = listed->next_key_marker;
    request.version_id_marker = listed->next_version_id_marker;
  }
  return walked + "(endless)";
}

TEST(MemoryListing, ListsVersionsInPagesOfObjectsAndGroups) {
  ListObjectVersionsRequest request;
  request.delimiter = "/";
  request.max_keys = 2;
  EXPECT_EQ(WalkVersions(BucketWith({"a", "d/1", "d/2", "e", "f/1", "g"}), request),
            "a@null [d/] | e@null [f/] | g@null ");
}

TEST(MemoryListing, AVersionMarkerNeedsItsKey) {
  ListObjectVersionsRequest request;
  request.version_id_marker = VersionId("null");
  EXPECT_EQ(WalkVersions(BucketWith({"a"}), request), "InvalidArgument");
}

TEST(MemoryListing, OrdersByUnsignedBytes) {
  EXPECT_EQ(Walk(BucketWith({"b", "\xc3\xa4", "a", "B"}), {}), "B a b \xc3\xa4 ");
}

TEST(MemoryListing, PagesAreFullAndDisjoint) {
  ListObjectsRequest request;
  request.max_keys = 2;
  EXPECT_EQ(Walk(BucketWith({"a", "b", "c", "d", "e"}), request), "a b | c d | e ");
}

TEST(MemoryListing, TheLastFullPageHasNoToken) {
  ListObjectsRequest request;
  request.max_keys = 2;
  EXPECT_EQ(Walk(BucketWith({"a", "b"}), request), "a b ");
}

TEST(MemoryListing, CollapsesGroupsAndCountsThem) {
  ListObjectsRequest request;
  request.delimiter = "/";
  request.max_keys = 2;
  EXPECT_EQ(Walk(BucketWith({"a", "d/1", "d/2", "d/3", "e", "f/1"}), request), "a [d/] | e [f/] ");
}

TEST(MemoryListing, TheDelimiterAppliesAfterThePrefix) {
  ListObjectsRequest request;
  request.prefix = "d/";
  request.delimiter = "/";
  EXPECT_EQ(Walk(BucketWith({"a", "d/", "d/1", "d/x/1", "d/x/2", "e"}), request), "d/ d/1 [d/x/] ");
}

TEST(MemoryListing, StartAfterInsideAGroupSkipsTheGroup) {
  // Recorded against Amazon S3.
  ListObjectsRequest request;
  request.prefix = "folder/";
  request.delimiter = "/";
  request.start_after = "folder/aSubfolder/subFile1";
  EXPECT_EQ(
      Walk(BucketWith({"folder/aSubfolder/subFile1", "folder/aSubfolder/subFile2", "folder/file1"}),
           request),
      "folder/file1 ");
}

TEST(MemoryListing, RejectsAMadeUpToken) {
  ListObjectsRequest request;
  request.continuation_token = "zzz";
  EXPECT_EQ(Walk(BucketWith({"a"}), request), "InvalidArgument");
}

TEST(MemoryListing, APageOfZeroKeysIsEmptyAndAPageHasAtMostAThousand) {
  ListObjectsRequest request;
  request.max_keys = -1;
  EXPECT_EQ(Walk(BucketWith({"a"}), request), "InvalidArgument");
  StoredBucket bucket;
  for (int i = 0; i < 1001; ++i) bucket.objects[std::to_string(i)];
  request.max_keys = 0;
  EXPECT_TRUE(ListBucket(bucket, request)->objects.empty());
  EXPECT_TRUE(ListBucket(bucket, request)->next_token.empty());
  request.max_keys = 5000;
  EXPECT_EQ(ListBucket(bucket, request)->objects.size(), 1000u);
  EXPECT_FALSE(ListBucket(bucket, request)->next_token.empty());
}

}  // namespace
}  // namespace penstock::testing
