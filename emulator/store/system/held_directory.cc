#include "emulator/store/system/held_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";

}  // namespace

Result<std::unique_ptr<HeldDirectory>> HeldDirectory::Open(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return SystemError(ErrorKind::kInvalidArgument, "open", path, errno);
  std::string held_path = std::string(kDescriptors) + std::to_string(descriptor.get());
  std::unique_ptr<HeldDirectory> held(new HeldDirectory(std::move(descriptor)));
  if (::access((held_path + "/.").c_str(), F_OK) == 0) {
    held->shown_ = std::make_unique<ShownPath>(held_path, path);
    held->path_ = std::move(held_path);
  } else {
    held->path_ = path;
  }
  return held;
}

bool HeldDirectory::IsHeldPath(const char* path) {
  return std::string_view(path).starts_with(kDescriptors);
}

}  // namespace penstock::emulator::store
