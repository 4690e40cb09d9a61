// Charges the rows of a database in memory to a MemoryLimit.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_

#include <cstdint>

#include "emulator/store/commits/write_queue.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// The pages of the database are charged, since they are what uses memory. The database must return
// the pages that deletions free (OpenDatabase: auto_vacuum). Free bytes within pages count as used,
// so rows can be deleted without an effect on the charge. Therefore rows are refused while a
// reserve is left, which only rows that follow a deletion may use (decision 0112).
//
// Thread safety: used by the writer only, which is one thread at a time.
class RowMemory {
 public:
  // Null: no limit, and nothing is measured.
  explicit RowMemory(MemoryLimit* limit);

  // Call inside a transaction before it adds a row. MemoryLimit::Exceeded if the limit is reached.
  // `more_bytes`: what the row needs beyond 64 KiB.
  Result<void> Admit(Connection& connection, std::uint64_t more_bytes = 0);
  // Call in a transaction that deletes `rows` objects, uploads, buckets or settings of buckets.
  void Release(WriteTransaction& transaction, std::uint64_t rows);

 private:
  Result<void> Measure(Connection& connection);

  MemoryLimit* const limit_;
  MemoryCharge charge_;
  std::uint64_t reserve_bytes_ = 0;
  std::uint64_t page_bytes_ = 0;       // of memory; 0: not measured
  std::uint64_t rows_of_reserve_ = 0;  // deletions, less the rows since then
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_ROW_MEMORY_H_
