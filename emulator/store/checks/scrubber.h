// Reads stored blobs in the background, at a bounded rate, so that damage is known before a client
// asks for the bytes.
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
  std::uint64_t bytes_per_second = 0;  // > 0
  // Stores the packed checksums of a blob that has none.
  std::function<Result<void>(std::int64_t id, const std::string& checksums)> adopt;
};

// Visits every blob in a file once, in the order of their numbers: each block that this process has
// not verified is verified, and a blob without checksums gets them. What is damaged goes to the
// log. Thread safety: one thread at a time.
class Scrubber {
 public:
  // When every blob was visited, the next look for new ones comes after this.
  static constexpr std::chrono::minutes kPause{10};

  Scrubber(ScrubberOptions options, std::shared_ptr<BlobRegistry> registry)
      : options_(std::move(options)), registry_(std::move(registry)) {}

  // Reads one block at most. How long to wait before the next call.
  std::chrono::nanoseconds Step() noexcept;

 private:
  std::chrono::nanoseconds TryStep();
  // Opens the next blob; false: there is none.
  Result<bool> Next();
  // The block at `at_`; its bytes.
  Result<std::uint64_t> ReadBlock();
  void Finish();

  const ScrubberOptions options_;
  const std::shared_ptr<BlobRegistry> registry_;
  std::unique_ptr<Connection> connection_;  // open during a pass
  std::int64_t last_id_ = -1;
  StoredBlobPtr blob_;    // null: the next one is to be opened
  std::uint64_t at_ = 0;  // of it
  BlockHasher hasher_;    // of one without checksums
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_SCRUBBER_H_
