// SQL functions for the migrations of schema.cc, which change packed columns (codec.h).
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_MIGRATION_FUNCTIONS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_MIGRATION_FUNCTIONS_H_

#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

// attribute_of(attributes, name): the attribute's value as text, or '' if it is absent.
// attributes_without(attributes, name, ...): the other attributes, packed.
// parts_of_version_4(parts): parts packed by version 3, repacked in the format of version 4.
// A statement fails if a column cannot be unpacked.
Result<void> AddMigrationFunctions(Connection& connection);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_MIGRATION_FUNCTIONS_H_
