// Listings of objects and versions: pages of SqliteStore::List (Amazon S3 API Reference,
// "ListObjectsV2" and "ListObjectVersions").
//
// The cost of a page depends on its entries, not on the size of the bucket. Cursors seek to the
// start of the page and, after each common prefix, to the first key that does not begin with it.
#include <cstdint>
#include <limits>
#include <utility>

#include "emulator/store/records/fold.h"
#include "emulator/store/records/ids.h"
#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/object_rows.h"

namespace penstock::emulator::store {
namespace {

constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::min();

// Builds a page entry by entry.
template <class Page>
class PageBuilder {
 public:
  PageBuilder(Page& page, int limit) : page_(page), limit_(static_cast<std::size_t>(limit)) {}
  bool full() const { return page_.entries.size() == limit_; }
  // The previous entry, whose texts the next one may share.
  const ListEntry& last() const { return page_.entries.empty() ? none_ : page_.entries.back(); }
  TextArena& text() { return page_.text; }
  void Add(const ListEntry& entry) { page_.entries.push_back(entry); }
  // Adds a common prefix. Returns a view of it that is valid as long as the page.
  std::string_view AddPrefix(std::string_view prefix) {
    ListEntry entry;
    entry.key = page_.text.Copy(prefix);
    entry.is_common_prefix = true;
    page_.entries.push_back(entry);
    return entry.key;
  }

 private:
  Page& page_;
  const std::size_t limit_;
  const ListEntry none_{};
};

// Iterates over `current` and `versions` as one sequence: keys ascending, newest version first. A
// key's current row is its newest version.
class VersionWalk {
 public:
  VersionWalk(Connection& connection, std::int64_t bucket)
      : connection_(connection),
        bucket_(bucket),
        current_(connection, bucket),
        archived_(connection, bucket) {}

  // Moves to the newest version of the first key >= `key`.
  Result<void> Seek(std::string key) {
    from_ = std::move(key);
    PENSTOCK_TRY(current_.Seek(from_));
    return archived_.Seek(from_, kNewest);
  }

  // Moves to the first version of `key` that is older than `newest_first`, or to the first version
  // of the next key.
  Result<void> SeekAfter(const std::string& key, std::int64_t newest_first) {
    from_ = key;
    PENSTOCK_TRY(current_.Seek(from_));
    // The current version can be older than the marker if it was promoted after a deletion.
    if (!current_.AtEnd() && current_.key() == key && current_.newest_first() <= newest_first) {
      PENSTOCK_TRY(current_.Next());
    }
    return archived_.Seek(from_, newest_first);
  }

  bool AtEnd() const { return current_.AtEnd() && archived_.AtEnd(); }
  std::string_view key() const { return OnCurrent() ? current_.key() : archived_.key(); }
  Result<void> Next() { return OnCurrent() ? current_.Next() : archived_.Next(); }

  Result<ListEntry> Entry(TextArena& text, const ListEntry& last) {
    ListEntry entry = OnCurrent() ? current_.Entry(text, last) : archived_.Entry(text, last);
    if (OnCurrent()) {
      latest_key_ = entry.key;
      return entry;
    }
    entry.is_latest = false;
    if (!latest_key_.has_value() || *latest_key_ != entry.key) {
      // The first archived row of a key in this iteration is the latest version if no newer one
      // exists, not even before the page.
      PENSTOCK_ASSIGN(entry.is_latest, IsNewest(entry.key, archived_.newest_first()));
      latest_key_ = entry.key;
    }
    return entry;
  }

 private:
  bool OnCurrent() const {
    return !current_.AtEnd() && (archived_.AtEnd() || current_.key() <= archived_.key());
  }

  Result<bool> IsNewest(std::string_view key, std::int64_t newest_first) {
    Query query(connection_,
                "SELECT EXISTS(SELECT 1 FROM current WHERE bucket=?1 AND key=?2) OR"
                " EXISTS(SELECT 1 FROM versions WHERE bucket=?1 AND key=?2 AND newest_first<?3)");
    query.Bind(bucket_).BindBytes(key).Bind(newest_first);
    PENSTOCK_ASSIGN(const bool found, query.Step());
    return found && query.Int(0) == 0;
  }

  Connection& connection_;
  const std::int64_t bucket_;
  std::string from_;  // bound to the cursors' queries
  CurrentCursor current_;
  ArchivedCursor archived_;
  // The last key whose latest version was determined; points into the page's text.
  std::optional<std::string_view> latest_key_;
};

Result<ListPage> ListCurrent(Connection& connection, std::int64_t bucket,
                             const ListObjects& query) {
  ListPage page;
  const KeyFold fold(query.prefix, query.delimiter);
  std::optional<std::string> from = fold.LowerBound(query.start_after);
  if (query.max_keys <= 0 || !from.has_value()) return page;
  PageBuilder builder(page, query.max_keys);
  CurrentCursor cursor(connection, bucket);
  PENSTOCK_TRY(cursor.Seek(*from));
  while (!cursor.AtEnd() && fold.Matches(cursor.key())) {
    if (builder.full()) {
      page.truncated = true;
      page.next = builder.last().key;
      break;
    }
    const std::string_view group = fold.GroupOf(cursor.key());
    if (group.empty()) {
      builder.Add(cursor.Entry(builder.text(), builder.last()));
      PENSTOCK_TRY(cursor.Next());
      continue;
    }
    from = Successor(builder.AddPrefix(group));
    if (!from.has_value()) break;
    PENSTOCK_TRY(cursor.Seek(*from));
  }
  return page;
}

// Moves to the start of the page that follows the markers. False: nothing can follow.
Result<bool> SeekToPage(Connection& connection, const Bucket& bucket, const ListVersions& query,
                        const KeyFold& fold, VersionWalk& walk) {
  const std::string& key = query.key_marker;
  const bool inside_key = query.version_id_marker.has_value() && key.size() > 0 &&
                          fold.Matches(key) && fold.GroupOf(key).empty();
  if (!inside_key) {
    std::optional<std::string> from = fold.LowerBound(key);
    if (!from.has_value()) return false;
    PENSTOCK_TRY(walk.Seek(std::move(*from)));
    return true;
  }
  auto row = FindVersion(connection, bucket, ObjectKey(key), *query.version_id_marker);
  if (row.ok()) {
    PENSTOCK_TRY(walk.SeekAfter(key, row->newest_first));
  } else if (row.error().kind != ErrorKind::kNotFound) {
    return std::move(row).error();
  } else if (const auto sequence = SequenceOf(*query.version_id_marker); sequence.has_value()) {
    // The version was deleted after the last page; its position is in its id.
    PENSTOCK_TRY(walk.SeekAfter(key, -*sequence));
  } else {
    // A deleted null version has no position. Repeating versions is better than skipping them.
    PENSTOCK_TRY(walk.Seek(key));
  }
  return true;
}

Result<VersionPage> ListAll(Connection& connection, const Bucket& bucket,
                            const ListVersions& query) {
  VersionPage page;
  const KeyFold fold(query.prefix, query.delimiter);
  if (query.max_keys <= 0) return page;
  PageBuilder builder(page, query.max_keys);
  VersionWalk walk(connection, bucket.id);
  PENSTOCK_ASSIGN(const bool anything, SeekToPage(connection, bucket, query, fold, walk));
  while (anything && !walk.AtEnd() && fold.Matches(walk.key())) {
    if (builder.full()) {
      page.truncated = true;
      page.next_key_marker = builder.last().key;
      if (!builder.last().is_common_prefix)
        page.next_version_id_marker.emplace(std::string(builder.last().version_id));
      break;
    }
    const std::string_view group = fold.GroupOf(walk.key());
    if (group.empty()) {
      PENSTOCK_ASSIGN(const ListEntry entry, walk.Entry(builder.text(), builder.last()));
      builder.Add(entry);
      PENSTOCK_TRY(walk.Next());
      continue;
    }
    std::optional<std::string> from = Successor(builder.AddPrefix(group));
    if (!from.has_value()) break;
    PENSTOCK_TRY(walk.Seek(std::move(*from)));
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
