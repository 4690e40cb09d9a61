#include "emulator/store/system/directory_names.h"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace penstock::emulator::store {

std::vector<std::string> NamesIn(const std::string& path, std::error_code& error) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(path.c_str()), ::closedir);
  errno = stream ? 0 : errno;
  while (const dirent* const entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  error.assign(errno, std::generic_category());
  return names;
}

}  // namespace penstock::emulator::store
