#include "emulator/server/process/setting_sources.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "emulator/server/process/config_file.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kConfig = "config";

// Options of which at most one is used.
constexpr std::array kAlternatives = {
    std::pair<std::string_view, std::string_view>{"data", "memory"},
    std::pair<std::string_view, std::string_view>{"secret-key", "secret-key-file"},
    std::pair<std::string_view, std::string_view>{"admin-token", "admin-token-file"},
};

Error Usage(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

std::string Replaced(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

// The options that sources of higher precedence have set.
class Taken {
 public:
  void Add(const std::string& option) { names_.insert(option); }
  bool Has(const std::string& option) const {
    const auto excludes = [&](const auto& pair) {
      return (pair.first == option && names_.contains(std::string(pair.second))) ||
             (pair.second == option && names_.contains(std::string(pair.first)));
    };
    return names_.contains(option) ||
           std::any_of(kAlternatives.begin(), kAlternatives.end(), excludes);
  }

 private:
  std::set<std::string> names_;
};

std::string OptionOf(const std::string& argument) {
  if (!argument.starts_with("--")) return {};
  return argument.substr(
      2, argument.find('=') == std::string::npos ? std::string::npos : argument.find('=') - 2);
}

// Returns the last value of --config; empty: none.
std::string ConfigPath(const std::vector<std::string>& arguments) {
  std::string path;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (OptionOf(arguments[i]) != kConfig) continue;
    const std::size_t equals = arguments[i].find('=');
    if (equals != std::string::npos) path = arguments[i].substr(equals + 1);
    else if (i + 1 < arguments.size()) path = arguments[i + 1];
  }
  return path;
}

// Returns the text of a string, number or Boolean; nullopt for other values.
std::optional<std::string> TextOf(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (!node.is_value() || node.is_date() || node.is_time() || node.is_date_time())
    return std::nullopt;
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value;
  });
  return out.str();
}

Result<std::vector<std::string>> ValuesOf(const std::string& place, const toml::node& node) {
  std::vector<std::string> values;
  const auto* const list = node.as_array();
  const std::size_t count = list == nullptr ? 1 : list->size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::string> text = TextOf(list == nullptr ? node : *list->get(i));
    if (!text) {
      return Usage(place +
                   " must be a string, a number, true or false, or a list of these for an option "
                   "that can be repeated");
    }
    if (text->empty()) return Usage(place + " is empty; give it a value, or remove the key");
    values.push_back(*text);
  }
  return values;
}

class Sources {
 public:
  explicit Sources(std::vector<std::string> arguments) {
    settings_.arguments = std::move(arguments);
    for (const std::string& argument : settings_.arguments) taken_.Add(OptionOf(argument));
  }

  Result<void> AddVariables(const std::vector<std::string>& options,
                            const Environment& environment) {
    const Taken before = taken_;
    for (const std::string& option : options) {
      const std::string name = VariableOf(option);
      const std::optional<std::string> value = environment(name);
      if (!value || before.Has(option)) continue;
      if (value->empty()) return Usage(name + " is set but empty; give it a value, or unset it");
      Add(option, {*value}, name);
    }
    return Ok();
  }

  Result<void> AddFile(const std::vector<std::string>& options) {
    const std::string path = ConfigPath(settings_.arguments);
    if (path.empty()) return Ok();
    PENSTOCK_ASSIGN(
        const std::string text,
        ReadConfigFile({.what = "configuration file", .path = path, .fix = "name a TOML file"}));
    const toml::parse_result document = toml::parse(text, path);
    const std::string what = "configuration file '" + path + "'";
    if (!document) {
      return Usage(what + ", line " + std::to_string(document.error().source().begin.line) +
                   ": not TOML: " + std::string(document.error().description()));
    }
    const Taken before = taken_;
    for (const auto& [key, node] : document.table()) {
      const std::string place = what + ", key '" + std::string(key.str()) + "'";
      const std::string option = Replaced(std::string(key.str()), '_', '-');
      const bool known = option != kConfig && key.str().find('-') == std::string_view::npos &&
                         std::find(options.begin(), options.end(), option) != options.end();
      if (!known) {
        return Usage(place +
                     " is unknown; keys are the names of options with '_' instead of '-', such as "
                     "memory_limit, see --help");
      }
      PENSTOCK_ASSIGN(const std::vector<std::string> values, ValuesOf(place, node));
      if (!before.Has(option)) Add(option, values, place);
    }
    return Ok();
  }

  Settings Take() { return std::move(settings_); }

 private:
  void Add(const std::string& option, const std::vector<std::string>& values,
           const std::string& source) {
    for (const std::string& value : values)
      settings_.arguments.push_back("--" + option + "=" + value);
    settings_.sources[option] = source;
    taken_.Add(option);
  }

  Settings settings_;
  Taken taken_;
};

}  // namespace

std::string VariableOf(std::string_view option) {
  std::string name = "PENSTOCK_EMULATOR_";
  for (const char c : option)
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Result<Settings> AddOtherSources(std::vector<std::string> arguments,
                                 const std::vector<std::string>& options,
                                 const Environment& environment) {
  Sources sources(std::move(arguments));
  PENSTOCK_TRY(sources.AddVariables(options, environment));
  PENSTOCK_TRY(sources.AddFile(options));
  return sources.Take();
}

}  // namespace penstock::emulator::server
