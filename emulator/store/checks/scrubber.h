// Reads stored blobs in the background at a limited rate, to detect damage before a client
// reads the data.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_SCRUBBER_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_SCRUBBER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/blobs/block_checksums.h"
#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

struct ScrubberOptions {
  std::string database;                // path
  std::uint64_t bytes_per_second = 0;  // must be > 0
  // Stores the packed checksums of a blob that has none.
  std::function<Result<void>(std::int64_t id, const std::string& checksums)> adopt;
};

// Visits every blob in a file once, in the order of their numbers. Verifies each block that this
// process has not verified, and computes the checksums of a blob that has none. Damage is reported
// in the log. Thread safety: one thread at a time.
class Scrubber {
 public:
  // Delay between the end of a pass and the next search for new blobs.
  static constexpr std::chrono::minutes kPause{10};

  Scrubber(ScrubberOptions options, std::shared_ptr<BlobRegistry> registry)
      : options_(std::move(options)), registry_(std::move(registry)) {}

  // Reads at most one block. Returns the delay before the next call.
  std::chrono::nanoseconds Step() noexcept;

 private:
  std::chrono::nanoseconds TryStep();
  // Opens the next blob; false: there is none.
  Result<bool> Next();
  // Reads the block at `at_` and returns its size.
  Result<std::uint64_t> ReadBlock();
  void Finish();

  const ScrubberOptions options_;
  const std::shared_ptr<BlobRegistry> registry_;
  std::unique_ptr<Connection> connection_;  // open during a pass
  std::int64_t last_id_ = -1;
  StoredBlobPtr blob_;    // null: the next one must be opened
  std::uint64_t at_ = 0;  // offset in the blob
  BlockHasher hasher_;    // for a blob without checksums
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_SCRUBBER_H_
