#include "emulator/server/directory_leases.h"

#include <optional>
#include <utility>

namespace penstock::emulator::server {

Result<std::shared_ptr<DirectoryLeases::Lease>> DirectoryLeases::Take(const std::string& path) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[path];
  if (!entry.directory) {
    auto opened = DataDirectory::Open(path);
    if (!opened.ok()) {
      entries_.erase(path);
      return std::move(opened).error();
    }
    entry.directory = std::move(opened).value();
  }
  const bool is_first = entry.leases++ == 0;
  return std::make_shared<Lease>(shared_from_this(), *entry.directory, is_first);
}

void DirectoryLeases::Return(DataDirectory& directory) {
  std::optional<std::string> grave;
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(directory.path());
    if (--found->second.leases > 0) return;
    // Out of the way before anybody can take the path again; what cannot be moved now is found at the next start.
    if (directory.is_deleted()) grave = DataDirectory::MoveToGrave(directory.path());
    entries_.erase(found);
  }
  if (grave) DataDirectory::Remove(*grave);  // outside the lock: a large folder takes a while
}

}  // namespace penstock::emulator::server
