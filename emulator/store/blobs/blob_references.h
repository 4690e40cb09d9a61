// Contents in the database: which blobs a record refers to, how many records refer to a blob, and
// back to bytes.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REFERENCES_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REFERENCES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/write_queue.h"

namespace penstock::emulator::store {

// Counts one more reference per slice; the packed slices for the record's column. kInvalidArgument
// when a blob was not made by this store.
Result<std::string> AddReferences(WriteTransaction& transaction,
                                  const std::shared_ptr<BlobRegistry>& registry,
                                  const Content& content);
// Counts one less per slice; blobs without references lose their row now and their bytes after the
// commit.
Result<void> ReleaseReferences(WriteTransaction& transaction,
                               const std::shared_ptr<BlobRegistry>& registry,
                               std::string_view packed_slices);

// The content of a record just read on `connection`, whose snapshot must still be held. nullopt:
// the record was removed meanwhile; read again. kDataLoss: bytes are missing from the database.
Result<std::optional<Content>> LoadContent(Connection& connection,
                                           const std::shared_ptr<BlobRegistry>& registry,
                                           std::string_view packed_slices);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REFERENCES_H_
