// Archived objects and their restored copies (Amazon S3 API Reference, "RestoreObject").
//
// The restore of a version is one of its attributes. It has the times at which the copy becomes
// readable and expires, so that its state follows the namespace's clock without another write.
#ifndef PENSTOCK_EMULATOR_S3_CORE_RESTORE_STATE_H_
#define PENSTOCK_EMULATOR_S3_CORE_RESTORE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/message/response.h"
#include "emulator/store/records/records.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::s3 {

// Prefix of stored attributes that are internal and never sent to clients.
inline constexpr char kInternalAttributeMark = ':';
inline constexpr std::string_view kRestoreAttribute = ":restore";

// True for GLACIER and DEEP_ARCHIVE, which cannot be read or copied without a restore.
bool IsArchived(std::string_view storage_class);

// One request to restore a version.
struct Restore {
  WallTime ready{};   // The copy is readable from then on,
  WallTime expiry{};  // and until then.
  std::int64_t days = 0;
  std::string tier;        // "Expedited", "Standard" or "Bulk".
  bool completed = false;  // The lifecycle run has recorded the completion.

  bool IsOngoing(WallTime now) const { return now < ready; }
  bool IsReadable(WallTime now) const { return ready <= now && now < expiry; }
};

// Returns the restore of a version, also after it has expired; nullopt: there is none.
std::optional<Restore> StoredRestore(const store::Attributes& attributes);
// Replaces the restore; nullopt removes it.
void ReplaceRestore(const std::optional<Restore>& restore, store::Attributes& attributes);

// Whether the version's bytes can be read at `now`.
bool IsReadable(const store::ObjectRecord& object, WallTime now);

// Adds x-amz-restore if the version has an ongoing restore or a restored copy.
void AddRestoreHeader(message::Response& response, const store::ObjectRecord& object, WallTime now);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_RESTORE_STATE_H_
