// State that the connections of this process to one file share.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_SHARED_BY_PATH_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_SHARED_BY_PATH_H_

#include <map>
#include <memory>
#include <string>

#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Returns the state of the file at `path`, which is made by T(path) for its first user and
// destroyed with its last one. Thread safety: any thread.
template <class T>
std::shared_ptr<T> SharedByPath(const std::string& path) {
  // Never destroyed, because connections may close while the process exits.
  static Mutex* const mutex = new Mutex();
  static auto* const open = new std::map<std::string, std::weak_ptr<T>>();
  const MutexLock lock(*mutex);
  std::erase_if(*open, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<T>& known = (*open)[path];
  std::shared_ptr<T> state = known.lock();
  if (state == nullptr) known = state = std::make_shared<T>(path);
  return state;
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_SHARED_BY_PATH_H_
