// Charges the rows of a database in memory to a MemoryLimit.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_

#include <cstdint>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Pages that deletions free stay in the database. They remain charged and can only hold new rows.
//
// Thread safety: used by the writer only, which is one thread at a time.
class RowMemory {
 public:
  // Null: no limit, and nothing is measured.
  explicit RowMemory(MemoryLimit* limit) : limit_(limit), charge_(limit) {}

  // Call inside a transaction before it adds rows. MemoryLimit::Exceeded if the limit is
  // reached and the database has no free pages. The size is measured at every 16th call, so a
  // few writes may still succeed.
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
