#include "emulator/store/tables/row_memory.h"

namespace penstock::emulator::store {
namespace {

constexpr unsigned kCallsPerMeasurement = 16;
constexpr std::uint64_t kPageOverhead = 256;  // bytes of SQLite's page cache per page
// More than the writes between two measurements usually add.
constexpr std::uint64_t kRoomForRows = 1 << 20;

Result<std::uint64_t> Number(Connection& connection, const char* pragma) {
  Query query(connection, pragma);
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? static_cast<std::uint64_t>(query.Int(0)) : 0;
}

}  // namespace

Result<void> RowMemory::Admit(Connection& connection) {
  if (limit_ == nullptr) return Ok();
  if (calls_++ % kCallsPerMeasurement == 0) PENSTOCK_TRY(Measure(connection));
  if (limit_->HasRoomForRecords() || free_bytes_ >= kRoomForRows) return Ok();
  PENSTOCK_TRY(Measure(connection));  // deletions may have freed pages
  if (limit_->HasRoomForRecords() || free_bytes_ >= kRoomForRows) return Ok();
  return limit_->Exceeded(0);
}

Result<void> RowMemory::Measure(Connection& connection) {
  PENSTOCK_ASSIGN(const std::uint64_t page_bytes, Number(connection, "PRAGMA page_size"));
  PENSTOCK_ASSIGN(const std::uint64_t pages, Number(connection, "PRAGMA page_count"));
  PENSTOCK_ASSIGN(const std::uint64_t free_pages, Number(connection, "PRAGMA freelist_count"));
  charge_.SetAnyway(pages * (page_bytes + kPageOverhead));
  free_bytes_ = free_pages * page_bytes;
  return Ok();
}

}  // namespace penstock::emulator::store
