// Object Lock (spec/protocol.md §2.17): how long a version must stay, what a request may change
// about that, and how both are kept: as attributes of the version, so that the store decides a
// removal where it is written.
//
// The bucket's own configuration is a row of sub_resources.cc; the four operations on objects are
// object_lock_operations.cc's. Time is the namespace's.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::string_view kObjectLockKey = "object-lock";  // in a bucket's configuration
inline constexpr std::string_view kBypassHeader = "x-amz-bypass-governance-retention";

enum class RetentionMode : std::uint8_t { kGovernance, kCompliance };
std::string_view NameOf(RetentionMode mode);

struct Retention {
  RetentionMode mode = RetentionMode::kGovernance;
  WallTime until{};
};

struct ObjectLock {
  std::optional<Retention> retention;  // stays after it ended, as S3 shows it
  std::optional<bool> legal_hold;      // unset: nobody ever said
  bool any() const { return retention || legal_hold; }
};

bool HasObjectLock(const store::BucketRecord& bucket);
// InvalidRequest unless the bucket has Object Lock.
Result<void> RequireObjectLock(const store::BucketRecord& bucket);

// What a new version gets: the request's x-amz-object-lock-* headers, else the bucket's default
// retention from now on.
Result<ObjectLock> ReadObjectLock(const Call& call, const store::BucketRecord& bucket);
// The header's or the document's form of a retention; InvalidArgument for an unknown mode, no date,
// or one that is past.
Result<Retention> ParseRetention(const Call& call, std::string_view mode, std::string_view until);

// InvalidRequest when a body that a lock will keep comes without Content-MD5 and x-amz-checksum-*.
// `what`: "Put Object", "Upload Part".
Result<void> RequireChecksumOfLocked(const Call& call, const ObjectLock& lock, bool claims_checksum,
                                     std::string_view what);

// The stored form: internal attributes.
void StoreObjectLock(const ObjectLock& lock, store::Attributes& attributes);
ObjectLock StoredObjectLock(const store::Attributes& attributes);
// Replaces what is stored.
void ReplaceObjectLock(const ObjectLock& lock, store::Attributes& attributes);

// x-amz-object-lock-mode, -retain-until-date, -legal-hold.
void AddObjectLockHeaders(Response& response, const store::Attributes& attributes);

// x-amz-bypass-governance-retention: true.
bool BypassesGovernance(const Call& call);

// AccessDenied when the lock keeps its version now.
Result<void> CheckUnlocked(const ObjectLock& lock, WallTime now, bool bypass);
// The same as the store asks it about a version that is to be removed.
store::Precondition RemovalCheck(const Call& call);
// AccessDenied when `wanted` (none: no retention) is less than what an unexpired retention demands.
Result<void> CheckRetentionChange(const ObjectLock& lock, const std::optional<Retention>& wanted,
                                  WallTime now, bool bypass);

// x-amz-object-lock-* and the bypass header: S3's answers for buckets without Object Lock (spec
// §2.2, §2.17), and 501 on an operation that knows no such header. Only worth asking when the
// request carries any.
Result<void> CheckObjectLockHeaders(Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_
