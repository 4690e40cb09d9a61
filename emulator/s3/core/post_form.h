// The fields of a browser's form (PostObject). post/form.h parses them.
#ifndef PENSTOCK_EMULATOR_S3_CORE_POST_FORM_H_
#define PENSTOCK_EMULATOR_S3_CORE_POST_FORM_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace penstock::emulator::s3 {

struct FormField {
  std::string name;  // As in the first field of that name.
  // Raw bytes. Fields of the same name (case-insensitive) are joined by commas, as in S3.
  std::string value;
};

struct Form {
  std::vector<FormField> fields;  // The fields before the file, in order of first arrival.
  // Name of the file without directories. nullopt: the part has no file name.
  std::optional<std::string> file_name;

  // Returns the value of a field, case-insensitively.
  std::optional<std::string_view> Find(std::string_view name) const {
    for (const FormField& field : fields) {
      if (EqualsIgnoreCase(field.name, name)) return field.value;
    }
    return std::nullopt;
  }
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_POST_FORM_H_
