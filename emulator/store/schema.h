// The tables, and how a connection to them is set up.
#ifndef PENSTOCK_EMULATOR_STORE_SCHEMA_H_
#define PENSTOCK_EMULATOR_STORE_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <string>

#include "emulator/store/sqlite.h"
#include "emulator/store/store.h"

namespace penstock::emulator::store {

inline constexpr std::int64_t kSchemaVersion = 1;  // in PRAGMA user_version

// Opens the database that only this process uses: checks it (kDataLoss when damaged, kInvalidArgument when its schema
// version is not ours), creates the tables of a new one. `path` ":memory:" is a new one in RAM.
Result<std::unique_ptr<Connection>> OpenDatabase(const std::string& path, Durability durability);
// A further connection to a database that OpenDatabase prepared; refuses to write.
Result<std::unique_ptr<Connection>> OpenReader(const std::string& path);

// A number that no earlier run of this store used and no later one will: 2^40 consecutive ones belong to the caller.
Result<std::int64_t> ReserveNumbers(Connection& connection);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SCHEMA_H_
