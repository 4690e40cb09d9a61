#include "emulator/lifecycle/run.h"

#include <optional>
#include <utility>
#include <vector>

#include "emulator/lifecycle/apply.h"
#include "emulator/lifecycle/planner.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/s3/core/call.h"

namespace penstock::emulator::lifecycle {
namespace {

constexpr int kPageSize = 1000;

bool HasWork(const store::BucketRecord& bucket) {
  const std::string* document = s3::FindConfiguration(bucket, s3::kLifecycleKey);
  return (document != nullptr && !document->empty()) ||
         s3::FindConfiguration(bucket, s3::kRestoresKey) != nullptr;
}

class BucketRun {
 public:
  BucketRun(store::Store& store, const RunOptions& options, Account& account,
            store::BucketPtr bucket)
      : store_(store),
        options_(options),
        account_(account),
        planner_(
            store, options.now,
            options.mode == RunMode::kApply ? LockedVersions::kIncluded : LockedVersions::kLeftOut),
        bucket_(std::move(bucket)) {}

  Result<void> Run() {
    PENSTOCK_TRY(RunVersions());
    PENSTOCK_TRY(RunUploads());
    if (const auto next = planner_.next(); next && (!account_.next || *next < *account_.next))
      account_.next = next;
    return Ok();
  }

 private:
  // Reads the bucket again, because its rules may have changed. False: it has no rules any more.
  Result<bool> Continue() {
    if (options_.cancelled && options_.cancelled())
      return Error::Make(ErrorKind::kCancelled,
                         "the lifecycle run was cancelled; what it did before stays");
    auto found = store_.FindBucket(bucket_->name);
    if (!found.ok()) {
      if (found.error().kind == ErrorKind::kNotFound) return false;
      return std::move(found).error();
    }
    bucket_ = std::move(found).value();
    planner_.SetBucket(bucket_);
    const s3::LifecycleRules* rules = s3::LifecycleRules::Of(*bucket_);
    if (rules != nullptr) {
      for (const std::string_view id : rules->RuleIds())
        Totals().rules.try_emplace(std::string(id));
    }
    return HasWork(*bucket_);
  }

  Result<void> RunVersions() {
    store::ListVersions query;
    query.bucket = bucket_->name;
    query.max_keys = kPageSize;
    for (bool more = true; more;) {
      PENSTOCK_ASSIGN(const bool runs, Continue());
      if (!runs) return Ok();
      PENSTOCK_ASSIGN(const store::VersionPage page, store_.List(query));
      std::vector<Action> actions;
      for (const store::ListEntry& entry : page.entries)
        PENSTOCK_TRY(planner_.AddVersion(entry, actions));
      more = page.truncated;
      if (!more) planner_.EndVersions(actions);
      Totals().versions += page.entries.size();
      Finish(actions);
      query.key_marker = page.next_key_marker;
      query.version_id_marker = page.next_version_id_marker;
    }
    return Ok();
  }

  Result<void> RunUploads() {
    store::ListUploads query;
    query.bucket = bucket_->name;
    query.max_uploads = kPageSize;
    for (bool more = true; more;) {
      PENSTOCK_ASSIGN(const bool runs, Continue());
      const s3::LifecycleRules* rules = runs ? s3::LifecycleRules::Of(*bucket_) : nullptr;
      if (rules == nullptr || !rules->AbortsUploads()) return Ok();
      PENSTOCK_ASSIGN(const store::UploadPage page, store_.List(query));
      std::vector<Action> actions;
      for (const store::UploadListEntry& entry : page.entries) {
        planner_.AddUpload(*entry.upload, actions);
        query.key_marker = entry.upload->key.value;
        query.upload_id_marker = entry.upload->id.value;
      }
      more = page.truncated;
      Totals().uploads += page.entries.size();
      Finish(actions);
    }
    return Ok();
  }

  void Finish(std::vector<Action>& actions) {
    if (options_.mode == RunMode::kPreview) {
      for (const Action& action : actions) account_.Add(bucket_->name.value, action, {});
      return;
    }
    const std::vector<Outcome> outcomes =
        Apply(store_, bucket_, options_.now, actions, options_.owners);
    for (std::size_t i = 0; i < actions.size(); ++i)
      account_.Add(bucket_->name.value, actions[i], outcomes[i]);
  }

  BucketAccount& Totals() { return account_.Bucket(bucket_->name.value); }

  store::Store& store_;
  const RunOptions& options_;
  Account& account_;
  Planner planner_;
  store::BucketPtr bucket_;
};

}  // namespace

Result<void> Run(store::Store& store, const RunOptions& options, Account& account) {
  account.time = options.now;
  std::vector<store::BucketPtr> buckets;
  if (options.bucket.empty()) {
    PENSTOCK_ASSIGN(buckets, store.ListBuckets());
  } else {
    PENSTOCK_ASSIGN(store::BucketPtr bucket, store.FindBucket(BucketName(options.bucket)));
    buckets.push_back(std::move(bucket));
  }
  for (store::BucketPtr& bucket : buckets) {
    if (HasWork(*bucket)) PENSTOCK_TRY(BucketRun(store, options, account, std::move(bucket)).Run());
  }
  return Ok();
}

}  // namespace penstock::emulator::lifecycle
