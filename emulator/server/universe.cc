#include "emulator/server/universe.h"

#include <utility>

namespace penstock::emulator::server {
namespace {

// Resets that may wait for the dismantler; beyond that the caller of Reset does the work itself.
constexpr std::size_t kRetiredLimit = 64;

}  // namespace

// One store and, in directory mode, the folder it lives in.
struct Universe::Generation {
  std::shared_ptr<const Clock> clock;  // what space and store point to
  api::Namespace space;
  std::string path;      // empty: in memory
  bool retired = false;  // set before the last reference goes

  ~Generation() {
    space.store.reset();
    if (retired && !path.empty()) DataDirectory::RemoveGeneration(path);
  }
};

Universe::Universe(UniverseOptions options)
    : options_(std::move(options)), clock_(std::make_shared<NamespaceClock>(*options_.clock)) {}

Result<std::unique_ptr<Universe>> Universe::Open(UniverseOptions options) {
  std::unique_ptr<Universe> universe(new Universe(std::move(options)));
  std::string path;
  if (!universe->options_.directory.empty()) {
    PENSTOCK_ASSIGN(universe->data_, DataDirectory::Open(universe->options_.directory));
    path = universe->data_->CurrentPath();
  }
  PENSTOCK_ASSIGN(auto generation, universe->OpenGeneration(path));
  if (universe->data_) universe->data_->RemoveOthers();
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
  generation->clock = clock_;
  PENSTOCK_ASSIGN(generation->space.store, store::Store::Open({.directory = path,
                                                               .durability = options_.durability,
                                                               .clock = clock_.get()}));
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
  const std::string path = data_ ? data_->NextPath() : std::string();
  if (data_) DataDirectory::RemoveGeneration(path);
  auto opened = OpenGeneration(path);
  if (!opened.ok()) {
    if (data_) DataDirectory::RemoveGeneration(path);
    return std::move(opened).error();
  }
  if (data_) data_->AdoptNext();
  std::shared_ptr<Generation> old = std::move(opened).value();
  {
    const MutexLock lock(mutex_);
    std::swap(old, current_);
    old->retired = true;
    if (retired_.size() < kRetiredLimit) retired_.push_back(std::move(old));
  }
  clock_->Restore();
  if (!dismantler_.joinable()) dismantler_ = std::jthread([this] { DismantleRetired(); });
  retired_or_stopping_.NotifyAll();
  return Ok();
}

Result<void> Universe::Discard(const std::string& grave) {
  const MutexLock one_at_a_time(reset_mutex_);
  if (!data_) return Ok();
  PENSTOCK_TRY(data_->MoveTo(grave));
  const MutexLock lock(mutex_);
  current_->path = grave;
  current_->retired = true;
  return Ok();
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
