// Files that are named on the command line and read once, at the start: documents of faults, limits
// and users.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_

#include <cstddef>
#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

struct ConfigFile {
  std::string what;  // "faults file"
  std::string path;
  std::string fix;  // ends an error's message: "name a JSON file (docs/faults.md)"
};

inline constexpr std::size_t kLongestGivenFile = 8 << 20;

// Its whole text. kInvalidArgument names the file and the fix where it cannot be opened, is longer
// than kLongestGivenFile, or is no regular file: a directory has no text, a device no end, and a
// pipe without a writer would be waited for.
Result<std::string> ReadGivenFile(const ConfigFile& file);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_CONFIG_FILE_H_
