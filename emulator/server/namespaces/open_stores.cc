#include "emulator/server/namespaces/open_stores.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::emulator::server {
namespace {

// An open store uses 11 descriptors: database, log, mark, reserve, directories, locks. Each of up
// to 8 readers uses 2 more, and cached blobs use further ones.
constexpr std::uint64_t kDescriptorsPerStore = 64;
constexpr std::uint64_t kFewest = 4;
constexpr std::uint64_t kMax = 256;

}  // namespace

std::size_t OpenStores::DefaultMax() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewest;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(limit.rlim_max / kDescriptorsPerStore, kFewest, kMax));
}

void OpenStores::Add(std::weak_ptr<Member> member) {
  const MutexLock lock(mutex_);
  members_.push_back(std::move(member));
}

void OpenStores::Remove(const std::weak_ptr<Member>& member) {
  const MutexLock lock(mutex_);
  std::erase_if(members_, [&](const std::weak_ptr<Member>& other) {
    return !other.owner_before(member) && !member.owner_before(other);
  });
}

void OpenStores::MakeRoom() {
  if (count() < most_) return;
  // Destroyed last: this vector may hold the last reference to a member.
  const std::vector<std::shared_ptr<Member>> members = Members();
  for (const std::shared_ptr<Member>& member : members) {
    if (count() < most_) return;
    static_cast<void>(member->CloseIfIdle());  // a member in use stays open
  }
}

std::size_t OpenStores::count() const {
  const MutexLock lock(mutex_);
  return members_.size();
}

std::vector<std::shared_ptr<OpenStores::Member>> OpenStores::Members() {
  std::vector<std::pair<MonotonicTime, std::shared_ptr<Member>>> members;
  {
    const MutexLock lock(mutex_);
    members.reserve(members_.size());
    std::erase_if(members_, [&](const std::weak_ptr<Member>& weak) {
      std::shared_ptr<Member> member = weak.lock();
      if (member == nullptr) return true;
      const MonotonicTime used = member->last_used();
      members.emplace_back(used, std::move(member));
      return false;
    });
  }
  std::sort(members.begin(), members.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::shared_ptr<Member>> sorted;
  sorted.reserve(members.size());
  for (auto& [used, member] : members) sorted.push_back(std::move(member));
  return sorted;
}

}  // namespace penstock::emulator::server
