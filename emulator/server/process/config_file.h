// Files that are named on the command line and read once at the start: faults, limits, users and
// secrets.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_

#include <cstddef>
#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

struct ConfigFile {
  std::string what;  // "faults file"
  std::string path;
  std::string fix;  // the end of error messages: "name a JSON file (docs/reference/faults.md)"
};

inline constexpr std::size_t kMaxConfigFileBytes = 8 << 20;

// Returns the whole text. kInvalidArgument names the file and the fix when it cannot be opened, is
// longer than kMaxConfigFileBytes, or is not a regular file. Directories have no text, devices have
// no end, and reading a pipe could block.
Result<std::string> ReadConfigFile(const ConfigFile& file);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_
