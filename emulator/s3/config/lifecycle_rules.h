// Evaluates a bucket's lifecycle rules: when versions expire or move to another storage class, when
// uploads are aborted, and by which rule.
//
// Sources: Amazon S3 User Guide, "Lifecycle configuration elements", "How Amazon S3 handles
// conflicts in lifecycle configurations", "Transitioning objects using Amazon S3 Lifecycle".
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_RULES_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/records/cached_value.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

inline constexpr std::string_view kLifecycleKey = "lifecycle";  // In a bucket's configuration.
// In a bucket's configuration: the header x-amz-transition-default-minimum-object-size.
inline constexpr std::string_view kMinimumSizeKey = "lifecycle-minimum-object-size";
inline constexpr std::string_view kMinimumSizeDefault = "all_storage_classes_128K";
inline constexpr std::string_view kMinimumSizeVaries = "varies_by_storage_class";
// In a bucket's configuration: objects of the bucket were restored.
inline constexpr std::string_view kRestoresKey = "restores";

// Returns the midnight after `begin` plus `count` days, capped at the last midnight that WallTime
// can represent.
WallTime MidnightAfter(WallTime begin, std::int64_t count);

// A date and the rule that determines it.
struct LifecycleAction {
  WallTime date{};           // Midnight UTC.
  std::string_view rule_id;  // Valid as long as the LifecycleRules.
};

struct LifecycleTransition {
  LifecycleAction action;
  std::string_view storage_class;  // The new one. Valid as long as the LifecycleRules.
};

// The properties of a version that rules depend on.
struct LifecycleVersion {
  std::string_view key;
  std::uint64_t size = 0;
  WallTime last_modified{};
  std::string_view storage_class;
  bool is_delete_marker = false;
  const store::Attributes* tags = nullptr;  // Null: none.
  // Nullopt: the current version.
  std::optional<WallTime> noncurrent_since = std::nullopt;
  std::size_t newer_noncurrent = 0;  // Noncurrent versions of the key that are newer.
};

// The actions of the rules on one version at a time.
struct LifecycleDecision {
  // Of a current delete marker: only if it is the key's last version.
  std::optional<LifecycleAction> removal;
  std::optional<LifecycleTransition> transition;
  std::optional<WallTime> next;  // The first date after that time at which an action may follow.
};

// The enabled rules of a configuration. Immutable.
class LifecycleRules final : public store::CachedValue::Value {
 public:
  // `document`: the stored configuration. An unreadable document has no rules. `minimum_size`: the
  // bucket's value of kMinimumSizeKey.
  explicit LifecycleRules(std::string_view document,
                          std::string_view minimum_size = kMinimumSizeDefault);

  // Returns the rules of the bucket, or null if it has no configuration. Valid as long as the
  // record.
  static const LifecycleRules* Of(const store::BucketRecord& bucket);

  // Returns the earliest expiration of a current version, or nullopt. If two rules have the same
  // date, the first one is returned.
  std::optional<LifecycleAction> ExpirationOf(const store::ObjectRecord& object) const;
  // Returns the earliest abort of an upload, by the same rule.
  std::optional<LifecycleAction> AbortOf(const store::UploadRecord& upload) const;

  // Whether Decide depends on the tags of a version with that key and size.
  bool NeedsTags(std::string_view key, std::uint64_t size) const;
  LifecycleDecision Decide(const LifecycleVersion& version, WallTime now) const;

  // The ids of the enabled rules, in order.
  std::vector<std::string_view> RuleIds() const;
  bool AbortsUploads() const;

 private:
  struct Transition {
    std::string storage_class;
    std::optional<std::int64_t> days;
    std::optional<WallTime> date;
    std::uint64_t newer_versions = 0;  // Of noncurrent versions only.
  };
  struct Rule {
    std::string id;
    std::string prefix;
    store::Attributes tags;
    std::int64_t size_above = -1;
    std::int64_t size_below = std::numeric_limits<std::int64_t>::max();
    bool filters_size = false;
    std::optional<std::int64_t> expiration_days;
    std::optional<WallTime> expiration_date;
    bool expires_markers = false;
    std::optional<std::int64_t> noncurrent_days;
    std::uint64_t newer_versions = 0;
    std::vector<Transition> transitions;
    std::vector<Transition> noncurrent_transitions;
    std::optional<std::int64_t> abort_days;
  };
  // A date at which a version may move.
  struct Move {
    WallTime date;
    const Rule* rule;
    const Transition* transition;
  };

  static Rule ReadRule(const Element& element);
  static bool Applies(const Rule& rule, const LifecycleVersion& version);
  static std::optional<WallTime> RemovalDate(const Rule& rule, const LifecycleVersion& version);
  void AddMoves(const Rule& rule, const LifecycleVersion& version, std::vector<Move>& moves) const;
  // Whether a default minimum size keeps the version from moving to that class.
  bool IsTooSmall(const Rule& rule, const LifecycleVersion& version,
                  std::string_view storage_class) const;
  static std::optional<LifecycleTransition> ChooseTransition(const LifecycleVersion& version,
                                                             std::vector<Move> moves, WallTime now);

  std::vector<Rule> rules_;
  const bool small_objects_move_to_archives_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_RULES_H_
