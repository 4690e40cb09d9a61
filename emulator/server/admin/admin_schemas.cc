#include <string>

#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/schemas.h"

namespace penstock::emulator::server {
namespace {

Result<AdminReply> ReadSchema(Emulator&, const AdminCall& call) {
  std::string names;
  for (const Schema& schema : Schemas()) {
    if (schema.name == call.name) return AdminReply{std::string(schema.text)};
    names += (names.empty() ? "" : ", ") + std::string(schema.name);
  }
  return Error::Make(ErrorKind::kNotFound,
                     "unknown schema '" + call.name + "'; existing schemas: " + names);
}

constexpr AdminRoute kRoutes[] = {{"schemas/", "GET", ReadSchema}};

}  // namespace

std::span<const AdminRoute> SchemaRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
