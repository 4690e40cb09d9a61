// The process's environment and files, behind the interface of profile.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/io/descriptor.h"
#include "client/auth/profile.h"

namespace penstock::auth {
namespace {

// Far larger than any real profile file; a device file has no end.
constexpr std::size_t kMaxProfileFileBytes = std::size_t{4} << 20;
constexpr std::size_t kStepBytes = std::size_t{64} << 10;
// How long the writer of a FIFO may take in all.
constexpr std::chrono::seconds kMaxWait{5};

Error Unreadable(const std::string& path, const std::string& why) {
  return Error::Make(ErrorKind::kInvalidArgument, "cannot read '" + path + "': " + why);
}

// Reads a file whose reads do not wait, such as one side of a FIFO (a shell's `<(command)`). Waits
// for its writer until the deadline.
class FileText {
 public:
  FileText(const std::string& path, Descriptor fd) : path_(path), fd_(std::move(fd)) {}

  Result<std::string> Read() {
    struct stat status {};
    const bool fifo = ::fstat(fd_.get(), &status) == 0 && S_ISFIFO(status.st_mode);
    std::string text;
    for (;;) {
      const std::size_t filled = text.size();
      text.resize(filled + kStepBytes);
      const ssize_t count = ::read(fd_.get(), text.data() + filled, kStepBytes);
      const int error = errno;
      text.resize(filled + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (text.size() > kMaxProfileFileBytes) {
        return Error::Make(
            ErrorKind::kInvalidArgument,
            "'" + path_ + "' is larger than 4 MiB, so it cannot be a profile or token file");
      }
      // A FIFO without a writer looks like its end; the writer may be about to open it.
      const bool waits = count < 0 ? error == EAGAIN : count == 0 && fifo && text.empty();
      if (waits) {
        PENSTOCK_ASSIGN(const bool over, Wait());
        if (over) return text;
      } else if (count == 0) {
        return text;
      } else if (count < 0 && error != EINTR) {
        return Unreadable(path_, std::generic_category().message(error));
      }
    }
  }

 private:
  // Waits for bytes. Returns true if the writer has closed the FIFO.
  Result<bool> Wait() const {
    const auto rest =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    pollfd ready{fd_.get(), POLLIN, 0};
    const int count = rest.count() > 0 ? ::poll(&ready, 1, static_cast<int>(rest.count())) : 0;
    if (count == 0) {
      return Unreadable(path_, "it is a FIFO or a device, and its writer has not finished within " +
                                   std::to_string(kMaxWait.count()) + " s; use a regular file");
    }
    return count > 0 && (ready.revents & POLLIN) == 0;
  }

  const std::string& path_;
  const Descriptor fd_;
  const std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + kMaxWait;
};

Result<std::string> ReadFile(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (fd) return FileText(path, std::move(fd)).Read();
  const int error = errno;
  Error unreadable = Unreadable(path, std::generic_category().message(error));
  if (error == ENOENT || error == ENOTDIR) unreadable.kind = ErrorKind::kNotFound;
  return unreadable;
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
