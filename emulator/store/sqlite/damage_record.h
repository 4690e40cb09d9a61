// The damaged pages that this process found in a file.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_DAMAGE_RECORD_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_DAMAGE_RECORD_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Thread safety: any thread.
class DamageRecord {
 public:
  // `unit` is a string literal that says what the numbers of this file count: "page" or "frame".
  DamageRecord(std::string file, const char* unit) : file_(std::move(file)), unit_(unit) {}

  // Counts (event database.page_damaged) and logs each number once. If the log line cannot be
  // allocated, only the allocation failure is reported.
  void Add(std::uint32_t number, std::int64_t offset) noexcept;
  // Ascending.
  std::vector<std::uint32_t> numbers() const;
  void Clear() noexcept;

 private:
  bool IsNew(std::uint32_t number);

  const std::string file_;
  const char* const unit_;
  mutable Mutex mutex_;
  std::vector<std::uint32_t> numbers_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_DAMAGE_RECORD_H_
