#include "emulator/api/block_lane.h"

#include <utility>

#include "penstock/base/check.h"

namespace penstock::emulator::api {

BlockLane::BlockLane(MutableByteView memory, Work work) : memory_(memory), work_(std::move(work)) {
  PENSTOCK_CHECK(!memory.empty() && memory.size() % kBlocks == 0);
  thread_ = std::thread([this] { Run(); });
}

BlockLane::~BlockLane() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    end_ = abandon_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

MutableByteView BlockLane::BlockOf(std::uint64_t number) const {
  const std::size_t size = memory_.size() / kBlocks;
  return memory_.subspan(static_cast<std::size_t>(number % kBlocks) * size, size);
}

MutableByteView BlockLane::NextBlock() {
  const MutexLock lock(mutex_);
  owner_waits_ = submitted_ - done_ == kBlocks;
  while (owner_waits_) changed_.WaitIdle(mutex_);
  return BlockOf(submitted_);
}

Result<void> BlockLane::Submit(std::size_t bytes) {
  const MutexLock lock(mutex_);
  sizes_[submitted_ % kBlocks] = bytes;
  ++submitted_;
  changed_.NotifyOne();
  return outcome_;
}

Result<void> BlockLane::Finish() {
  {
    const MutexLock lock(mutex_);
    end_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
  const MutexLock lock(mutex_);
  return outcome_;
}

void BlockLane::Run() {
  for (;;) {
    ByteView block;
    bool wanted = false;
    {
      const MutexLock lock(mutex_);
      while (submitted_ == done_ && !end_) changed_.WaitIdle(mutex_);
      if (abandon_ || submitted_ == done_) return;
      block = BlockOf(done_).first(sizes_[done_ % kBlocks]);
      wanted = outcome_.ok();
    }
    Result<void> outcome = Ok();
    if (wanted) outcome = work_(block);
    const MutexLock lock(mutex_);
    ++done_;
    if (!outcome.ok()) outcome_ = std::move(outcome);
    if (!owner_waits_ || submitted_ - done_ > kBlocks / 2) continue;
    owner_waits_ = false;
    changed_.NotifyOne();
  }
}

}  // namespace penstock::emulator::api
