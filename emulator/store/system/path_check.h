// Checks paths of files before they reach the system.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_PATH_CHECK_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_PATH_CHECK_H_

#include <string>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Refuses a path with a NUL character: the system would use only the part before it. `what` names
// the path in the error.
inline Result<void> CheckPath(std::string_view what, const std::string& path) {
  if (path.find('\0') == std::string::npos) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     std::string(what) + " '" + path.c_str() +
                         "' is followed by a NUL character, which ends a path; remove it");
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_PATH_CHECK_H_
