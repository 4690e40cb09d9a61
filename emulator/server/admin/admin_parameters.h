// Query parameters of the admin API. Errors are kInvalidArgument and name the parameter.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_PARAMETERS_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_PARAMETERS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {

// Refuses other parameters, and empty ones.
Result<void> AllowOnly(const AdminCall& call, std::initializer_list<std::string_view> allowed);

// An integer from `least` to `most`.
Result<std::uint64_t> WholeNumber(std::string_view name, std::string_view text,
                                  std::uint64_t most = kMaxExactInteger, std::uint64_t least = 0);
// nullopt: the parameter is missing or empty.
Result<std::optional<std::uint64_t>> WholeParameter(const AdminCall& call, std::string_view name,
                                                    std::uint64_t most = kMaxExactInteger,
                                                    std::uint64_t least = 0);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_PARAMETERS_H_
