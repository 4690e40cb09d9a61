// The JSON Schemas of the emulator's documents: docs/*.schema.json, embedded by the build.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_SCHEMAS_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_SCHEMAS_H_

#include <span>
#include <string_view>

namespace penstock::emulator::server {

struct Schema {
  std::string_view name;  // "faults" for docs/faults.schema.json
  std::string_view text;
};

std::span<const Schema> Schemas();

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_SCHEMAS_H_
