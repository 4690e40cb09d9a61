// Listing of directory buckets: pages of SqliteStore::List (Amazon S3 API Reference,
// "ListObjectsV2").
//
// Iterates backwards over objects and the keys of open uploads at once. After each folder both
// cursors seek to the keys before it, so the cost of a page depends on its entries. Only uploads
// directly in the listed folder are skipped one by one.
#include <algorithm>
#include <string>

#include "emulator/store/records/fold.h"
#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/object_rows.h"
#include "emulator/store/tables/upload_rows.h"

namespace penstock::emulator::store {
namespace {

constexpr char kAfterAllKeys[] = "\xff";  // keys are UTF-8, which never contains this byte

class DirectoryWalk {
 public:
  DirectoryWalk(Connection& connection, std::int64_t bucket, const ListDirectory& query)
      : fold_(query.prefix, query.fold ? "/" : ""),
        folds_(query.fold),
        objects_(connection, bucket, Walk::kBackwards),
        uploads_(connection, bucket) {}

  Result<void> SeekBefore(std::string key) {
    before_ = std::move(key);
    PENSTOCK_TRY(objects_.Seek(before_));
    if (!folds_) return Ok();
    PENSTOCK_TRY(uploads_.Seek(before_));
    return SkipUploadsInFolder();
  }

  bool AtEnd() const { return !OnObject() && !OnUpload(); }

  // The folder of the next entry; empty: the entry is an object.
  std::string_view Group() const {
    const bool object = OnObject() && (!OnUpload() || objects_.key() >= uploads_.key());
    return fold_.GroupOf(object ? objects_.key() : uploads_.key());
  }

  ListEntry Object(TextArena& text, const ListEntry& last) const {
    return objects_.Entry(text, last);
  }
  Result<void> NextObject() { return objects_.Next(); }

 private:
  bool OnObject() const { return !objects_.AtEnd() && fold_.Matches(objects_.key()); }
  bool OnUpload() const { return folds_ && !uploads_.AtEnd() && fold_.Matches(uploads_.key()); }

  Result<void> SkipUploadsInFolder() {
    while (OnUpload() && fold_.GroupOf(uploads_.key()).empty()) PENSTOCK_TRY(uploads_.Next());
    return Ok();
  }

  const KeyFold fold_;
  const bool folds_;
  std::string before_;  // bound to the cursors' queries
  CurrentCursor objects_;
  UploadKeyCursor uploads_;
};

Result<ListPage> ListBackwards(Connection& connection, std::int64_t bucket,
                               const ListDirectory& query) {
  ListPage page;
  if (query.max_keys <= 0) return page;
  std::string before = Successor(query.prefix).value_or(kAfterAllKeys);
  if (!query.before.empty()) before = std::min(before, query.before);
  DirectoryWalk walk(connection, bucket, query);
  PENSTOCK_TRY(walk.SeekBefore(std::move(before)));
  const ListEntry none;
  while (!walk.AtEnd()) {
    if (page.entries.size() == static_cast<std::size_t>(query.max_keys)) {
      page.truncated = true;
      page.next = page.entries.back().key;
      break;
    }
    const std::string group(walk.Group());
    if (group.empty()) {
      page.entries.push_back(
          walk.Object(page.text, page.entries.empty() ? none : page.entries.back()));
      PENSTOCK_TRY(walk.NextObject());
      continue;
    }
    ListEntry folder;
    folder.key = page.text.Copy(group);
    folder.is_common_prefix = true;
    page.entries.push_back(folder);
    PENSTOCK_TRY(walk.SeekBefore(group));
  }
  return page;
}

}  // namespace

Result<ListPage> SqliteStore::List(const ListDirectory& query) {
  return Read<ListPage>([&](Connection& connection) -> Result<ListPage> {
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(query.bucket));
    return ListBackwards(connection, bucket.id, query);
  });
}

}  // namespace penstock::emulator::store
