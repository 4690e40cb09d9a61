#include "emulator/s3/checksums/hash_pipeline.h"

#include <utility>

#include "base/log/caught.h"
#include "penstock/base/check.h"

namespace penstock::emulator::s3 {

HashPipeline::HashPipeline(message::StandbyThread& thread, MutableByteView memory, Work work)
    : memory_(memory), work_(std::move(work)), thread_(&thread) {
  PENSTOCK_CHECK(!memory.empty() && memory.size() % kBlocks == 0);
  thread_->Begin([this] { Run(); });
}

HashPipeline::~HashPipeline() {
  if (thread_ == nullptr) return;
  {
    const MutexLock lock(mutex_);
    end_ = abandon_ = true;
  }
  changed_.NotifyAll();
  thread_->Await();
}

MutableByteView HashPipeline::BlockOf(std::uint64_t number) const {
  const std::size_t size = memory_.size() / kBlocks;
  return memory_.subspan(static_cast<std::size_t>(number % kBlocks) * size, size);
}

MutableByteView HashPipeline::NextBlock() {
  const MutexLock lock(mutex_);
  owner_waits_ = submitted_ - done_ == kBlocks;
  while (owner_waits_) changed_.WaitIdle(mutex_);
  return BlockOf(submitted_);
}

Result<void> HashPipeline::Submit(std::size_t bytes) {
  {
    const MutexLock lock(mutex_);
    sizes_[submitted_ % kBlocks] = bytes;
    ++submitted_;
    if (!outcome_.ok()) return outcome_;
  }
  changed_.NotifyOne();  // Outside the lock, so that the woken thread does not block on it.
  return Ok();
}

Result<void> HashPipeline::Finish() {
  {
    const MutexLock lock(mutex_);
    end_ = true;
  }
  changed_.NotifyAll();
  thread_->Await();
  thread_ = nullptr;
  const MutexLock lock(mutex_);
  return outcome_;
}

void HashPipeline::Run() {
  for (;;) {
    ByteView block;
    bool run_work = false;
    {
      const MutexLock lock(mutex_);
      while (submitted_ == done_ && !end_) changed_.WaitIdle(mutex_);
      if (abandon_ || submitted_ == done_) return;
      block = BlockOf(done_).first(sizes_[done_ % kBlocks]);
      run_work = outcome_.ok();
    }
    Result<void> outcome = Ok();
    if (run_work)
      outcome = Caught("work on a block of a request body", [&] { return work_(block); });
    bool has_room = false;
    {
      const MutexLock lock(mutex_);
      ++done_;
      if (!outcome.ok()) outcome_ = std::move(outcome);
      has_room = owner_waits_ && submitted_ - done_ <= kBlocks / 2;
      if (has_room) owner_waits_ = false;
    }
    if (has_room) changed_.NotifyOne();
  }
}

}  // namespace penstock::emulator::s3
