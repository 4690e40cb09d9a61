// The store's own thread, in dir mode: work that no request should wait for.
//
// It sweeps away what a crash left behind and moves committed pages from the write-ahead log into
// the database file. A commit that would have to do that itself waits for the disk.
#ifndef PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_
#define PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "emulator/store/sqlite/connection_pool.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct HousekeeperOptions {
  std::string database;         // path
  int checkpoint_pages = 8192;  // of log, from which on a checkpoint is worth while
  // from which on a commit does its own checkpoint: the thread cannot keep up
  int largest_log_pages = 65'536;
  // Work in small steps beside the above, on the housekeeper's thread; returns how long to wait
  // before the next call. Empty: none.
  std::function<std::chrono::nanoseconds()> step = {};
  std::chrono::nanoseconds first_step_after{0};
};

// Thread safety: any thread.
class Housekeeper {
 public:
  // `writer` holds the one connection that writes, and outlives the housekeeper; `sweep` runs once,
  // first, and returns early when its argument becomes true.
  Housekeeper(HousekeeperOptions options, ConnectionPool& writer,
              std::function<void(const std::atomic<bool>&)> sweep);
  // Ends its thread; a checkpoint in progress is finished.
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  // After each commit on `connection`: the log now has so many pages.
  void Committed(Connection& connection, int log_pages);

 private:
  void Work();
  // Until a checkpoint is wanted, the next step is due or the housekeeper ends.
  void AwaitWork(MonotonicTime next_step);
  void Checkpoint();

  const HousekeeperOptions options_;
  ConnectionPool& writer_;
  const std::function<void(const std::atomic<bool>&)> sweep_;
  std::unique_ptr<Connection> own_;  // the thread's; opened when first needed
  std::atomic<bool> stopping_{false};
  std::atomic<bool> wanted_{false};
  Mutex mutex_;
  CondVar news_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_HOUSEKEEPER_H_
