// Preconditions of reads, writes and copy sources (RFC 9110, section 13; Amazon S3 User Guide,
// "Add preconditions to S3 operations with conditional requests").
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// RFC 9110, section 8.8.3.2. A weak ETag (W/"...") never equals another one in a strong comparison:
// If-Match of a write or a deletion. All other conditions compare weakly, since it is not known
// that S3 refuses weak ETags in reads.
enum class ETagComparison { kStrong, kWeak };
// True if `list` matches `etag`: "*", or comma-separated ETags with or without quotes.
bool ETagMatches(std::string_view list, std::string_view etag, ETagComparison comparison);

enum class ReadDecision { kSend, kNotModified };
// Evaluates the preconditions in the order of RFC 9110. Returns PreconditionFailed if If-Match or
// If-Unmodified-Since is false.
Result<ReadDecision> DecideRead(const Call& call, const store::ObjectRecord& object);

// False if an If-Range header names another ETag or date: the Range header is then ignored (RFC
// 9110, section 13.1.5). An ETag without quotes is accepted, as in If-Match.
bool RangeApplies(const Call& call, const store::ObjectRecord& object);

// Evaluates the x-amz-copy-source-if-* headers. Every failure is PreconditionFailed.
Result<void> CheckCopySource(const Call& call, const store::ObjectRecord& source);

// The conditions of a write on the current version.
struct WriteCondition {
  bool if_none_match = false;           // "*": the key must not exist.
  std::optional<std::string> if_match;  // The current version must have this ETag.
  // Only for deletes in directory buckets: the size and the modification time (in seconds) of the
  // object. `absent_holds`: the condition is met if the object does not exist.
  std::optional<std::uint64_t> size = std::nullopt;
  std::optional<WallTime> last_modified = std::nullopt;
  bool absent_holds = false;
  bool unconditional() const { return !if_none_match && !if_match && !size && !last_modified; }
};
// Reads the conditions. Returns NotImplemented for forms that S3 does not accept. `allow_any`:
// accept "If-Match: *" (DeleteObject).
struct WriteConditionOptions {
  bool allow_any = false;
};
Result<WriteCondition> ReadWriteCondition(const Call& call, WriteConditionOptions options = {});
// Reads the conditions of DeleteObject in a directory bucket.
Result<WriteCondition> ReadDirectoryDelete(const Call& call);
// Parses an HTTP date, as SDKs send it, or an ISO 8601 date.
std::optional<WallTime> ReadConditionDate(std::string_view text);
// Checks `condition` against the current version (null: none). Called inside the store's
// transaction.
Result<void> CheckWrite(const WriteCondition& condition, std::string_view key,
                        const store::ObjectRecord* current);
// Returns CheckWrite as a store callback; empty if there is nothing to check.
store::Precondition MakePrecondition(WriteCondition condition, const ObjectKey& key);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_CONDITIONS_H_
