// The background thread of a store with a directory: work that requests must not wait for.
//
// It deletes files that a crash left behind and moves committed pages from the write-ahead log to
// the database file. A commit that did this itself would wait for the disk.
#ifndef PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_
#define PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "emulator/store/concurrent_checkpoint.h"
#include "emulator/store/sqlite/connection_pool.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct HousekeeperOptions {
  std::string database;         // path
  int checkpoint_pages = 8192;  // log length, in pages, that starts a checkpoint
  // Log length at which a commit runs its own checkpoint because the thread cannot keep up.
  int largest_log_pages = 65'536;
  // Additional work in small steps, on the housekeeper's thread. Returns the delay
  // before the next call. Empty: none.
  std::function<std::chrono::nanoseconds()> step = {};
  std::chrono::nanoseconds first_step_after{0};
};

// Thread safety: any thread.
class Housekeeper {
 public:
  // `writer` lends the only write connection and must outlive the housekeeper. `sweep` runs once,
  // first, and returns early when its argument becomes true.
  Housekeeper(HousekeeperOptions options, ConnectionPool& writer,
              std::function<void(const std::atomic<bool>&)> sweep);
  // Stops the thread after a checkpoint in progress.
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  // Call after each commit on `connection`, with the number of pages in the log.
  void Committed(Connection& connection, int log_pages);

 private:
  void Work();
  // Waits until a checkpoint is requested, the next step is due or the housekeeper stops.
  void AwaitWork(MonotonicTime next_step);
  void Checkpoint();

  const HousekeeperOptions options_;
  ConnectionPool& writer_;
  const std::function<void(const std::atomic<bool>&)> sweep_;
  std::unique_ptr<ConcurrentCheckpoint> own_;  // used by the thread only; opened when first needed
  std::atomic<bool> stopping_{false};
  std::atomic<bool> wanted_{false};
  Mutex mutex_;
  CondVar news_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_
