// Uploads and their parts as rows of `uploads` and `parts` (schema.cc).
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/records/records.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/tables/bucket_table.h"

namespace penstock::emulator::store {

struct UploadRow {
  UploadRecord record;
  // Identifies the upload in `parts`; later uploads have greater numbers.
  std::int64_t sequence = 0;
};

struct PartRow {
  PartRecord record;
  std::string slices;  // codec.h
};

Result<void> InsertUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload);
// Deletes the upload and the rows of its parts. The caller releases the parts' references or passes
// them on.
Result<void> DeleteUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload);
Result<std::optional<UploadRow>> FindUploadById(Connection& connection, const Bucket& bucket,
                                                const UploadId& id);
Result<std::optional<UploadRow>> FindFirstUpload(Connection& connection, const Bucket& bucket);
// Returns one page, ordered by key, then by creation. kInvalidArgument (code InvalidArgument) if
// the upload id marker does not name an upload of the key marker's key.
Result<UploadPage> ListUploadRows(Connection& connection, const Bucket& bucket,
                                  const ListUploads& query);

// Iterates backwards over the keys of a bucket's open uploads. A key appears once per upload.
class UploadKeyCursor {
 public:
  UploadKeyCursor(Connection& connection, std::int64_t bucket);
  // Moves to the last key < `key`, which must stay valid until the next Seek.
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
// Inserts or replaces the part.
Result<void> WritePart(Connection& connection, std::int64_t upload, const PartRow& part);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_UPLOAD_ROWS_H_
