#include "emulator/server/namespaces/directory_leases.h"

#include <chrono>
#include <optional>
#include <utility>

namespace penstock::emulator::server {

// Calls Finish at its end, also where an exception passes.
struct DirectoryLeases::Finishing {
  DirectoryLeases& leases;
  const std::string& path;
  std::unique_ptr<DataDirectory> directory = nullptr;
  ~Finishing() { leases.Finish(path, std::move(directory)); }
};

std::shared_ptr<DirectoryLeases::Lease> DirectoryLeases::Share(const std::string& path) {
  const MutexLock lock(mutex_);
  for (;;) {
    const auto [found, is_new] = entries_.try_emplace(path);
    if (is_new) return nullptr;
    Entry& entry = found->second;
    if (entry.directory) {
      auto lease =
          std::make_shared<Lease>(shared_from_this(), *entry.directory, /*is_first=*/false);
      ++entry.leases;
      return lease;
    }
    // Another thread opens or closes it, and calls Finish. The time is a bound for the wait, not
    // for the opening.
    finished_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
}

void DirectoryLeases::Finish(const std::string& path, std::unique_ptr<DataDirectory> directory) {
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(path);
    if (directory) {
      found->second.directory = std::move(directory);
      found->second.leases = 1;
    } else {
      entries_.erase(found);
    }
  }
  finished_.NotifyAll();
}

Result<std::shared_ptr<DirectoryLeases::Lease>> DirectoryLeases::Take(const std::string& path) {
  if (std::shared_ptr<Lease> shared = Share(path)) return shared;
  Finishing finishing{*this, path};
  PENSTOCK_ASSIGN(std::unique_ptr<DataDirectory> opened, DataDirectory::Open(path));
  auto lease = std::make_shared<Lease>(shared_from_this(), *opened, /*is_first=*/true);
  finishing.directory = std::move(opened);
  return lease;
}

void DirectoryLeases::Return(DataDirectory& directory) {
  std::unique_ptr<DataDirectory> last;
  const std::string* path = nullptr;
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(directory.path());
    if (--found->second.leases > 0) return;
    last = std::move(found->second.directory);
    path = &found->first;  // the entry stays until Finish
  }
  std::optional<std::string> trash;
  // Renamed before the path can be leased again. If that fails, the next start removes it.
  if (last->is_deleted()) trash = DataDirectory::MoveToTrash(*path);
  last.reset();
  Finish(*path, nullptr);
  if (trash) DataDirectory::Remove(*trash);  // a large directory takes time
}

}  // namespace penstock::emulator::server
