#include "emulator/server/universe.h"

#include <utility>

namespace penstock::emulator::server {
namespace {

// Resets that may wait for the dismantler; beyond that the caller of Reset does the work itself.
constexpr std::size_t kRetiredLimit = 64;

}  // namespace

// One store and, in directory mode, the folder it lives in.
struct Universe::Generation {
  std::shared_ptr<DirectoryLeases::Lease> lease;  // goes after the store; null in memory mode
  std::shared_ptr<const Clock> clock;  // what space and store point to
  api::Namespace space;
  std::string path;      // empty: in memory
  bool retired = false;  // set before the last reference goes

  void StopJournal() {
    if (journal::Journal* const journal = space.instruments->journal()) journal->Stop();
  }

  ~Generation() {
    space.store.reset();
    if (retired && !path.empty()) DataDirectory::Remove(path);
  }
};

Universe::Universe(UniverseOptions options)
    : options_(std::move(options)), clock_(std::make_shared<NamespaceClock>(*options_.clock)) {}

Result<std::unique_ptr<Universe>> Universe::Open(UniverseOptions options) {
  std::unique_ptr<Universe> universe(new Universe(std::move(options)));
  std::string path;
  bool anew = false;  // in the folder of one that was deleted
  if (!universe->options_.directory.empty()) {
    if (!universe->options_.leases) universe->options_.leases = DirectoryLeases::Create();
    PENSTOCK_ASSIGN(universe->lease_, universe->options_.leases->Take(universe->options_.directory));
    const DataDirectory& data = universe->lease_->directory();
    anew = data.is_deleted();
    path = anew ? data.NextPath() : data.CurrentPath();
  }
  PENSTOCK_ASSIGN(auto generation, universe->OpenGeneration(path));
  if (anew) universe->lease_->directory().AdoptNext();
  if (universe->lease_ && universe->lease_->is_first()) universe->lease_->directory().RemoveOthers();
  {
    const MutexLock lock(universe->mutex_);
    universe->current_ = std::move(generation);
  }
  return universe;
}

Universe::~Universe() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  retired_or_stopping_.NotifyAll();
  if (dismantler_.joinable()) dismantler_.join();
}

Result<std::shared_ptr<Universe::Generation>> Universe::OpenGeneration(const std::string& path) const {
  auto generation = std::make_shared<Generation>();
  generation->lease = lease_;
  generation->clock = clock_;
  PENSTOCK_ASSIGN(generation->space.store, store::Store::Open({.directory = path,
                                                               .durability = options_.durability,
                                                               .clock = clock_.get(),
                                                               .scrub_bytes_per_second = options_.scrub_bytes_per_second}));
  PENSTOCK_ASSIGN(generation->space.instruments, instruments::Instruments::Open(options_.instruments, *clock_));
  generation->space.name = options_.name;
  generation->space.clock = clock_.get();
  generation->space.owners = options_.owners;
  generation->path = path;
  return generation;
}

std::shared_ptr<api::Namespace> Universe::Current() const {
  const MutexLock lock(mutex_);
  // Shares ownership of the generation, so that the folder goes only after the last request.
  return {current_, &current_->space};
}

Result<void> Universe::Reset() {
  const MutexLock one_at_a_time(reset_mutex_);
  if (discarded_) return Error::Make(ErrorKind::kNotFound, "namespace '" + options_.name + "' was deleted; list the namespaces");
  const std::string path = lease_ ? lease_->directory().NextPath() : std::string();
  if (lease_) DataDirectory::Remove(path);
  auto opened = OpenGeneration(path);
  if (!opened.ok()) {
    if (lease_) DataDirectory::Remove(path);
    return std::move(opened).error();
  }
  if (lease_) lease_->directory().AdoptNext();
  std::shared_ptr<Generation> old = std::move(opened).value();
  {
    const MutexLock lock(mutex_);
    std::swap(old, current_);
    old->retired = true;
  }
  old->StopJournal();  // whoever waits for it goes on to the new one
  {
    const MutexLock lock(mutex_);
    if (retired_.size() < kRetiredLimit) retired_.push_back(std::move(old));
  }
  clock_->Restore();
  if (!dismantler_.joinable()) dismantler_ = std::jthread([this] { DismantleRetired(); });
  retired_or_stopping_.NotifyAll();
  return Ok();
}

Result<void> Universe::Discard() {
  const MutexLock one_at_a_time(reset_mutex_);
  if (lease_) PENSTOCK_TRY(lease_->directory().MarkDeleted());
  discarded_ = true;
  {
    const MutexLock lock(mutex_);
    current_->retired = true;
  }
  StopJournal();
  return Ok();
}

void Universe::StopJournal() {
  std::shared_ptr<Generation> current;
  {
    const MutexLock lock(mutex_);
    current = current_;
  }
  current->StopJournal();
}

void Universe::DismantleRetired() {
  for (;;) {
    std::shared_ptr<Generation> doomed;
    {
      const MutexLock lock(mutex_);
      while (retired_.empty() && !stopping_) retired_or_stopping_.WaitIdle(mutex_);
      if (retired_.empty()) return;
      doomed = std::move(retired_.front());
      retired_.pop_front();
    }
    doomed.reset();  // outside the lock: taking a large store apart takes a while
  }
}

}  // namespace penstock::emulator::server
