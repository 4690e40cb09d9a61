#include "emulator/store/sqlite/damage_record.h"

#include <algorithm>

#include "base/log/diagnostics.h"
#include "base/log/log.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent page_damaged("database.page_damaged");
constinit DiagnosticEvent damage_not_logged("database.page_damage_not_logged");

}  // namespace

bool DamageRecord::IsNew(std::uint32_t number) {
  const MutexLock lock(mutex_);
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  if (at != numbers_.end() && *at == number) return false;
  numbers_.insert(at, number);
  return true;
}

void DamageRecord::Add(std::uint32_t number, std::int64_t offset) noexcept {
  try {
    if (!IsNew(number)) return;
    page_damaged.Count();
    Log({LogLevel::kError,
         "database.page_damaged",
         {{"file", file_},
          {unit_, LogValue::Number(std::to_string(number))},
          {"offset", LogValue::Number(std::to_string(offset))}}});
  } catch (...) {
    damage_not_logged.Report(CurrentExceptionError());
  }
}

std::vector<std::uint32_t> DamageRecord::numbers() const {
  const MutexLock lock(mutex_);
  return numbers_;
}

void DamageRecord::Clear() noexcept {
  const MutexLock lock(mutex_);
  numbers_.clear();
}

}  // namespace penstock::emulator::store
