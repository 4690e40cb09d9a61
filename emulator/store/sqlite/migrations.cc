#include "emulator/store/sqlite/migrations.h"

#include <string>

namespace penstock::emulator::store {

Result<std::int64_t> SchemaVersionOf(Connection& connection) {
  Query query(connection, "PRAGMA user_version");
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

Result<void> Migrate(Connection& connection, std::span<const Migration> steps) {
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(connection));
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    Result<void> done =
        connection.Execute(std::string("BEGIN IMMEDIATE;") + step.sql +
                           ";PRAGMA user_version=" + std::to_string(step.version) + ";COMMIT;");
    if (done.ok()) continue;
    connection.RollBack();
    return done;
  }
  return Ok();
}

}  // namespace penstock::emulator::store
