// This build opens a store that version 1 of the schema wrote. All data must be found, and fsck
// must find no problems.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "emulator/store/checks/fsck.h"
#include "emulator/store/sqlite/migrations.h"
#include "emulator/store/store_testing.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

// Dump by the sqlite3 shell of a store that an emulator of version 1 wrote for these requests of
// boto3: bucket "plain" with "small" (metadata, a tag), "file" (40,000 times f), "copy" (of
// "file"), "joined" (a multipart upload) and the open upload of "unfinished"; bucket "versioned"
// with two versions of "key" and a delete marker on "hidden". Must not change, because users have
// such stores.
constexpr char kDump[] = R"sql(
BEGIN TRANSACTION;
CREATE TABLE numbers(next INTEGER NOT NULL);
INSERT INTO numbers VALUES(1099511627777);
CREATE TABLE buckets(
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, owner_id TEXT NOT NULL, region TEXT NOT NULL,
  created INTEGER NOT NULL, versioning INTEGER NOT NULL, configuration BLOB NOT NULL);
INSERT INTO buckets VALUES(1,X'706c61696e','1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','us-east-1',1795236595556487615,0,X'');
INSERT INTO buckets VALUES(2,X'76657273696f6e6564','1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','us-east-1',1795236595558880818,1,X'');
CREATE TABLE current(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, newest_first INTEGER NOT NULL, version_id TEXT NOT NULL,
  is_marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, last_modified INTEGER NOT NULL,
  owner_id TEXT NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL,
  checksum TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL,
  PRIMARY KEY(bucket, key)) WITHOUT ROWID;
INSERT INTO "current" VALUES(1,X'636f7079',-5,'null',0,40000,'b5f63998fd2419a0f87ffec3fc00eddb',1795236595568474732,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC32','FULL_OBJECT','uyoYKA==',X'',X'',X'0200c0b802',X'');
INSERT INTO "current" VALUES(1,X'66696c65',-4,'null',0,40000,'b5f63998fd2419a0f87ffec3fc00eddb',1795236595566455154,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC32','FULL_OBJECT','uyoYKA==',X'',X'',X'0200c0b802',X'');
INSERT INTO "current" VALUES(1,X'6a6f696e6564',-10,'null',0,4,'1819d1a8700e59901a48215b8577ac07-1',1795236595576105201,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC64NVME','FULL_OBJECT','v+lYbwd1k6E=',X'',X'',X'050004',X'01042066346339333835663139303266373333346230306239623465636431363464651368696464656e3a762b6c59627764316b36453d948ae3f9c0c5fdf418');
INSERT INTO "current" VALUES(1,X'736d616c6c',-3,'null',0,5,'5d41402abc4b2a76b9719d911017c592',1795236595564141068,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC32','FULL_OBJECT','NhCmhg==',X'10782d616d7a2d6d6574612d636f6c6f7204626c7565',X'01610131',X'010005',X'');
INSERT INTO "current" VALUES(2,X'6b6579',-7,'HAAAAAAAAAAMUJsT2CzWhqGB31wMyNo7',0,6,'a9f0e61a137d86aa9db53465e0801612',1795236595572469854,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC32','FULL_OBJECT','th8RaQ==',X'',X'',X'040006',X'');
CREATE TABLE versions(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, newest_first INTEGER NOT NULL, version_id TEXT NOT NULL,
  is_marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, last_modified INTEGER NOT NULL,
  owner_id TEXT NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL,
  checksum TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL,
  PRIMARY KEY(bucket, key, newest_first)) WITHOUT ROWID;
INSERT INTO versions VALUES(2,X'68696464656e',-8,'IAAAAAAAAAA67W9EWyR1kJ0OzFfQ2x8z',1,0,'',1795236595574080945,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','','','','',X'',X'',X'',X'');
INSERT INTO versions VALUES(2,X'6b6579',-6,'GAAAAAAAAAA7WulQIrM6mhKKpObrO8YA',0,5,'8b04d5e3775d298e78455efc5ca404d5',1795236595570573007,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC32','FULL_OBJECT','knHuVw==',X'',X'',X'030005',X'');
CREATE TABLE blobs(id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB);
INSERT INTO blobs VALUES(1,1,5,X'68656c6c6f');
INSERT INTO blobs VALUES(2,2,40000,NULL);
INSERT INTO blobs VALUES(3,1,5,X'6669727374');
INSERT INTO blobs VALUES(4,1,6,X'7365636f6e64');
INSERT INTO blobs VALUES(5,1,4,X'70617274');
INSERT INTO blobs VALUES(6,1,5,X'7468697264');
CREATE TABLE uploads(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
  owner_id TEXT NOT NULL, initiated INTEGER NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL,
  checksum_type TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL,
  PRIMARY KEY(bucket, key, sequence)) WITHOUT ROWID;
INSERT INTO uploads VALUES(1,X'756e66696e6973686564',11,'V9WtJbz4PtF84245kBmO72GYKce_SIo8Cma6n7BVzODovEe9uhWgXN1YxvrQJ1uqlPGep.6j8QJEzAmgoEwLHn4B._bYHm91pYcrfasnc2E_8niIybJlg_xYJmXyHl7u','1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6',1795236595581735039,'STANDARD','','',X'123a63757272656e742d61742d63726561746500',X'');
CREATE TABLE parts(
  upload INTEGER NOT NULL, number INTEGER NOT NULL, record BLOB NOT NULL, content BLOB NOT NULL,
  PRIMARY KEY(upload, number)) WITHOUT ROWID;
INSERT INTO parts VALUES(11,3,X'03052064643563386266353135353866666362653530303730373139303865393532341368696464656e3a562b6477646150646754513dafa286fcc0c5fdf418',X'060005');
CREATE TABLE completed(
  ordinal INTEGER PRIMARY KEY, upload_id TEXT NOT NULL UNIQUE, bucket INTEGER NOT NULL, key BLOB NOT NULL,
  newest_first INTEGER NOT NULL, version_id TEXT NOT NULL, is_marker INTEGER NOT NULL, size INTEGER NOT NULL,
  etag TEXT NOT NULL, last_modified INTEGER NOT NULL, owner_id TEXT NOT NULL, storage_class TEXT NOT NULL,
  checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL, checksum TEXT NOT NULL, attributes BLOB NOT NULL,
  tags BLOB NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL);
INSERT INTO completed VALUES(1,'xHmRMJO4ZZpv4IfsDLgsZAuNEkjEynUh.vHJs7RvIzq9ChJX6PEpG1Nc3X_wcF85z8kcUboQNitYe0EsFRUzoRzXLcvZz0Mml0bayH_06Rd4jkwu20lkyFUauB1nOZV3',1,X'6a6f696e6564',-10,'null',0,4,'1819d1a8700e59901a48215b8577ac07-1',1795236595576105201,'1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6','STANDARD','CRC64NVME','FULL_OBJECT','v+lYbwd1k6E=',X'',X'',X'050004',X'01042066346339333835663139303266373333346230306239623465636431363464651368696464656e3a762b6c59627764316b36453d948ae3f9c0c5fdf418');
CREATE INDEX versions_by_id ON versions(bucket, key, version_id);
COMMIT;
PRAGMA user_version=1;
)sql";

class Version1Test : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE((*Connection::Open(directory_.path() + "/penstock.db"))->Execute(kDump).ok());
    std::filesystem::create_directories(directory_.path() + "/blobs/02");
    std::ofstream(directory_.path() + "/blobs/02/0000000000000002") << std::string(40'000, 'f');
  }
  const TemporaryDirectory directory_;
  const BucketName plain_{"plain"};
  const BucketName versioned_{"versioned"};
};

TEST_F(Version1Test, AllDataIsFound) {
  const auto store = OpenStore({.directory = directory_.path()});
  ASSERT_EQ(store->ListBuckets()->size(), 2u);
  EXPECT_EQ(Get(*store, "small", plain_), "hello");
  EXPECT_EQ(Get(*store, "file", plain_), std::string(40'000, 'f'));
  EXPECT_EQ(Get(*store, "copy", plain_), std::string(40'000, 'f'));
  EXPECT_EQ(Get(*store, "joined", plain_), "part");
  const auto small = store->FindObject(plain_, ObjectKey("small"));
  EXPECT_EQ((*small)->attributes, (Attributes{{"x-amz-meta-color", "blue"}}));
  EXPECT_EQ((*small)->tags, (Attributes{{"a", "1"}}));
  EXPECT_EQ((*small)->etag.value, "5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(Get(*store, "key", versioned_), "second");
  EXPECT_EQ(Get(*store, "key", versioned_, VersionId("GAAAAAAAAAA7WulQIrM6mhKKpObrO8YA")), "first");
  EXPECT_EQ(Get(*store, "hidden", versioned_), "[marker]");
  EXPECT_EQ(store->List(ListObjects{.bucket = plain_})->entries.size(), 4u);
  EXPECT_EQ(store->List(ListVersions{.bucket = versioned_})->entries.size(), 3u);
}

TEST_F(Version1Test, OpenUploadsCanBeCompleted) {
  const auto store = OpenStore({.directory = directory_.path()});
  const auto page = store->List(ListUploads{.bucket = plain_});
  ASSERT_EQ(page->entries.size(), 1u);
  const UploadRecord& upload = *page->entries[0].upload;
  CompleteUpload complete;
  complete.bucket = plain_;
  complete.key = upload.key;
  complete.upload_id = upload.id;
  complete.parts = {{3, ETag("dd5c8bf51558ffcbe5007071908e9524")}};
  ASSERT_TRUE(store->Complete(complete).ok());
  EXPECT_EQ(Get(*store, "unfinished", plain_), "third");
  EXPECT_TRUE(store->FindCompleted(plain_, upload.key, upload.id).ok());
  const UploadId before(
      "xHmRMJO4ZZpv4IfsDLgsZAuNEkjEynUh.vHJs7RvIzq9ChJX6PEpG1Nc3X_"
      "wcF85z8kcUboQNitYe0EsFRUzoRzXLcvZz0Mml0bayH_"
      "06Rd4jkwu20lkyFUauB1nOZV3");
  const auto completed = store->FindCompleted(plain_, ObjectKey("joined"), before);
  ASSERT_TRUE(completed.ok()) << completed.error().ToString();
  EXPECT_EQ((*completed)->etag.value, "1819d1a8700e59901a48215b8577ac07-1");
}

TEST_F(Version1Test, IsUpgradedToTheCurrentVersion) {
  EXPECT_FALSE(Fsck({directory_.path(), true}).ok()) << "an inspection must not change it";
  OpenStore({.directory = directory_.path()}).reset();
  EXPECT_EQ(*SchemaVersionOf(**Connection::Open(directory_.path() + "/penstock.db")),
            kSchemaVersion);
  const auto report = Fsck({directory_.path(), true});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_TRUE(report->findings.empty()) << report->findings.front().message;
  EXPECT_EQ(report->versions, 7u);
}

TEST_F(Version1Test, FieldsAreMovedOutOfTexts) {
  const auto store = OpenStore({.directory = directory_.path()});
  const auto joined = store->FindObject(plain_, ObjectKey("joined"));
  ASSERT_EQ((*joined)->parts.size(), 1u);
  EXPECT_TRUE((*joined)->parts[0].checksum_is_internal);
  EXPECT_EQ((*joined)->parts[0].checksum, "v+lYbwd1k6E=");
  const auto page = store->List(ListUploads{.bucket = plain_});
  const UploadRecord& upload = *page->entries[0].upload;
  EXPECT_TRUE(upload.attributes.empty());
  EXPECT_EQ(upload.current_at_create, "");
  const auto parts = store->ListParts(plain_, upload.key, upload.id, 0, 10);
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_TRUE((*parts)[0].part.checksum_is_internal);
  EXPECT_EQ((*parts)[0].part.checksum, "V+dwdaPdgTQ=");
}

TEST_F(Version1Test, PagesGetChecksumsAndFilesDoNot) {
  OpenStore({.directory = directory_.path()}).reset();
  const auto connection = Connection::Open(directory_.path() + "/penstock.db");
  EXPECT_TRUE((*connection)->HasPageChecksums());
  Query query(**connection, "SELECT count(*), count(checksums) FROM blobs");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), 6);
  EXPECT_EQ(query.Int(1), 0);
}

}  // namespace
}  // namespace penstock::emulator::store
