// One action of a lifecycle rule, or of a restore, on one version or upload.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_ACTION_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_ACTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/types.h"

namespace penstock::emulator::lifecycle {

enum class ActionKind : std::uint8_t {
  kExpireObject,        // Deletes an object of a bucket without versions.
  kCreateDeleteMarker,  // Hides the current version.
  kExpireNoncurrentVersion,
  kExpireDeleteMarker,
  kTransition,
  kTransitionNoncurrent,
  kAbortUpload,
  kCompleteRestore,
  kExpireRestore,
};

// The names in the JSON of accounts, in the order of ActionKind.
inline constexpr std::array<std::string_view, 9> kActionNames = {
    "expire_object",        "create_delete_marker", "expire_noncurrent_version",
    "expire_delete_marker", "transition",           "transition_noncurrent",
    "abort_upload",         "complete_restore",     "expire_restore"};
inline constexpr std::size_t kActionKinds = kActionNames.size();
static_assert(static_cast<std::size_t>(ActionKind::kExpireRestore) + 1 == kActionKinds);

inline std::string_view NameOf(ActionKind kind) {
  return kActionNames[static_cast<std::size_t>(kind)];
}

struct Action {
  ActionKind kind = ActionKind::kExpireObject;
  ObjectKey key;
  VersionId version_id;  // Empty for uploads.
  UploadId upload_id;
  std::string rule_id;  // Empty for restores.
  WallTime date{};      // When it became due.
  // Of the version: they must not have changed when the action is applied.
  ETag etag;
  WallTime last_modified{};
  std::uint64_t size = 0;
  std::string from;  // Storage classes, of transitions.
  std::string to;
};

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_ACTION_H_
