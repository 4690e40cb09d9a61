#include "emulator/http/thread_state.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace penstock::emulator::http {

pid_t OwnThreadId() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

bool WantsProcessor(pid_t thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  // proc(5): "id (name) state ...", and a name of at most 15 bytes may contain anything.
  const std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string_view::npos && line.substr(name_end).starts_with(") R");
}

}  // namespace penstock::emulator::http
