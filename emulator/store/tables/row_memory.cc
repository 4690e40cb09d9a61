#include "emulator/store/tables/row_memory.h"

#include <algorithm>

namespace penstock::emulator::store {
namespace {

constexpr std::uint64_t kPageOverhead = 256;  // bytes of SQLite's page cache per page
// More than one row usually adds: its overflow pages, and a page for each split of a tree.
constexpr std::uint64_t kRowBytes = 64 << 10;
constexpr std::uint64_t kLargestReserve = 16 << 20;

Result<std::uint64_t> Number(Connection& connection, const char* pragma) {
  Query query(connection, pragma);
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? static_cast<std::uint64_t>(query.Int(0)) : 0;
}

}  // namespace

RowMemory::RowMemory(MemoryLimit* limit) : limit_(limit), charge_(limit) {
  if (limit != nullptr)
    reserve_bytes_ = std::clamp(limit->limit_bytes() / 32, 2 * kRowBytes, kLargestReserve);
}

Result<void> RowMemory::Admit(Connection& connection, std::uint64_t more_bytes) {
  if (limit_ == nullptr) return Ok();
  PENSTOCK_TRY(Measure(connection));
  // Other rows follow then, of another size perhaps. Not earlier: the same rows may need more pages
  // when they are stored again, since pages are packed less densely then.
  if (limit_->used_bytes() <= limit_->limit_bytes() / 4) rows_of_reserve_ = 0;
  const std::uint64_t bytes = kRowBytes + more_bytes;
  const std::uint64_t reserve = rows_of_reserve_ > 0 ? 0 : reserve_bytes_ - kRowBytes;
  if (!limit_->HasRoomForRecords(bytes + reserve)) return limit_->Exceeded(bytes, reserve);
  if (rows_of_reserve_ > 0) --rows_of_reserve_;
  return Ok();
}

void RowMemory::Release(WriteTransaction& transaction, std::uint64_t rows) {
  if (limit_ == nullptr || rows == 0) return;
  // Pages are returned by the commit.
  transaction.AfterCommit([this, rows, &connection = transaction.connection()] {
    rows_of_reserve_ += rows;
    static_cast<void>(Measure(connection));  // else at the next row
  });
}

Result<void> RowMemory::Measure(Connection& connection) {
  if (page_bytes_ == 0) {
    PENSTOCK_ASSIGN(page_bytes_, Number(connection, "PRAGMA page_size"));
    page_bytes_ += kPageOverhead;
  }
  PENSTOCK_ASSIGN(const std::uint64_t pages, Number(connection, "PRAGMA page_count"));
  charge_.SetAnyway(pages * page_bytes_);
  return Ok();
}

}  // namespace penstock::emulator::store
