#include "emulator/store/concurrent_checkpoint.h"

#include <utility>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

// Holds a read transaction.
class Snapshot {
 public:
  explicit Snapshot(Connection& reader) : reader_(reader) {}
  ~Snapshot() { reader_.RollBack(); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  Result<void> Begin() {
    PENSTOCK_TRY(Query(reader_, "BEGIN").Run());
    // BEGIN alone takes no lock.
    return Query(reader_, "SELECT count(*) FROM sqlite_schema").Run();
  }

 private:
  Connection& reader_;
};

}  // namespace

Result<std::unique_ptr<ConcurrentCheckpoint>> ConcurrentCheckpoint::Open(
    const std::string& database) {
  PENSTOCK_ASSIGN(auto mover, OpenCheckpointer(database));
  PENSTOCK_ASSIGN(auto reader, OpenReader(database));
  return std::unique_ptr<ConcurrentCheckpoint>(
      new ConcurrentCheckpoint(std::move(mover), std::move(reader)));
}

Result<void> ConcurrentCheckpoint::Run() {
  Snapshot snapshot(*reader_);
  PENSTOCK_TRY(snapshot.Begin());
  return mover_->Checkpoint();
}

}  // namespace penstock::emulator::store
