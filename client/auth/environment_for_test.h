// An environment based on maps.
#ifndef PENSTOCK_CLIENT_AUTH_ENVIRONMENT_FOR_TEST_H_
#define PENSTOCK_CLIENT_AUTH_ENVIRONMENT_FOR_TEST_H_

#include <map>
#include <string>
#include <utility>

#include "client/auth/profile.h"

namespace penstock::auth {

using TextMap = std::map<std::string, std::string>;

// HOME is "/home/u" unless set.
inline Environment FakeEnvironment(TextMap variables, TextMap files = {}) {
  variables.emplace("HOME", "/home/u");
  Environment environment;
  environment.variable =
      [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  environment.read_file = [files =
                               std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error::Make(ErrorKind::kNotFound, "no file '" + path + "'");
    return found->second;
  };
  return environment;
}

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_ENVIRONMENT_FOR_TEST_H_
