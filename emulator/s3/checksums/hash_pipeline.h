// A second thread for one large body: it processes a block while the next one is received.
//
// MD5 is the most expensive step of an upload. The owner receives and writes in parallel with it.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "emulator/message/standby_thread.h"
#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Thread safety: used by one thread, the owner.
class HashPipeline {
 public:
  static constexpr std::size_t kBlocks = 6;
  using Work = std::function<Result<void>(ByteView)>;

  // `thread` and `memory` (a multiple of kBlocks bytes) belong to the pipeline until Finish or
  // destruction. `work` runs on `thread`, one block at a time, until it fails.
  HashPipeline(message::StandbyThread& thread, MutableByteView memory, Work work);
  ~HashPipeline();
  HashPipeline(const HashPipeline&) = delete;
  HashPipeline& operator=(const HashPipeline&) = delete;

  // Returns memory for the next block. If all blocks are in use, waits until half of them are free.
  // This keeps wake-ups rare. Each costs the pipeline a few percent of the time for a block, and on
  // a busy machine the pipeline may lose its processor.
  MutableByteView NextBlock();
  // Submits the first `bytes` of the block that NextBlock returned. The owner may read them until
  // NextBlock returns the same memory. Returns the error of an earlier block, if any.
  Result<void> Submit(std::size_t bytes);
  // Waits for all work. Returns its first error.
  Result<void> Finish();

 private:
  void Run();
  MutableByteView BlockOf(std::uint64_t number) const;

  const MutableByteView memory_;
  const Work work_;
  Mutex mutex_;
  CondVar changed_;  // Signals free blocks to the owner, or submitted blocks to the thread.
  bool owner_waits_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t submitted_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // Number of blocks.
  std::uint64_t done_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::size_t sizes_[kBlocks] PENSTOCK_GUARDED_BY(mutex_) = {};
  bool end_ PENSTOCK_GUARDED_BY(mutex_) = false;      // Nothing more will be submitted.
  bool abandon_ PENSTOCK_GUARDED_BY(mutex_) = false;  // Submitted blocks need not be processed.
  Result<void> outcome_ PENSTOCK_GUARDED_BY(mutex_) = Ok();
  message::StandbyThread* thread_;  // Null once finished.
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_HASH_PIPELINE_H_
