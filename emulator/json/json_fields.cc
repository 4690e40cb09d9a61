#include "emulator/json/json_fields.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "base/dates.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator {
namespace {

Error NotJsonFrom(std::size_t position, std::size_t text_bytes) {
  const std::string position_text =
      std::to_string(std::min(position, text_bytes)) + " of " + std::to_string(text_bytes);
  return Error::Make(ErrorKind::kInvalidArgument,
                     "invalid JSON: syntax error or unexpected end at byte " + position_text);
}

// Checks a text before the document is built. Finds what the parser itself accepts: a duplicate
// member (the parser keeps the last), and more nesting, members or values than the limits allow.
// Only a checked text is built, because lookups in Json objects are linear in their members.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  // The first problem. `problem_` is empty if the text is valid and within the limits.
  Error TakeError(std::size_t text_bytes) && {
    if (problem_) return std::move(*problem_);
    return duplicate_ ? std::move(*duplicate_) : NotJson(text_bytes);
  }
  bool has_error() const { return problem_ || duplicate_; }

  bool null() override { return BeginValue(); }
  bool boolean(bool) override { return BeginValue(); }
  bool number_integer(number_integer_t) override { return BeginValue(); }
  bool number_unsigned(number_unsigned_t) override { return BeginValue(); }
  bool number_float(number_float_t, const string_t&) override { return BeginValue(); }
  bool string(string_t&) override { return BeginValue(); }
  bool binary(binary_t&) override { return BeginValue(); }
  bool start_object(std::size_t) override { return BeginValue() && Open(false); }
  bool start_array(std::size_t) override { return BeginValue() && Open(true); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override { return NoteName(name); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    out_of_range_ = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    position_ = position;
    problem_ = std::nullopt;
    duplicate_ = std::nullopt;
    return false;
  }

 private:
  struct Level {
    bool is_array = false;
    std::size_t begun = 0;  // values of an array
    std::string name = {};  // of the member that is being read
    std::unordered_set<std::string> names = {};
  };

  bool BeginValue() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().begun;
    if (++values_ <= kMaxJsonValues) return true;
    return Stop("", "the document has more than " + std::to_string(kMaxJsonValues) +
                        " values; send it in several parts");
  }
  bool Open(bool is_array) {
    levels_.push_back({.is_array = is_array});
    if (levels_.size() <= kMaxJsonDepth) return true;
    return Stop("", "objects and lists are nested more than " + std::to_string(kMaxJsonDepth) +
                        " deep; flatten the document");
  }
  bool Close() {
    levels_.pop_back();
    return true;
  }
  // A duplicate does not stop the pass: a syntax error after it takes precedence.
  bool NoteName(const std::string& name) {
    Level& level = levels_.back();
    if (!level.names.insert(name).second && !duplicate_) {
      duplicate_ = FieldError(Place(), "the member '" + name + "' is given twice; name each once");
    }
    if (level.names.size() > kMaxJsonMembers) {
      return Stop(Place(), "the object has more than " + std::to_string(kMaxJsonMembers) +
                               " members; remove some");
    }
    level.name = name;
    return true;
  }
  bool Stop(std::string_view place, std::string problem) {
    problem_ = FieldError(place, std::move(problem));
    return false;
  }
  Error NotJson(std::size_t text_bytes) const {
    if (out_of_range_)
      return Error::Make(ErrorKind::kInvalidArgument, "invalid JSON: a number is out of range");
    return NotJsonFrom(position_, text_bytes);
  }
  // The place of the current object.
  std::string Place() const {
    std::string place;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      if (level.is_array) {
        place += "[" + std::to_string(level.begun - 1) + "]";
      } else {
        place += (place.empty() ? "" : ".") + level.name;
      }
    }
    return place;
  }

  std::vector<Level> levels_;
  std::size_t values_ = 0;
  std::size_t position_ = 0;
  bool out_of_range_ = false;
  std::optional<Error> problem_;    // an exceeded limit; stops the pass
  std::optional<Error> duplicate_;  // the first duplicate
};

}  // namespace

Result<void> CheckJsonText(std::string_view text) {
  Checker checker;
  if (!Json::sax_parse(text, &checker) || checker.has_error())
    return std::move(checker).TakeError(text.size());
  // The library treats a NUL as the end of the text. Valid JSON contains none.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return NotJsonFrom(nul + 1, text.size());
  return Ok();
}

Result<Json> ParseJson(std::string_view text) {
  PENSTOCK_ASSIGN(JsonTree tree, ParseJsonTree(text));
  return std::move(tree.root());
}

Error FieldError(std::string_view place, std::string problem) {
  return FieldError(ErrorKind::kInvalidArgument, place, std::move(problem));
}

Error FieldError(ErrorKind kind, std::string_view place, std::string problem) {
  return Error::Make(
      kind, place.empty() ? std::move(problem) : std::string(place) + ": " + std::move(problem));
}

Result<JsonFields> JsonFields::Read(const Json& json, std::string place,
                                    std::initializer_list<std::string_view> known) {
  if (!json.is_object()) return FieldError(place, "must be a JSON object");
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string takes;
    for (const std::string_view field : known)
      takes += (takes.empty() ? "" : ", ") + std::string(field);
    return FieldError(
        place, "unknown field '" + name + "'; known fields: " + (takes.empty() ? "none" : takes));
  }
  return JsonFields(json, std::move(place));
}

const Json* JsonFields::Find(std::string_view name) const {
  const auto found = json_->find(std::string(name));
  return found == json_->end() ? nullptr : &*found;
}

std::string JsonFields::Place(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

Result<std::optional<std::string>> JsonFields::Text(std::string_view name) const {
  const Json* const value = Find(name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return FieldError(Place(name), "must be a string");
  return std::optional<std::string>(value->get<std::string>());
}

Result<std::optional<bool>> JsonFields::Flag(std::string_view name) const {
  const Json* const value = Find(name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_boolean()) return FieldError(Place(name), "must be true or false");
  return std::optional<bool>(value->get<bool>());
}

Result<std::optional<double>> JsonFields::Number(std::string_view name) const {
  const Json* const value = Find(name);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return FieldError(Place(name), "must be a number");
  return std::optional<double>(value->get<double>());
}

Result<std::optional<std::uint64_t>> JsonFields::Whole(std::string_view name,
                                                       std::uint64_t most) const {
  PENSTOCK_ASSIGN(const std::optional<double> number, Number(name));
  if (!number) return std::optional<std::uint64_t>();
  if (*number > static_cast<double>(most))
    return OutOfRange(name, "at most " + std::to_string(most));
  if (!(*number >= 0) || *number != std::floor(*number))
    return OutOfRange(name, "a non-negative integer");
  return std::optional(static_cast<std::uint64_t>(*number));
}

Result<std::optional<std::chrono::nanoseconds>> JsonFields::Seconds(std::string_view name) const {
  PENSTOCK_ASSIGN(const std::optional<double> number, Number(name));
  if (!number) return std::optional<std::chrono::nanoseconds>();
  if (!(*number >= 0 && *number <= 1e9)) return OutOfRange(name, "0 to 1000000000 seconds");
  return std::optional(std::chrono::nanoseconds(std::llround(*number * 1e9)));
}

Result<std::optional<WallTime>> JsonFields::Time(std::string_view name) const {
  PENSTOCK_ASSIGN(const std::optional<std::string> text, Text(name));
  if (!text) return std::optional<WallTime>();
  const std::optional<WallTime> time = ParseIso8601(*text);
  if (!time)
    return FieldError(Place(name), "invalid date '" + *text +
                                       "': expected ISO 8601, for example 2026-01-02T03:04:05Z");
  return time;
}

Result<std::string> JsonFields::RequiredText(std::string_view name) const {
  PENSTOCK_ASSIGN(std::optional<std::string> text, Text(name));
  if (!text) return FieldError(place_, "the field '" + std::string(name) + "' is missing");
  if (text->empty()) return FieldError(Place(name), "must not be empty");
  return std::move(*text);
}

Error JsonFields::OutOfRange(std::string_view name, std::string_view range) const {
  const Json* const value = Find(name);  // strings are not quoted: they may be secrets
  const std::string given =
      value != nullptr && value->is_number() ? ", not " + value->dump() : std::string();
  return FieldError(Place(name), "must be " + std::string(range) + given);
}

Result<const Json*> JsonFields::List(std::string_view name) const {
  const Json* const value = Find(name);
  if (value != nullptr && !value->is_array()) return FieldError(Place(name), "must be a list");
  return value;
}

}  // namespace penstock::emulator
