// The flags of penstock-emulator.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_

#include <functional>
#include <optional>
#include <string>

#include "penstock/emulator.h"

namespace penstock::emulator::server {

// The parsed flags: options to serve with, or a text to print.
struct CommandLine {
  EmulatorOptions options = {};
  std::string diagnostic_log = "-";  // "-": standard error
  // For --help and --version: printed to standard output; the exit status is 0.
  std::optional<std::string> text = std::nullopt;
};

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Returns kInvalidArgument, with a message of one line, for wrong usage.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                     const Environment& environment);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
