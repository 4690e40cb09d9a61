// Preconditions of reads, writes and copy sources (spec/protocol.md §2.6 "Conditionals", §2.9,
// §2.10).
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// True when `list` ("*", "etag", bare or quoted, comma-separated) names `etag`.
bool ETagMatches(std::string_view list, std::string_view etag);

enum class ReadDecision { kSend, kNotModified };
// PreconditionFailed for a false If-Match or If-Unmodified-Since; RFC 9110's order.
Result<ReadDecision> DecideRead(const Call& call, const store::ObjectRecord& object);

// Whether the Range header of a read applies: not if there is an If-Range header that names another
// ETag or date (RFC 9110, 13.1.5). A bare ETag is accepted, as in If-Match.
bool RangeApplies(const Call& call, const store::ObjectRecord& object);

// The x-amz-copy-source-if-* headers: every failure is PreconditionFailed.
Result<void> CheckCopySource(const Call& call, const store::ObjectRecord& source);

// What a write demands of the version it would replace.
struct WriteCondition {
  bool if_none_match = false;           // "*": the key must not exist
  std::optional<std::string> if_match;  // this ETag must be current
  // Of directory buckets' deletes alone (spec §1.5 "Delete"): size and date, to the second, of what
  // is to go; and what is not there is gone.
  std::optional<std::uint64_t> size = std::nullopt;
  std::optional<WallTime> last_modified = std::nullopt;
  bool absent_holds = false;
  bool unconditional() const { return !if_none_match && !if_match && !size && !last_modified; }
};
// NotImplemented for the forms S3 does not accept. `allow_any`: DeleteObject takes "If-Match: *".
struct WriteConditionOptions {
  bool allow_any = false;
};
Result<WriteCondition> ReadWriteCondition(const Call& call, WriteConditionOptions options = {});
// DeleteObject's of a directory bucket.
Result<WriteCondition> ReadDirectoryDelete(const Call& call);
// An HTTP date, as SDKs send it, or ISO 8601.
std::optional<WallTime> ReadConditionDate(std::string_view text);
// Holds `condition` against the current version (null: none). Used inside the store's transaction.
Result<void> CheckWrite(const WriteCondition& condition, std::string_view key,
                        const store::ObjectRecord* current);
// The same as a store callback; empty when there is nothing to check.
store::Precondition MakePrecondition(WriteCondition condition, const ObjectKey& key);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_
