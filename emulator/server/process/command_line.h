// The flags of penstock-emulator.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_

#include <functional>
#include <optional>
#include <string>

#include "penstock/emulator.h"

namespace penstock::emulator::server {

// What the flags ask for: to serve, or to print a text and exit.
struct CommandLine {
  EmulatorOptions options = {};
  std::string diagnostic_log = "-";  // "-": standard error
  // --help, --version: printed to standard output, exit status 0
  std::optional<std::string> text = std::nullopt;
};

// The value of an environment variable; nullopt: it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// kInvalidArgument, one line, for wrong usage.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                     const Environment& environment);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
