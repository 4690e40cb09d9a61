// Credentials printed by a program: credential_process ("Process credential provider", AWS SDKs and
// Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/auth/providers/credentials.h"

namespace penstock::auth {

// Splits a command line into words by a shell's rules for quotes and backslashes, without
// expansion. Returns nullopt for an unclosed quote.
std::optional<std::vector<std::string>> SplitCommand(std::string_view command);

// Runs `command` without a shell on its own thread and reads {"Version": 1, "AccessKeyId": ...}
// from its output; stderr is not redirected. The program is killed after `timeout`. Returns
// kUnauthenticated if it cannot be started, fails, is killed, prints more than 64 KiB or prints
// invalid output. The message contains the setting and the program, but neither arguments nor
// output.
ProviderPtr MakeProcessProvider(std::string command,
                                std::chrono::milliseconds timeout = std::chrono::seconds(120));

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_
