// Listings of objects and versions: pages of SqliteStore::List (spec/protocol.md §2.4).
//
// A page costs what it shows, not what the bucket holds: cursors seek to the page's start and, behind each common
// prefix, to the first key that does not begin with it.
#include <cstdint>
#include <limits>
#include <utility>

#include "emulator/store/fold.h"
#include "emulator/store/ids.h"
#include "emulator/store/object_rows.h"
#include "emulator/store/sqlite_store.h"

namespace penstock::emulator::store {
namespace {

constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::min();

ListEntry ObjectEntry(ObjectRecord record) { return {std::make_shared<const ObjectRecord>(std::move(record)), {}}; }

// `current` and `versions` as one sequence: key ascending, newest first. A key's current row is its newest version.
class VersionWalk {
 public:
  VersionWalk(Connection& connection, std::int64_t bucket)
      : connection_(connection), bucket_(bucket), current_(connection, bucket), archived_(connection, bucket) {}

  // To the newest version of the first key >= `key`.
  Result<void> Seek(std::string key) {
    from_ = std::move(key);
    PENSTOCK_TRY(current_.Seek(from_));
    return archived_.Seek(from_, kNewest);
  }

  // To the first version of `key` that is older than `newest_first`, or the first of the next key.
  Result<void> SeekBehind(const std::string& key, std::int64_t newest_first) {
    from_ = key;
    PENSTOCK_TRY(current_.Seek(from_));
    // The current version may be older than the marker: it took the place of one deleted since.
    if (!current_.AtEnd() && current_.key() == key && current_.Summary().newest_first <= newest_first) {
      PENSTOCK_TRY(current_.Next());
    }
    return archived_.Seek(from_, newest_first);
  }

  bool AtEnd() const { return current_.AtEnd() && archived_.AtEnd(); }
  std::string_view key() const { return OnCurrent() ? current_.key() : archived_.key(); }
  Result<void> Next() { return OnCurrent() ? current_.Next() : archived_.Next(); }

  Result<ObjectRecord> Record() {
    if (OnCurrent()) {
      ObjectRow row = current_.Summary();
      latest_key_ = row.record.key.value;
      row.record.is_latest = true;
      return std::move(row.record);
    }
    ObjectRow row = archived_.Summary();
    row.record.is_latest = false;
    if (!latest_key_.has_value() || *latest_key_ != row.record.key.value) {
      // First archived row of a key on this walk: the latest if nothing newer exists (not even before the page).
      PENSTOCK_ASSIGN(row.record.is_latest, IsNewest(row));
      latest_key_ = row.record.key.value;
    }
    return std::move(row.record);
  }

 private:
  bool OnCurrent() const {
    return !current_.AtEnd() && (archived_.AtEnd() || current_.key() <= archived_.key());
  }

  Result<bool> IsNewest(const ObjectRow& row) {
    Query query(connection_,
                "SELECT EXISTS(SELECT 1 FROM current WHERE bucket=?1 AND key=?2) OR"
                " EXISTS(SELECT 1 FROM versions WHERE bucket=?1 AND key=?2 AND newest_first<?3)");
    query.Bind(bucket_).BindBytes(row.record.key.value).Bind(row.newest_first);
    PENSTOCK_ASSIGN(const bool found, query.Step());
    return found && query.Int(0) == 0;
  }

  Connection& connection_;
  const std::int64_t bucket_;
  std::string from_;  // bound by the cursors
  CurrentCursor current_;
  ArchivedCursor archived_;
  std::optional<std::string> latest_key_;  // whose latest version was decided
};

Result<ListPage> ListCurrent(Connection& connection, std::int64_t bucket, const ListObjects& query) {
  ListPage page;
  const KeyFold fold(query.prefix, query.delimiter);
  std::optional<std::string> from = fold.LowerBound(query.start_after);
  if (query.max_keys <= 0 || !from.has_value()) return page;
  CurrentCursor cursor(connection, bucket);
  PENSTOCK_TRY(cursor.Seek(*from));
  while (!cursor.AtEnd() && fold.Matches(cursor.key())) {
    if (page.entries.size() == static_cast<std::size_t>(query.max_keys)) {
      page.truncated = true;
      break;
    }
    const std::string group(fold.GroupOf(cursor.key()));
    if (group.empty()) {
      ObjectRow row = cursor.Summary();
      page.next = row.record.key.value;
      page.entries.push_back(ObjectEntry(std::move(row.record)));
      PENSTOCK_TRY(cursor.Next());
      continue;
    }
    page.next = group;
    page.entries.push_back({nullptr, group});
    from = Successor(group);
    if (!from.has_value()) break;
    PENSTOCK_TRY(cursor.Seek(*from));
  }
  if (!page.truncated) page.next.clear();
  return page;
}

// To where a page that follows the markers begins; false when nothing can follow.
Result<bool> SeekToPage(Connection& connection, const Bucket& bucket, const ListVersions& query, const KeyFold& fold,
                        VersionWalk& walk) {
  const std::string& key = query.key_marker;
  const bool inside_key = query.version_id_marker.has_value() && key.size() > 0 && fold.Matches(key) &&
                          fold.GroupOf(key).empty();
  if (!inside_key) {
    std::optional<std::string> from = fold.LowerBound(key);
    if (!from.has_value()) return false;
    PENSTOCK_TRY(walk.Seek(std::move(*from)));
    return true;
  }
  auto row = FindVersion(connection, bucket, ObjectKey(key), *query.version_id_marker);
  if (row.ok()) {
    PENSTOCK_TRY(walk.SeekBehind(key, row->newest_first));
  } else if (row.error().kind != ErrorKind::kNotFound) {
    return std::move(row).error();
  } else if (const auto sequence = SequenceOf(*query.version_id_marker); sequence.has_value()) {
    PENSTOCK_TRY(walk.SeekBehind(key, -*sequence));  // deleted since the last page: its place is in its id
  } else {
    PENSTOCK_TRY(walk.Seek(key));  // a null version has no place of its own: rather twice than not at all
  }
  return true;
}

Result<VersionPage> ListAll(Connection& connection, const Bucket& bucket, const ListVersions& query) {
  VersionPage page;
  const KeyFold fold(query.prefix, query.delimiter);
  if (query.max_keys <= 0) return page;
  VersionWalk walk(connection, bucket.id);
  PENSTOCK_ASSIGN(const bool anything, SeekToPage(connection, bucket, query, fold, walk));
  while (anything && !walk.AtEnd() && fold.Matches(walk.key())) {
    if (page.entries.size() == static_cast<std::size_t>(query.max_keys)) {
      page.truncated = true;
      break;
    }
    const std::string group(fold.GroupOf(walk.key()));
    if (group.empty()) {
      PENSTOCK_ASSIGN(ObjectRecord record, walk.Record());
      page.next_key_marker = record.key.value;
      page.next_version_id_marker = record.version_id;
      page.entries.push_back(ObjectEntry(std::move(record)));
      PENSTOCK_TRY(walk.Next());
      continue;
    }
    page.next_key_marker = group;
    page.next_version_id_marker.reset();
    page.entries.push_back({nullptr, group});
    std::optional<std::string> from = Successor(group);
    if (!from.has_value()) break;
    PENSTOCK_TRY(walk.Seek(std::move(*from)));
  }
  if (!page.truncated) {
    page.next_key_marker.clear();
    page.next_version_id_marker.reset();
  }
  return page;
}

}  // namespace

Result<ListPage> SqliteStore::List(const ListObjects& query) {
  return Read<ListPage>([&](Connection& connection) -> Result<ListPage> {
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(query.bucket));
    return ListCurrent(connection, bucket.id, query);
  });
}

Result<VersionPage> SqliteStore::List(const ListVersions& query) {
  return Read<VersionPage>([&](Connection& connection) -> Result<VersionPage> {
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(query.bucket));
    return ListAll(connection, bucket, query);
  });
}

}  // namespace penstock::emulator::store
