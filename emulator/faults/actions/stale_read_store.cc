#include "emulator/faults/actions/stale_read_store.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace penstock::emulator::faults {
namespace {

Error NoSuchKey(const BucketName& bucket, const ObjectKey& key) {
  Error error = Error::Make(ErrorKind::kNotFound, "The specified key does not exist.");
  error.code = "NoSuchKey";
  return std::move(error).At("", bucket.value, key.value);
}

// The name of the key in the listing: the key, or its common prefix.
std::string_view EntryName(const store::ListObjects& query, std::string_view key) {
  if (query.delimiter.empty()) return key;
  const std::size_t at = key.find(query.delimiter, query.prefix.size());
  return at == std::string_view::npos ? key : key.substr(0, at + query.delimiter.size());
}

store::ListEntry EntryOf(const store::ObjectRecord& object, store::TextArena& text) {
  return {.key = text.Copy(object.key.value),
          .size = object.size,
          .last_modified = object.last_modified,
          .version_id = text.Copy(object.version_id.value),
          .etag = text.Copy(object.etag.value),
          .owner_id = text.Copy(object.owner_id),
          .storage_class = text.Copy(object.storage_class),
          .checksum_algorithm = text.Copy(object.checksum_algorithm),
          .checksum_type = text.Copy(object.checksum_type)};
}

}  // namespace

// Changes a page of a listing into what reads see.
class StaleReadStore::PageEditor {
 public:
  PageEditor(store::ListPage& page, const store::ListObjects& query)
      : page_(page), query_(query), ended_by_(page.next), truncated_(page.truncated) {}

  void Remove(std::string_view name) {
    const auto at = Find(name);
    if (at != page_.entries.end() && at->key == name) page_.entries.erase(at);
  }
  // Adds or replaces the entry if its name belongs to this page.
  void Put(std::string_view name, const store::ObjectRecord& object) {
    const auto at = Find(name);
    const bool there = at != page_.entries.end() && at->key == name;
    const bool folded = name.size() < object.key.value.size();
    if (there && folded) return;
    if (!there && (name <= query_.start_after || (truncated_ && name > ended_by_))) return;
    const store::ListEntry entry =
        folded ? store::ListEntry{.key = page_.text.Copy(name), .is_common_prefix = true}
               : EntryOf(object, page_.text);
    if (there) {
      *at = entry;
    } else {
      page_.entries.insert(at, entry);
    }
  }
  void KeepWithin(std::size_t most) {
    if (page_.entries.size() <= most) return;
    page_.entries.resize(most);
    page_.truncated = true;
    page_.next = most > 0 ? std::string(page_.entries.back().key) : query_.start_after;
  }

 private:
  std::vector<store::ListEntry>::iterator Find(std::string_view name) {
    return std::lower_bound(
        page_.entries.begin(), page_.entries.end(), name,
        [](const store::ListEntry& entry, std::string_view wanted) { return entry.key < wanted; });
  }

  store::ListPage& page_;
  const store::ListObjects& query_;
  const std::string ended_by_;
  const bool truncated_;
};

Result<store::ObjectPtr> StaleReadStore::FindObject(const BucketName& bucket, const ObjectKey& key,
                                                    const std::optional<VersionId>& version) {
  const auto visible = version ? std::nullopt : hidden_.Find(bucket.value, key.value, now_);
  if (!visible) return inner().FindObject(bucket, key, version);
  if (*visible == nullptr) return NoSuchKey(bucket, key);
  return *visible;
}

Result<bool> StaleReadStore::HasVisibleKeys(const store::ListObjects& query,
                                            const std::string& common_prefix) {
  constexpr std::size_t kMaxKeys = 1'000;
  const std::vector<HiddenWrites::VisibleObject> hidden =
      hidden_.Under(query.bucket.value, common_prefix, now_);
  if (std::any_of(hidden.begin(), hidden.end(),
                  [](const auto& visible) { return visible.object != nullptr; }))
    return true;
  if (hidden.size() >= kMaxKeys) return true;
  PENSTOCK_ASSIGN(
      const store::ListPage below,
      inner().List(store::ListObjects{.bucket = query.bucket,
                                      .prefix = common_prefix,
                                      .max_keys = static_cast<int>(hidden.size() + 1)}));
  return std::any_of(
      below.entries.begin(), below.entries.end(), [&](const store::ListEntry& entry) {
        return std::none_of(hidden.begin(), hidden.end(),
                            [&](const auto& visible) { return visible.key == entry.key; });
      });
}

Result<store::ListPage> StaleReadStore::List(const store::ListObjects& query) {
  PENSTOCK_ASSIGN(store::ListPage page, inner().List(query));
  PageEditor editor(page, query);
  std::string checked_prefix;  // The common prefix that was checked last.
  for (const HiddenWrites::VisibleObject& visible :
       hidden_.Under(query.bucket.value, query.prefix, now_)) {
    const std::string_view name = EntryName(query, visible.key);
    if (visible.object != nullptr) {
      editor.Put(name, *visible.object);
    } else if (name.size() == visible.key.size()) {
      editor.Remove(name);
    } else if (name != checked_prefix) {
      checked_prefix = name;
      PENSTOCK_ASSIGN(const bool stays, HasVisibleKeys(query, checked_prefix));
      if (!stays) editor.Remove(name);
    }
  }
  editor.KeepWithin(static_cast<std::size_t>(std::max(query.max_keys, 0)));
  return page;
}

}  // namespace penstock::emulator::faults
