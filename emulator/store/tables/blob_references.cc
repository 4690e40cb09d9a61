#include "emulator/store/tables/blob_references.h"

#include <utility>
#include <vector>

#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/records/codec.h"

namespace penstock::emulator::store {
namespace {

Result<void> AddReference(Connection& connection, const StoredBlob& blob, bool in_memory) {
  Query query(connection,
              "INSERT INTO blobs(id, refs, size, bytes, checksums) VALUES(?,1,?,?,?) ON "
              "CONFLICT(id) DO UPDATE SET refs = refs + 1");
  query.Bind(blob.id()).Bind(static_cast<std::int64_t>(blob.size()));
  if (blob.IsInline() && !in_memory) {
    query.BindBytes(AsText(*blob.Memory()));
  } else {
    query.BindNull();
  }
  if (blob.block_checksums().empty()) {
    query.BindNull();
  } else {
    query.BindBytes(blob.block_checksums());
  }
  return query.Run();
}

Result<std::vector<SliceReference>> Unpack(const Connection& connection, std::string_view packed) {
  auto slices = DecodeSlices(packed);
  if (slices.has_value()) return std::move(*slices);
  return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                               " contains a damaged object record");
}

// Deletes a blob that is stored in its row and has one reference. False: it is another kind of blob
// and nothing changed.
Result<bool> DeleteInlineBlob(Connection& connection, std::int64_t id) {
  const std::int64_t changes = connection.Changes();
  Query drop(connection, "DELETE FROM blobs WHERE id=? AND refs<=1 AND bytes IS NOT NULL");
  PENSTOCK_TRY(drop.Bind(id).Run());
  return connection.Changes() != changes;
}

Error DamagedBlobError(const Connection& connection, std::int64_t id) {
  return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                               " contains damaged data of blob " +
                                               std::to_string(id) + "; upload the object again");
}

// Null: the file was deleted after the row was read.
Result<StoredBlobPtr> LoadBlob(Connection& connection,
                               const std::shared_ptr<BlobRegistry>& registry, std::int64_t id) {
  if (StoredBlobPtr existing = registry->Find(id); existing != nullptr) return existing;
  Query query(connection, "SELECT size, bytes, checksums FROM blobs WHERE id=?");
  PENSTOCK_ASSIGN(const bool found, query.Bind(id).Step());
  if (!found || registry->in_memory()) {
    return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                                 " does not contain the data of blob " +
                                                 std::to_string(id));
  }
  StoredBlobPtr blob;
  const auto size = static_cast<std::uint64_t>(query.Int(0));
  std::string checksums = query.Text(2);
  if (!checksums.empty() && !FitsSize(checksums, size)) return DamagedBlobError(connection, id);
  if (query.IsNull(1)) {
    PENSTOCK_ASSIGN(blob, FileBlob::Open(registry, id, size, std::move(checksums)));
  } else {
    const std::string_view bytes = query.Bytes(1);
    if (bytes.size() != size || (!checksums.empty() && !Matches(checksums, AsBytes(bytes))))
      return DamagedBlobError(connection, id);
    HeapBuffer buffer(bytes.size());
    buffer.Fill(AsBytes(bytes));
    blob = std::make_shared<HeapBlob>(registry, id, std::move(buffer), std::move(checksums));
  }
  return blob == nullptr ? blob : registry->AddLoaded(blob);
}

}  // namespace

Result<std::string> AddReferences(WriteTransaction& transaction,
                                  const std::shared_ptr<BlobRegistry>& registry,
                                  const Content& content) {
  std::vector<SliceReference> references;
  references.reserve(content.slices.size());
  for (const ContentSlice& slice : content.slices) {
    StoredBlobPtr blob = std::dynamic_pointer_cast<const StoredBlob>(slice.blob);
    if (blob == nullptr || blob->registry() != registry.get()) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the content belongs to another store; copy it with NewBlob");
    }
    PENSTOCK_TRY(AddReference(transaction.connection(), *blob, registry->in_memory()));
    references.push_back({blob->id(), slice.range});
    transaction.AfterCommit([registry, blob = std::move(blob)] { registry->Referenced(blob); });
  }
  return EncodeSlices(references);
}

Result<void> ReleaseReferences(WriteTransaction& transaction,
                               const std::shared_ptr<BlobRegistry>& registry,
                               std::string_view packed_slices) {
  Connection& connection = transaction.connection();
  PENSTOCK_ASSIGN(const auto slices, Unpack(connection, packed_slices));
  for (const SliceReference& slice : slices) {
    if (!registry->in_memory()) {  // most blobs are inline and have one reference
      PENSTOCK_ASSIGN(const bool dropped, DeleteInlineBlob(connection, slice.blob_id));
      if (dropped) {
        transaction.AfterCommit([registry, id = slice.blob_id] { registry->Released(id, false); });
        continue;
      }
    }
    // RETURNING would create a temporary table for one row.
    Query find(connection, "SELECT refs, bytes IS NULL FROM blobs WHERE id=?");
    PENSTOCK_ASSIGN(const bool found, find.Bind(slice.blob_id).Step());
    if (!found) continue;
    const bool is_last = find.Int(0) <= 1;
    const bool has_file = find.Int(1) != 0 && !registry->in_memory();
    find.Reset();
    Query release(connection, is_last ? "DELETE FROM blobs WHERE id=?"
                                      : "UPDATE blobs SET refs = refs - 1 WHERE id=?");
    PENSTOCK_TRY(release.Bind(slice.blob_id).Run());
    if (!is_last) continue;
    transaction.AfterCommit(
        [registry, id = slice.blob_id, has_file] { registry->Released(id, has_file); });
  }
  return Ok();
}

Result<std::optional<Content>> LoadContent(Connection& connection,
                                           const std::shared_ptr<BlobRegistry>& registry,
                                           std::string_view packed_slices) {
  PENSTOCK_ASSIGN(const auto slices, Unpack(connection, packed_slices));
  Content content;
  content.slices.reserve(slices.size());
  for (const SliceReference& slice : slices) {
    PENSTOCK_ASSIGN(StoredBlobPtr blob, LoadBlob(connection, registry, slice.blob_id));
    if (blob == nullptr) return std::optional<Content>();
    if (slice.range.end > blob->size()) {
      return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                                   " refers to bytes beyond the end of blob " +
                                                   std::to_string(slice.blob_id));
    }
    content.slices.push_back({std::move(blob), slice.range});
  }
  return std::optional<Content>(std::move(content));
}

}  // namespace penstock::emulator::store
