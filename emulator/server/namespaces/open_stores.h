// Limits how many namespaces of a data directory are open at a time, because each one uses
// descriptors and threads.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_OPEN_STORES_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_OPEN_STORES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::server {

// Thread safety: any thread.
class OpenStores {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    // Closes the store and calls Remove, unless it is in use. Returns whether it was closed.
    virtual bool CloseIfIdle() = 0;
    virtual MonotonicTime last_used() const = 0;
  };

  explicit OpenStores(std::size_t most) : most_(most) {}
  // The default limit for this process's limit of descriptors.
  static std::size_t DefaultMax();

  // Called after a member has been opened or closed.
  void Add(std::weak_ptr<Member> member);
  void Remove(const std::weak_ptr<Member>& member);
  // Closes idle members, least recently used first, until one more may open. If too few are idle,
  // the limit is exceeded. Must be called without a lock that CloseIfIdle takes.
  void MakeRoom();

  std::size_t count() const;

 private:
  // Returns the members that still exist, least recently used first, and removes the others.
  std::vector<std::shared_ptr<Member>> Members();

  const std::size_t most_;
  mutable Mutex mutex_;
  std::vector<std::weak_ptr<Member>> members_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_OPEN_STORES_H_
