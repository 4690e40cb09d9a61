// What the rows of a database in memory are charged to a MemoryLimit.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_

#include <cstdint>

#include "emulator/store/memory_limit.h"
#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Pages that deletions free stay with the database: they stay charged, and take new rows only.
//
// Thread safety: used by the writer only, which is one thread at a time.
class RowMemory {
 public:
  // Null: no limit, and nothing is measured.
  explicit RowMemory(MemoryLimit* limit) : limit_(limit), charge_(limit) {}

  // Called inside a transaction before it adds rows. MemoryLimit::Exceeded when the limit is
  // reached and the database has no free pages. The size is measured at every 16th call, so that a
  // few writes may still pass.
  Result<void> Admit(Connection& connection);

 private:
  Result<void> Measure(Connection& connection);

  MemoryLimit* const limit_;
  MemoryCharge charge_;
  std::uint64_t free_bytes_ = 0;  // inside the database's pages
  unsigned calls_ = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_
