// Bounds how many namespaces of a data directory are open at a time: each one has descriptors and
// threads.
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
    // Closes the store unless it is in use, and then calls Remove. False: it stays as it was.
    virtual bool CloseIfIdle() = 0;
    virtual MonotonicTime last_used() const = 0;
  };

  explicit OpenStores(std::size_t most) : most_(most) {}
  // For this process's limit of descriptors.
  static std::size_t UsualMost();

  // The member has been opened, or closed.
  void Add(std::weak_ptr<Member> member);
  void Remove(const std::weak_ptr<Member>& member);
  // Closes idle members, those used longest ago first, until one more may open. Where too few are
  // idle, more stay open than the limit says. Must be called without any lock that CloseIfIdle
  // waits for.
  void MakeRoom();

  std::size_t count() const;

 private:
  // The members that still exist, those used longest ago first; forgets the others.
  std::vector<std::shared_ptr<Member>> Members();

  const std::size_t most_;
  mutable Mutex mutex_;
  std::vector<std::weak_ptr<Member>> members_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_OPEN_STORES_H_
