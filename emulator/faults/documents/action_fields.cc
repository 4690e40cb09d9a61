#include "emulator/faults/documents/action_fields.h"

#include <algorithm>
#include <cstdio>

#include "base/xml/xml_scan.h"

namespace penstock::emulator::faults {
namespace {

// A token of RFC 9110, section 5.6.2.
bool IsToken(std::string_view text) {
  constexpr std::string_view kFits =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~";
  return !text.empty() && text.find_first_not_of(kFits) == std::string_view::npos;
}

Error InvalidHeaderName(const std::string& place, const std::string& name) {
  return FieldError(
      place,
      "'" + name + "' is not a header name: only letters, digits and !#$%&'*+-.^_`|~ are allowed");
}

}  // namespace

bool IsHeaderText(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Result<void> ReadXmlText(const JsonFields& fields, std::string_view name, std::string& into) {
  PENSTOCK_ASSIGN(const std::optional<std::string> text, fields.Text(name));
  if (!text) return Ok();
  if (const auto foreign = internal::FindForeignCharacterInText(*text)) {
    char character[16];
    std::snprintf(character, sizeof character, "U+%04X", *foreign);
    return FieldError(fields.Place(name), "contains " + std::string(character) +
                                              ", which XML 1.0 does not allow; remove it");
  }
  into = *text;
  return Ok();
}

Result<void> ReadHeaders(const JsonFields& fields, std::string_view name,
                         std::vector<std::pair<std::string, std::string>>& into) {
  const Json* const json = fields.Find(name);
  if (json == nullptr) return Ok();
  if (!json->is_object())
    return FieldError(fields.Place(name), "must be an object of header names and values");
  for (const auto& [header, value] : json->items()) {
    if (!IsToken(header)) return InvalidHeaderName(fields.Place(name), header);
    const bool sane = value.is_string() && IsHeaderText(value.get_ref<const std::string&>());
    if (!sane)
      return FieldError(fields.Place(name) + "." + header, "must be a string without line breaks");
    into.emplace_back(header, value.get<std::string>());
  }
  return Ok();
}

Result<void> ReadHeaderNames(const JsonFields& fields, std::string_view name,
                             std::vector<std::string>& into) {
  PENSTOCK_ASSIGN(const Json* json, fields.List(name));
  if (json == nullptr) return Ok();
  for (const Json& value : *json) {
    if (!value.is_string()) return FieldError(fields.Place(name), "must be a list of header names");
    if (!IsToken(value.get_ref<const std::string&>()))
      return InvalidHeaderName(fields.Place(name), value.get<std::string>());
    into.push_back(value.get<std::string>());
  }
  return Ok();
}

}  // namespace penstock::emulator::faults
