// The process's environment and files, behind the interface of profile.h.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "client/auth/profile.h"

namespace penstock::auth {
namespace {

// Far larger than any real profile file; a device file has no end.
constexpr std::size_t kMaxProfileFileBytes = std::size_t{4} << 20;

Result<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    const ErrorKind kind =
        error == ENOENT || error == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kInvalidArgument;
    return Error::Make(kind,
                       "cannot read '" + path + "': " + std::generic_category().message(error));
  }
  std::string text(kMaxProfileFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error::Make(ErrorKind::kInvalidArgument, "cannot read '" + path + "'");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxProfileFileBytes) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "'" + path + "' is larger than 4 MiB, so it cannot be a profile file");
  }
  return text;
}

}  // namespace

std::optional<std::string> Environment::Get(const std::string& name) const {
  std::optional<std::string> value = variable(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

Result<std::string> Environment::ReadToken(const std::string& path) const {
  Result<std::string> text = read_file(path);
  while (text.ok() && (text->ends_with('\n') || text->ends_with('\r'))) text->pop_back();
  return text;
}

Environment Environment::PerProcess() {
  Environment environment;
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
  environment.read_file = ReadFile;
  return environment;
}

}  // namespace penstock::auth
