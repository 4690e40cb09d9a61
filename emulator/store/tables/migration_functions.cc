#include "emulator/store/tables/migration_functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "emulator/store/records/codec.h"
#include "emulator/store/sqlite/callback_exceptions.h"

namespace penstock::emulator::store {
namespace {

std::string_view BytesOf(sqlite3_value* value) {
  const void* const bytes = sqlite3_value_blob(value);
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void Fail(sqlite3_context* context) {
  sqlite3_result_error(context, "a packed column is damaged", -1);
}

void ReturnBytes(sqlite3_context* context, std::string_view bytes) {
  sqlite3_result_blob64(context, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

void AttributeOf(sqlite3_context* context, int, sqlite3_value** values) {
  const auto attributes = DecodeAttributes(BytesOf(values[0]));
  if (!attributes) return Fail(context);
  const std::string_view name = BytesOf(values[1]);
  const auto found = std::find_if(attributes->begin(), attributes->end(),
                                  [&](const auto& entry) { return entry.first == name; });
  const std::string_view value = found == attributes->end() ? std::string_view() : found->second;
  sqlite3_result_text64(context, value.empty() ? "" : value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

void AttributesWithout(sqlite3_context* context, int count, sqlite3_value** values) {
  auto attributes = DecodeAttributes(BytesOf(values[0]));
  if (!attributes) return Fail(context);
  for (int i = 1; i < count; ++i) {
    std::erase_if(*attributes,
                  [name = BytesOf(values[i])](const auto& entry) { return entry.first == name; });
  }
  ReturnBytes(context, EncodeAttributes(*attributes));
}

void PartsOfVersion4(sqlite3_context* context, int, sqlite3_value** values) {
  const auto parts = DecodePartsOfVersion3(BytesOf(values[0]));
  if (!parts) return Fail(context);
  ReturnBytes(context, EncodeParts(*parts));
}

using Function = void (*)(sqlite3_context*, int, sqlite3_value**);

template <Function function>
void CatchExceptions(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  try {
    function(context, count, values);
  } catch (...) {
    if (RanOutOfMemory("a migration function")) sqlite3_result_error_nomem(context);
    else sqlite3_result_error(context, "a migration function failed", -1);
  }
}

struct Definition {
  const char* name;
  int arguments;
  Function function;
};
constexpr std::array<Definition, 3> kFunctions{
    {{"attribute_of", 2, CatchExceptions<AttributeOf>},
     {"attributes_without", -1, CatchExceptions<AttributesWithout>},
     {"parts_of_version_4", 1, CatchExceptions<PartsOfVersion4>}}};

}  // namespace

Result<void> AddMigrationFunctions(Connection& connection) {
  for (const Definition& definition : kFunctions) {
    const int code =
        sqlite3_create_function_v2(connection.handle(), definition.name, definition.arguments,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, definition.function,
                                   nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return connection.LastError();
  }
  return Ok();
}

}  // namespace penstock::emulator::store
