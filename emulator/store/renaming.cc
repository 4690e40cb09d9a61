// SqliteStore::Rename changes the key of a row (Amazon S3 API Reference, "RenameObject"). The cost
// does not depend on the object's size.
#include <string>
#include <utility>

#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/blob_references.h"
#include "emulator/store/tables/object_rows.h"

namespace penstock::emulator::store {
namespace {

constexpr std::int64_t kMaxRecordedRenames = 10'000;

Error RenameError(ErrorKind kind, std::string code, std::string message,
                  const RenameObject& request) {
  Error error = Error::Make(kind, std::move(message));
  error.code = std::move(code);
  return std::move(error).At("", request.bucket.value, request.source.value);
}

// True: the same request was completed before.
Result<bool> IsRepeated(Connection& connection, std::int64_t bucket, const RenameObject& request) {
  if (request.token.empty()) return false;
  Query query(connection, "SELECT request FROM renamed WHERE bucket=? AND token=?");
  PENSTOCK_ASSIGN(const bool found, query.Bind(bucket).BindText(request.token).Step());
  if (!found || query.Bytes(0) == request.request) return found;
  return RenameError(
      ErrorKind::kInvalidArgument, "IdempotencyParameterMismatch",
      "Request parameters do not match those of the first request with this client token", request);
}

Result<void> RecordRename(Connection& connection, std::int64_t bucket,
                          const RenameObject& request) {
  if (request.token.empty()) return Ok();
  Query insert(connection,
               "INSERT INTO renamed(ordinal, bucket, token, request) "
               "VALUES((SELECT coalesce(max(ordinal), 0) + 1 FROM renamed),?,?,?)");
  PENSTOCK_TRY(insert.Bind(bucket).BindText(request.token).BindBytes(request.request).Run());
  Query prune(connection,
              "DELETE FROM renamed WHERE ordinal <= (SELECT max(ordinal) FROM renamed) - ?");
  return prune.Bind(kMaxRecordedRenames).Run();
}

Result<void> Check(const Precondition& precondition, const std::optional<ObjectRow>& row) {
  if (!precondition) return Ok();
  return precondition(row.has_value() ? &row->record : nullptr);
}

}  // namespace

Result<void> SqliteStore::Rename(RenameObject request) {
  return queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    Connection& connection = transaction.connection();
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(request.bucket));
    PENSTOCK_ASSIGN(const bool done, IsRepeated(connection, bucket.id, request));
    if (done) return Ok();
    PENSTOCK_ASSIGN(const auto source, FindCurrent(connection, bucket.id, request.source.value));
    if (!source.has_value()) {
      return RenameError(ErrorKind::kNotFound, "NoSuchKey", "The specified key does not exist.",
                         request);
    }
    PENSTOCK_TRY(Check(request.source_precondition, source));
    const bool same_key = request.source == request.target;
    PENSTOCK_ASSIGN(const auto target, FindCurrent(connection, bucket.id, request.target.value));
    PENSTOCK_TRY(Check(request.target_precondition, target));
    if (!same_key) {
      if (target.has_value()) {
        PENSTOCK_TRY(ReleaseReferences(transaction, registry_, target->slices));
        PENSTOCK_TRY(RemoveCurrent(connection, bucket.id, request.target.value));
      }
      PENSTOCK_TRY(MoveCurrent(connection, bucket.id, request.source.value, request.target.value));
    }
    PENSTOCK_TRY(RecordRename(connection, bucket.id, request));
    Publish(transaction, request.bucket, request.source, nullptr);
    Publish(transaction, request.bucket, request.target, nullptr);
    return Ok();
  });
}

}  // namespace penstock::emulator::store
