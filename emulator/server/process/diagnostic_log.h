// Where penstock-emulator writes about errors that it survives (base/diagnostics.h).
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// From now on the process's log appends lines of JSON to the file at `path`, which only its owner
// may read; "-": standard error. kInvalidArgument when the file cannot be opened.
Result<void> StartDiagnosticLog(const std::string& path);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_
