#include "emulator/server/admin/admin_parameters.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::server {

Result<void> AllowOnly(const AdminCall& call, std::initializer_list<std::string_view> allowed) {
  for (const auto& [name, value] : call.query) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
      return FieldError(name, "is not a parameter of this request");
    if (value.empty()) return FieldError(name, "is empty; give it a value, or leave it out");
  }
  return Ok();
}

Result<std::uint64_t> WholeNumber(std::string_view name, std::string_view text, std::uint64_t most,
                                  std::uint64_t least) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  return FieldError(name, "must be an integer from " + std::to_string(least) + " to " +
                              std::to_string(most) + ", not '" + std::string(text) + "'");
}

Result<std::optional<std::uint64_t>> WholeParameter(const AdminCall& call, std::string_view name,
                                                    std::uint64_t most, std::uint64_t least) {
  const std::string_view text = call.Parameter(name);
  if (text.empty()) return std::optional<std::uint64_t>();
  PENSTOCK_ASSIGN(const std::uint64_t number, WholeNumber(name, text, most, least));
  return std::optional(number);
}

}  // namespace penstock::emulator::server
