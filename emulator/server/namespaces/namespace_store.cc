#include "emulator/server/namespaces/namespace_store.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/store/commits/disk_guard.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::server {
namespace {

// Limit of stores that wait for removal, besides OpenStores::DefaultMax, because they are open.
// Beyond it the caller of Reset removes them itself.
constexpr std::size_t kMaxRetired = 64;

constinit DiagnosticEvent open_failed("server.namespace_not_opened");
constinit DiagnosticEvent run_failed("lifecycle.run_failed");

MonotonicTime Now() { return std::chrono::steady_clock::now(); }

}  // namespace

// One store and, in directory mode, its directory.
struct NamespaceStore::Generation final : StoreRemover::Item {
  std::shared_ptr<DirectoryLeases::Lease> lease;  // released after the store; null in memory mode
  std::shared_ptr<const Clock> clock;             // used by space and store
  s3::Namespace space;
  std::shared_ptr<const store::LastingCharge> charge;  // null: not charged
  std::string path;                                    // empty: in memory
  bool retired = false;                                // set before the last reference is released
  // Set if BeginRelease was called for this store.
  std::shared_ptr<store::MemoryLimit> releasing;

  ~Generation() override {
    space.store.reset();
    space.controls.reset();
    charge.reset();
    if (releasing) releasing->EndRelease();
    if (retired && !path.empty()) DataDirectory::RemoveReplaced(path);
  }
};

NamespaceStore::NamespaceStore(NamespaceStoreOptions options)
    : options_(std::move(options)), clock_(std::make_shared<NamespaceClock>(*options_.clock)) {}

Result<std::shared_ptr<NamespaceStore>> NamespaceStore::Make(NamespaceStoreOptions options) {
  std::shared_ptr<NamespaceStore> namespace_store(new NamespaceStore(std::move(options)));
  NamespaceStoreOptions& made = namespace_store->options_;
  if (!made.leases) made.leases = DirectoryLeases::Create();
  if (!made.remover) made.remover = std::make_shared<StoreRemover>();
  if (made.directory.empty()) made.open_stores = nullptr;  // a store in memory must stay open
  PENSTOCK_ASSIGN(auto controls, TestControls::Open(made.controls, *namespace_store->clock_));
  {
    const WriterLock lock(namespace_store->mutex_);
    namespace_store->controls_ = std::move(controls);
  }
  const MutexLock one_at_a_time(namespace_store->change_mutex_);
  namespace_store->has_existed_ = made.exists;
  return namespace_store;
}

Result<std::shared_ptr<NamespaceStore>> NamespaceStore::Open(NamespaceStoreOptions options) {
  PENSTOCK_ASSIGN(std::shared_ptr<NamespaceStore> namespace_store, Make(std::move(options)));
  const MutexLock one_at_a_time(namespace_store->change_mutex_);
  auto opened = namespace_store->OpenCurrent();
  if (opened.ok()) return namespace_store;
  Error error = std::move(opened).error();
  // The options name a directory that cannot be used, for whatever reason.
  if (error.kind == ErrorKind::kConflict) error.kind = ErrorKind::kInvalidArgument;
  return error;
}

NamespaceStore::~NamespaceStore() {
  // The generation is destroyed last: its lease is then released by the remover, not by this
  // thread.
  const MutexLock one_at_a_time(change_mutex_);
  options_.charge.reset();  // so that the generation releases it
  lease_.reset();
}

std::shared_ptr<NamespaceStore::Generation> NamespaceStore::MakeGeneration(
    const std::string& path) {
  const auto destroy = [remover = std::weak_ptr<StoreRemover>(options_.remover),
                        limit = options_.memory_limit](Generation* generation) {
    std::unique_ptr<Generation> owned(generation);
    if (!owned->retired) return;
    const std::shared_ptr<StoreRemover> there = remover.lock();
    if (there == nullptr) return;
    owned->releasing = limit;
    if (limit) limit->BeginRelease();
    there->Add(std::move(owned));
  };
  std::shared_ptr<Generation> generation(new Generation, destroy);
  generation->lease = lease_;
  generation->clock = clock_;
  generation->charge = options_.charge;
  generation->path = path;
  return generation;
}

Result<std::shared_ptr<NamespaceStore::Generation>> NamespaceStore::OpenGeneration(
    const std::string& path, std::shared_ptr<TestControls> controls) {
  std::shared_ptr<Generation> generation = MakeGeneration(path);
  PENSTOCK_ASSIGN(generation->space.store,
                  store::Store::Open({.directory = path,
                                      .durability = options_.durability,
                                      .clock = clock_.get(),
                                      .memory_limit = options_.memory_limit,
                                      .scrub_bytes_per_second = options_.scrub_bytes_per_second,
                                      .event_signal = options_.event_signal}));
  PENSTOCK_TRY(SyncNames());
  generation->space.controls = std::move(controls);
  generation->space.name = options_.name;
  generation->space.clock = clock_.get();
  generation->space.owners = options_.owners;
  return generation;
}

// The mark is first: with it, the next start can remove the old store.
Result<std::shared_ptr<NamespaceStore::Generation>> NamespaceStore::OpenNext(
    std::shared_ptr<TestControls> controls) {
  if (!lease_) return OpenGeneration({}, std::move(controls));
  PENSTOCK_TRY(lease_->directory().MarkReplaced());
  return OpenGeneration(lease_->directory().NextPath(), std::move(controls));
}

Result<void> NamespaceStore::SyncNames() const {
  if (options_.directory.empty() || options_.durability != store::Durability::kStrict) return Ok();
  PENSTOCK_TRY(store::SyncDirectory(options_.directory));
  for (const std::string& parent : options_.parents) PENSTOCK_TRY(store::SyncDirectory(parent));
  return Ok();
}

Result<void> NamespaceStore::TakeLease() {
  if (options_.directory.empty() || lease_) return Ok();
  const auto lost = [this] {
    return Error::Make(ErrorKind::kDataLoss,
                       "the store of namespace '" + options_.name + "' was removed from '" +
                           options_.directory +
                           "' while the emulator ran; stop it and restore a backup, or delete "
                           "the directory and start it again");
  };
  if (has_existed_ && !std::filesystem::exists(options_.directory)) return lost();
  PENSTOCK_ASSIGN(lease_, options_.leases->Take(options_.directory));
  if (!has_existed_ || lease_->directory().has_store()) return Ok();
  lease_.reset();
  return lost();
}

Result<void> NamespaceStore::OpenCurrent() {
  if (is_open()) return Ok();
  if (options_.open_stores) options_.open_stores->MakeRoom();
  const bool had_lease = lease_ != nullptr;
  PENSTOCK_TRY(TakeLease());
  DataDirectory* const data = lease_ ? &lease_->directory() : nullptr;
  const bool anew = data != nullptr && data->is_deleted();  // reuses the directory of a deleted one
  std::string path;
  if (data != nullptr) path = anew ? data->NextPath() : data->CurrentPath();
  auto opened = OpenGeneration(path, CurrentControls());
  if (!opened.ok()) {
    if (data != nullptr && store::IsUnfinishedStore(path)) DataDirectory::Remove(path);
    if (!had_lease) lease_.reset();
    return std::move(opened).error();
  }
  if (anew) data->AdoptNext();
  if (data != nullptr) data->RecordCreation(options_.durability);
  if (data != nullptr && lease_->is_first()) data->RemoveOthers();
  {
    const WriterLock lock(mutex_);
    current_ = std::move(opened).value();
  }
  has_existed_ = true;
  if (options_.open_stores) options_.open_stores->Add(weak_from_this());
  schedule_.Request();  // its clock may have passed dates while it was closed
  if (options_.on_open) options_.on_open();
  return Ok();
}

bool NamespaceStore::is_open() const {
  const ReaderLock lock(mutex_);
  return current_ != nullptr;
}

std::shared_ptr<s3::Namespace> NamespaceStore::EnterIfOpen() {
  if (options_.open_stores) last_used_.store(Now(), std::memory_order_relaxed);
  return Peek();
}

std::shared_ptr<s3::Namespace> NamespaceStore::Peek() const {
  const ReaderLock lock(mutex_);
  if (!current_) return nullptr;
  // Shares ownership of the generation, so that its directory is removed only after the last
  // request.
  return {current_, &current_->space};
}

Result<std::shared_ptr<s3::Namespace>> NamespaceStore::Enter() {
  for (;;) {
    if (std::shared_ptr<s3::Namespace> space = EnterIfOpen()) return space;
    const MutexLock one_at_a_time(change_mutex_);
    auto opened = OpenCurrent();
    if (!opened.ok()) return AfterStart(std::move(opened).error());
  }
}

std::shared_ptr<s3::Namespace> NamespaceStore::Current() {
  if (std::shared_ptr<s3::Namespace> space = EnterIfOpen()) return space;
  auto entered = Enter();
  if (entered.ok()) return std::move(entered).value();
  open_failed.Report(entered.error());
  return nullptr;
}

std::shared_ptr<TestControls> NamespaceStore::CurrentControls() const {
  const ReaderLock lock(mutex_);
  return controls_;
}

Result<void> NamespaceStore::Reset() {
  const MutexLock one_at_a_time(change_mutex_);
  if (discarded_)
    return Error::Make(ErrorKind::kNotFound,
                       "namespace '" + options_.name + "' was deleted; list the namespaces");
  PENSTOCK_ASSIGN(auto controls, TestControls::Open(options_.controls, *clock_));
  const bool was_open = is_open();
  if (!was_open && options_.open_stores) options_.open_stores->MakeRoom();
  if (auto leased = TakeLease(); !leased.ok()) return AfterStart(std::move(leased).error());
  if (lease_) lease_->directory().RemoveNext();
  std::shared_ptr<Generation> closed;  // owns the files of a store that is not open
  if (lease_ && !was_open) closed = MakeGeneration(lease_->directory().CurrentPath());
  auto opened = OpenNext(controls);
  if (!opened.ok() && opened.error().kind == ErrorKind::kResourceExhausted && lease_) {
    // The disk is full: releases the space that the old store reserves for removals.
    lease_->directory().RemoveNext();
    store::ReleaseReserve(lease_->directory().CurrentPath());
    opened = OpenNext(controls);
  }
  if (!opened.ok()) {
    if (lease_) lease_->directory().RemoveNext();
    if (!was_open) lease_.reset();
    return AfterStart(std::move(opened).error());
  }
  if (lease_) {
    lease_->directory().AdoptNext();
    lease_->directory().RecordCreation(options_.durability);
  }
  std::shared_ptr<Generation> old = std::move(opened).value();
  {
    const WriterLock lock(mutex_);
    std::swap(old, current_);
    std::swap(controls, controls_);
    if (old == nullptr) old = std::move(closed);
    old->retired = true;
  }
  if (!was_open && options_.open_stores) options_.open_stores->Add(weak_from_this());
  // Waiting readers continue with the new journal.
  if (journal::Journal* const journal = controls->journal()) journal->Stop();
  clock_->Restore();
  lifecycle_.Forget();
  old.reset();
  options_.remover->Help(std::min(kMaxRetired, OpenStores::DefaultMax()));
  return Ok();
}

Result<void> NamespaceStore::Discard() {
  const MutexLock one_at_a_time(change_mutex_);
  if (discarded_) return Ok();
  if (auto opened = OpenCurrent(); !opened.ok()) return AfterStart(std::move(opened).error());
  if (lease_) PENSTOCK_TRY(lease_->directory().MarkDeleted());
  PENSTOCK_TRY(SyncNames());
  discarded_ = true;
  {
    const WriterLock lock(mutex_);
    current_->retired = true;
  }
  StopJournal();
  return Ok();
}

// At the start an unusable directory is an error in the options. Later it is a failure of the
// emulator, or another emulator uses it.
Error NamespaceStore::AfterStart(Error error) const {
  if (error.kind == ErrorKind::kConflict) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the directory of namespace '" + options_.name +
                           "' is in use by another emulator; stop it and repeat the request");
  }
  if (error.kind == ErrorKind::kInvalidArgument) error.kind = ErrorKind::kInternal;
  return error;
}

// A reset ends the runs of the old store.
Result<lifecycle::Account> NamespaceStore::RunLifecycle(const std::string& bucket,
                                                        const std::function<bool()>& cancelled) {
  PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, Enter());
  const auto ended = [&] { return (cancelled && cancelled()) || Peek() != space; };
  const auto begin = [&] {
    const WallTime now = clock_->Now();
    if (bucket.empty()) schedule_.Begin(now);
    return lifecycle::RunOptions{
        .now = now, .bucket = bucket, .cancelled = ended, .owners = options_.owners};
  };
  return lifecycle_.RunAndTake(*space->store, begin);
}

std::optional<std::chrono::nanoseconds> NamespaceStore::UntilRun() {
  return is_open() ? schedule_.UntilRun(clock_->State()) : std::nullopt;
}

void NamespaceStore::RunDue(const std::function<bool()>& cancelled) {
  const std::shared_ptr<s3::Namespace> space = Peek();
  if (space == nullptr) return;
  const auto ended = [&] { return cancelled() || Peek() != space; };
  // Another run may have examined this day meanwhile. A late second run would apply the rules to
  // writes that followed it.
  const auto begin = [&]() -> std::optional<lifecycle::RunOptions> {
    const ClockState clock = clock_->State();
    if (schedule_.UntilRun(clock) != std::chrono::nanoseconds(0)) return std::nullopt;
    schedule_.Begin(clock.now);
    return lifecycle::RunOptions{.now = clock.now, .cancelled = ended, .owners = options_.owners};
  };
  const auto done = lifecycle_.Run(*space->store, begin);
  if (!done.ok() && done.error().kind != ErrorKind::kCancelled) run_failed.Report(done.error());
}

void NamespaceStore::StopJournal() {
  if (journal::Journal* const journal = CurrentControls()->journal()) journal->Stop();
}

bool NamespaceStore::CloseIfIdle() {
  if (!change_mutex_.TryLock()) return false;
  const bool closed = Close();
  change_mutex_.Unlock();
  return closed;
}

// The store is closed before the lock is released, so that the next opening waits for it.
bool NamespaceStore::Close() {
  if (options_.open_stores == nullptr || discarded_) return false;
  std::shared_ptr<Generation> idle;
  {
    const WriterLock lock(mutex_);
    // References are only created under this lock: no other exists, and none can be created.
    if (current_ == nullptr || current_.use_count() > 1 || !controls_->faults().idle())
      return false;
    idle.swap(current_);
  }
  idle.reset();
  lease_.reset();
  options_.open_stores->Remove(weak_from_this());
  return true;
}

}  // namespace penstock::emulator::server
