// A second thread for one large body: it works on a block while the next one is received.
//
// MD5 takes longer than all else an upload costs. Beside the thread that receives and writes, it is
// the only cost that shows.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "emulator/s3/core/standby_thread.h"
#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Used by one thread, its owner.
class HashPipeline {
 public:
  static constexpr std::size_t kBlocks = 6;
  using Work = std::function<Result<void>(ByteView)>;

  // `thread` and `memory`, a multiple of kBlocks bytes, are the pipeline's until Finish or
  // destruction. `work` is called on the thread, for one block after the other, until it fails.
  HashPipeline(StandbyThread& thread, MutableByteView memory, Work work);
  ~HashPipeline();
  HashPipeline(const HashPipeline&) = delete;
  HashPipeline& operator=(const HashPipeline&) = delete;

  // Memory for the next block. Waits while the pipeline still works on it, and then until half of
  // the blocks are free: waking the owner costs the pipeline a few per cent of its work on a block,
  // and on a busy machine its processor.
  MutableByteView NextBlock();
  // Hands over the first `bytes` of what NextBlock gave. The owner may go on reading them until
  // NextBlock gives them out again. The error of an earlier block, if there was one.
  Result<void> Submit(std::size_t bytes);
  // Waits for all work to be done: its first error.
  Result<void> Finish();

 private:
  void Run();
  MutableByteView BlockOf(std::uint64_t number) const;

  const MutableByteView memory_;
  const Work work_;
  Mutex mutex_;
  CondVar changed_;  // at most one thread waits: the owner for room, or the pipeline for blocks
  bool owner_waits_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t submitted_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // blocks so far
  std::uint64_t done_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::size_t sizes_[kBlocks] PENSTOCK_GUARDED_BY(mutex_) = {};
  bool end_ PENSTOCK_GUARDED_BY(mutex_) = false;      // nothing more will be submitted
  bool abandon_ PENSTOCK_GUARDED_BY(mutex_) = false;  // nor does what was submitted matter any more
  Result<void> outcome_ PENSTOCK_GUARDED_BY(mutex_) = Ok();
  StandbyThread* thread_;  // null once finished
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_
