// Values of options that are not on the command line: from environment variables and from the
// configuration file.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_SETTING_SOURCES_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_SETTING_SOURCES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variable of an option: PENSTOCK_EMULATOR_MEMORY_LIMIT for "memory-limit". The prefix keeps
// them apart from the variables of the client (PENSTOCK_MEMORY_LIMIT).
std::string VariableOf(std::string_view option);

struct Settings {
  // The arguments, followed by "--OPTION=VALUE" for each value of another source.
  std::vector<std::string> arguments;
  // Where the options that were added come from: a variable, or the file and the key.
  std::map<std::string, std::string> sources;
};

// Adds options that are not among `arguments`. Variables have precedence over the file, which
// --config or PENSTOCK_EMULATOR_CONFIG names. An option also replaces the alternatives of lower
// precedence ("memory" replaces the variable of "data"). Keys of the file are option names with '_'
// instead of '-'. `options`: all names, without "--".
//
// Returns kInvalidArgument for an empty variable, and for a file that cannot be read, is not TOML,
// or has an unknown key or a value that no option can have. Messages never have values.
Result<Settings> AddOtherSources(std::vector<std::string> arguments,
                                 const std::vector<std::string>& options,
                                 const Environment& environment);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_SETTING_SOURCES_H_
