#include "emulator/s3/listing/list_entries.h"

#include <gtest/gtest.h>

#include <chrono>

namespace penstock::emulator::s3 {
namespace {

store::ListEntry Object(std::string_view key) {
  store::ListEntry entry;
  entry.key = key;
  entry.etag = "0f";
  entry.size = 7;
  entry.last_modified =
      WallTime(std::chrono::seconds(1'767'323'045) + std::chrono::milliseconds(999));
  entry.owner_id = "o<1>";
  entry.storage_class = "STANDARD";
  entry.version_id = "null";
  return entry;
}

store::ListEntry Prefix(std::string_view prefix) {
  store::ListEntry entry;
  entry.key = prefix;
  entry.is_common_prefix = true;
  return entry;
}

constexpr std::string_view kDate = "<LastModified>2026-01-02T03:04:05.000Z</LastModified>";

std::string Contents(const std::vector<store::ListEntry>& entries, EntryForm form = {}) {
  std::string out;
  EntryWriter(out, form).WriteContents(entries);
  return out;
}

TEST(ListEntriesTest, ObjectsHaveTheirElementsInOrder) {
  store::ListEntry entry = Object("a&b");
  entry.checksum_algorithm = "SHA256";
  entry.checksum_type = "FULL_OBJECT";
  EXPECT_EQ(Contents({entry}, {.with_owner = true}),
            "<Contents><Key>a&amp;b</Key>" + std::string(kDate) +
                "<ETag>&quot;0f&quot;</ETag><ChecksumAlgorithm>SHA256</"
                "ChecksumAlgorithm><ChecksumType>FULL_OBJECT"
                "</ChecksumType><Size>7</Size><Owner><ID>o&lt;1&gt;</ID></"
                "Owner><StorageClass>STANDARD</StorageClass>"
                "</Contents>");
}

TEST(ListEntriesTest, CommonPrefixesFollowTheObjects) {
  const std::string out = Contents({Prefix("a/"), Object("b"), Prefix("c\x01/")});
  EXPECT_LT(out.find("<Key>b</Key>"),
            out.find("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"));
  EXPECT_NE(out.find("<Prefix>c&#x1;/</Prefix>"), std::string::npos);
}

TEST(ListEntriesTest, UrlEncodingAppliesOnlyToNames) {
  const std::string out =
      Contents({Object("a b<"), Prefix("c+/")}, {.url_encoding = true, .with_owner = true});
  EXPECT_NE(out.find("<Key>a+b%3C</Key>"), std::string::npos);
  EXPECT_NE(out.find("<Prefix>c%2B/</Prefix>"), std::string::npos);
  EXPECT_NE(out.find("o&lt;1&gt;"), std::string::npos);
}

TEST(ListEntriesTest, CachedDatesAndOwnersMatchTheirEntries) {
  store::ListEntry later = Object("b");
  later.last_modified += std::chrono::seconds(1);
  later.owner_id = "p";
  const std::string out = Contents({Object("a"), later, Object("c")}, {.with_owner = true});
  EXPECT_EQ(out, Contents({Object("a")}, {.with_owner = true}) +
                     Contents({later}, {.with_owner = true}) +
                     Contents({Object("c")}, {.with_owner = true}));
  EXPECT_NE(out.find("03:04:06.000Z"), std::string::npos);
}

TEST(ListEntriesTest, DeleteMarkersHaveNoSizeAndNoStorageClass) {
  store::ListEntry marker = Object("a");
  marker.is_delete_marker = true;
  store::ListEntry older = Object("a");
  older.is_latest = false;
  std::string out;
  EntryWriter(out, {}).WriteVersions({marker, older});
  const std::string owner = "<Owner><ID>o&lt;1&gt;</ID></Owner>";
  EXPECT_EQ(out, "<DeleteMarker><Key>a</Key><VersionId>null</VersionId><IsLatest>true</IsLatest>" +
                     std::string(kDate) + owner +
                     "</DeleteMarker><Version><Key>a</Key><VersionId>null</"
                     "VersionId><IsLatest>false</IsLatest>" +
                     std::string(kDate) + "<ETag>&quot;0f&quot;</ETag><Size>7</Size>" + owner +
                     "<StorageClass>STANDARD</StorageClass></Version>");
}

}  // namespace
}  // namespace penstock::emulator::s3
