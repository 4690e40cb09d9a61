// Stores the references of records to blobs in the database, counts them, and loads the content of
// records.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_BLOB_REFERENCES_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_BLOB_REFERENCES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/commits/write_queue.h"

namespace penstock::emulator::store {

// Adds one reference per slice. Returns the packed slices for the record's column. kInvalidArgument
// if a blob belongs to another store.
Result<std::string> AddReferences(WriteTransaction& transaction,
                                  const std::shared_ptr<BlobRegistry>& registry,
                                  const Content& content);
// Removes one reference per slice. The rows of unreferenced blobs are deleted now, their bytes
// after the commit.
Result<void> ReleaseReferences(WriteTransaction& transaction,
                               const std::shared_ptr<BlobRegistry>& registry,
                               std::string_view packed_slices);

// Loads the content of a record just read on `connection`, whose snapshot must still be open.
// nullopt: the record was removed concurrently; read it again. kDataLoss: bytes are missing from
// the database.
Result<std::optional<Content>> LoadContent(Connection& connection,
                                           const std::shared_ptr<BlobRegistry>& registry,
                                           std::string_view packed_slices);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_BLOB_REFERENCES_H_
