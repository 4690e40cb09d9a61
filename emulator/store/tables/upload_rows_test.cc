#include "emulator/store/tables/upload_rows.h"

#include <gtest/gtest.h>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

class UploadRowsTest : public ::testing::Test {
 protected:
  static Bucket MakeBucket() {
    auto record = std::make_shared<BucketRecord>();
    record->name = BucketName("bucket");
    return {1, record};
  }
  UploadRow Upload(const std::string& key, std::int64_t sequence, const std::string& id) {
    UploadRow row;
    row.record.key = ObjectKey(key);
    row.record.id = UploadId(id);
    row.record.tags = {{"a", "b"}};
    row.record.current_at_create = "null etag 5";
    row.record.initiator = "arn:aws:iam::111122223333:user/ann";
    row.sequence = sequence;
    EXPECT_TRUE(InsertUpload(*database_, 1, row).ok());
    return row;
  }
  PartRow Part(int number, const std::string& slices) {
    PartRow part;
    part.record.number = number;
    part.slices = slices;
    return part;
  }
  const Bucket bucket_ = MakeBucket();
  std::unique_ptr<Connection> database_ = OpenDatabase(":memory:", Durability::kRelaxed).value();
};

TEST_F(UploadRowsTest, FindsAnUploadById) {
  Upload("key", 5, "id");
  const auto found = FindUploadById(*database_, bucket_, UploadId("id"));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->sequence, 5);
  EXPECT_EQ((*found)->record.bucket.value, "bucket");
  EXPECT_EQ((*found)->record.tags, (Attributes{{"a", "b"}}));
  EXPECT_EQ((*found)->record.current_at_create, "null etag 5");
  EXPECT_EQ((*found)->record.initiator, "arn:aws:iam::111122223333:user/ann");
  EXPECT_FALSE(FindUploadById(*database_, bucket_, UploadId("other"))->has_value());
}

TEST_F(UploadRowsTest, PartsAreReplacedAndPagedByNumber) {
  for (const int number : {3, 1, 2, 1})
    ASSERT_TRUE(WritePart(*database_, 5, Part(number, "s")).ok());
  ASSERT_TRUE(WritePart(*database_, 5, Part(2, "newer")).ok());
  const auto page = FindParts(*database_, 5, 1, 1);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->size(), 1u);
  EXPECT_EQ(page->front().record.number, 2);
  EXPECT_EQ(page->front().slices, "newer");
  EXPECT_EQ(FindParts(*database_, 5, 0, 100)->size(), 3u);
}

TEST_F(UploadRowsTest, DeletingAnUploadDeletesItsParts) {
  const UploadRow upload = Upload("key", 5, "id");
  ASSERT_TRUE(WritePart(*database_, 5, Part(1, "s")).ok());
  ASSERT_TRUE(DeleteUpload(*database_, 1, upload).ok());
  EXPECT_TRUE(FindParts(*database_, 5, 0, 100)->empty());
  EXPECT_FALSE(FindFirstUpload(*database_, bucket_)->has_value());
}

TEST_F(UploadRowsTest, PagesAreOrderedByKeyThenCreation) {
  Upload("b", 1, "b1");
  Upload("a", 2, "a2");
  Upload("b", 3, "b3");
  ListUploads query;
  query.max_uploads = 1;
  std::string seen;
  for (int pages = 0; pages < 5; ++pages) {
    const auto page = ListUploadRows(*database_, bucket_, query);
    ASSERT_TRUE(page.ok());
    seen += page->entries[0].upload->id.value + " ";
    if (!page->truncated) break;
    query.key_marker = page->entries[0].upload->key.value;
    query.upload_id_marker = page->entries[0].upload->id.value;
  }
  EXPECT_EQ(seen, "a2 b1 b3 ");
}

}  // namespace
}  // namespace penstock::emulator::store
