// The log of penstock-emulator for errors that do not end the process (base/log/diagnostics.h).
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Makes the process's log append lines of JSON to the file at `path`, which only its owner may
// read;
// "-" is standard error. Returns kInvalidArgument when the file cannot be opened.
Result<void> StartDiagnosticLog(const std::string& path);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_DIAGNOSTIC_LOG_H_
