// Object Lock: how long a version must be kept, and what a request may change about that. Locks are
// stored as attributes of the version, so that the store checks them in the transaction of a
// removal.
//
// The bucket's configuration is a row of sub_resources.cc. object_lock_operations.cc has the four
// operations on objects. Time is the namespace's clock.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dates.h"
#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::string_view kObjectLockKey = "object-lock";  // In a bucket's configuration.
inline constexpr std::string_view kBypassHeader = "x-amz-bypass-governance-retention";

enum class RetentionMode : std::uint8_t { kGovernance, kCompliance };
std::string_view NameOf(RetentionMode mode);

struct Retention {
  RetentionMode mode = RetentionMode::kGovernance;
  CalendarTime until{};

  bool IsInEffect(WallTime now) const {
    return until > std::chrono::floor<CalendarTime::duration>(now);
  }
};

struct ObjectLock {
  std::optional<Retention> retention;  // Stays after it has expired, as in S3.
  std::optional<bool> legal_hold;      // Unset: never set by a request.
  bool any() const { return retention || legal_hold; }
};

bool HasObjectLock(const store::BucketRecord& bucket);
// Returns InvalidRequest unless the bucket has Object Lock.
Result<void> RequireObjectLock(const store::BucketRecord& bucket);

// Returns the lock of a new version: from the x-amz-object-lock-* headers, or else the bucket's
// default retention from now.
Result<ObjectLock> ReadObjectLock(const Call& call, const store::BucketRecord& bucket);
// Parses a retention from headers or a document. Returns InvalidArgument if the mode is unknown, or
// the date is malformed or in the past.
Result<Retention> ParseRetention(const Call& call, std::string_view mode, std::string_view until);

// Returns InvalidRequest if a body that will be locked has neither Content-MD5 nor
// x-amz-checksum-*. `what`: "Put Object" or "Upload Part", for the message.
Result<void> RequireChecksumOfLocked(const Call& call, const ObjectLock& lock, bool claims_checksum,
                                     std::string_view what);

// Adds the lock to the attributes, in its stored form.
void StoreObjectLock(const ObjectLock& lock, store::Attributes& attributes);
ObjectLock StoredObjectLock(const store::Attributes& attributes);
// Replaces the stored lock.
void ReplaceObjectLock(const ObjectLock& lock, store::Attributes& attributes);

// Adds x-amz-object-lock-mode, -retain-until-date and -legal-hold.
void AddObjectLockHeaders(Response& response, const store::Attributes& attributes);

// True for x-amz-bypass-governance-retention: true.
bool BypassesGovernance(const Call& call);

// Returns AccessDenied if the lock protects its version now.
Result<void> CheckUnlocked(const ObjectLock& lock, WallTime now, bool bypass);
// Returns CheckUnlocked as a store callback for a version that is to be removed.
store::Precondition RemovalCheck(const Call& call);
// Returns AccessDenied if `requested` (nullopt: no retention) is weaker than the current, unexpired
// retention.
Result<void> CheckRetentionChange(const ObjectLock& lock, const std::optional<Retention>& requested,
                                  WallTime now, bool bypass);

// Checks x-amz-object-lock-* and the bypass header: S3's errors for buckets without Object Lock,
// and 501 for operations that do not have these headers. Call it only if the request has one of
// them.
Result<void> CheckObjectLockHeaders(Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_OBJECT_LOCK_H_
