// SQL functions that steps of schema.cc call to change packed columns (codec.h).
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATION_FUNCTIONS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATION_FUNCTIONS_H_

#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

// attribute_of(attributes, name): the attribute's value as text, '' where there is none.
// attributes_without(attributes, name, ...): the others, packed.
// parts_of_version_4(parts): what version 3 packed, packed as version 4 does.
// A column that cannot be unpacked ends the statement with an error.
Result<void> AddMigrationFunctions(Connection& connection);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATION_FUNCTIONS_H_
