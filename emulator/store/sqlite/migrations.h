// How a database of an older version becomes one of this build's. What the steps are is
// schema.cc's.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_

#include <cstdint>
#include <span>

#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

// Brings a database of version `version` - 1 to `version`. Never changed once released.
struct Migration {
  std::int64_t version;
  const char* sql;  // statements, without BEGIN and COMMIT
};

// The version in PRAGMA user_version; 0: none was ever set.
Result<std::int64_t> SchemaVersionOf(Connection& connection);

// Runs the steps that are newer than the database, in order, each in one transaction with its
// version number: after a crash the database is of the version before or of that one. `steps`
// ascend by one.
Result<void> Migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_
