// Uploads and their parts as rows of `uploads` and `parts` (schema.cc).
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"
#include "emulator/store/tables/bucket_table.h"

namespace penstock::emulator::store {

struct UploadRow {
  UploadRecord record;
  std::int64_t sequence = 0;  // names the upload in `parts`; later uploads have greater ones
};

struct PartRow {
  PartRecord record;
  std::string slices;  // codec.h
};

Result<void> InsertUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload);
// Removes the upload and the rows of its parts. Their references are the caller's to release or
// hand on.
Result<void> DeleteUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload);
Result<std::optional<UploadRow>> FindUploadById(Connection& connection, const Bucket& bucket,
                                                const UploadId& id);
Result<std::optional<UploadRow>> FindFirstUpload(Connection& connection, const Bucket& bucket);
// One page: by key, then by initiation. kInvalidArgument (code InvalidArgument) when the upload id
// marker names no upload of the key marker's key.
Result<UploadPage> ListUploadRows(Connection& connection, const Bucket& bucket,
                                  const ListUploads& query);

// Walks the keys of a bucket's open uploads backwards; a key comes once for each of its uploads.
class UploadKeyCursor {
 public:
  UploadKeyCursor(Connection& connection, std::int64_t bucket);
  // To the last key < `key`, which must live until the next Seek.
  Result<void> Seek(std::string_view key);
  Result<void> Next();
  bool AtEnd() const { return at_end_; }
  std::string_view key() const { return query_.Bytes(0); }

 private:
  Query query_;
  const std::int64_t bucket_;
  bool at_end_ = true;
};

// Parts with number > marker, ascending, at most `limit`.
Result<std::vector<PartRow>> FindParts(Connection& connection, std::int64_t upload, int marker,
                                       int limit);
// Inserts or replaces.
Result<void> WritePart(Connection& connection, std::int64_t upload, const PartRow& part);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_
