#include "emulator/server/process/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/io/descriptor.h"

namespace penstock::emulator::server {
namespace {

Error Unusable(const ConfigFile& file, const std::string& problem) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     file.what + " '" + file.path + "' " + problem + "; " + file.fix);
}

}  // namespace

Result<std::string> ReadConfigFile(const ConfigFile& file) {
  const Descriptor opened(::open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return Unusable(file, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat state {};
  if (::fstat(opened.get(), &state) != 0 || !S_ISREG(state.st_mode))
    return Unusable(file, "is not a regular file");
  std::string text;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + (64 << 10));
    const ssize_t count = ::read(opened.get(), text.data() + had, text.size() - had);
    if (count < 0 && errno != EINTR)
      return Unusable(file, std::string("cannot be read: ") + std::strerror(errno));
    text.resize(had + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count == 0) return text;
    if (text.size() > kMaxConfigFileBytes) return Unusable(file, "is longer than 8 MiB");
  }
}

}  // namespace penstock::emulator::server
