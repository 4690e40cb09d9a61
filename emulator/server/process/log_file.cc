#include "emulator/server/process/log_file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>

#include "base/signals_blocked.h"

namespace penstock::emulator::server {
namespace {

constexpr std::chrono::milliseconds kClosing{500};
constexpr int kPollMs = 50;  // bounds the delay of a close

mode_t TypeOf(int descriptor) {
  struct stat state {};
  return ::fstat(descriptor, &state) == 0 ? state.st_mode & S_IFMT : 0;
}

// Other processes share the open file description of standard error, so O_NONBLOCK must not be set
// there. Opens another one for a pipe or terminal. That fails without /proc, and for a pipe of
// another user; poll() then avoids waits.
int OpenStandardError() {
  const mode_t type = TypeOf(STDERR_FILENO);
  if (type == S_IFIFO || type == S_IFCHR) {
    const int own =
        ::open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) return own;
  }
  return ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

bool HasSpace(int descriptor, int wait_ms) {
  pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&asked, 1, wait_ms) > 0;
}

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::Open(std::string_view what, const std::string& path,
                                               DiagnosticEvent& lost) {
  const int descriptor =
      path == "-" ? OpenStandardError()
                  : ::open(path.c_str(),
                           O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  if (descriptor >= 0) return std::unique_ptr<LogFile>(new LogFile(descriptor, lost));
  // ENXIO: open(2), O_WRONLY and O_NONBLOCK for a FIFO without a reader.
  const std::string problem = errno == ENXIO
                                  ? "has no reader; start the program that reads the FIFO first, "
                                    "or name a regular file"
                                  : std::string("cannot be written: ") + std::strerror(errno) +
                                        "; choose a path this user may write";
  return Error::Make(ErrorKind::kInvalidArgument, std::string(what) + " '" + path + "' " + problem);
}

LogFile::LogFile(int descriptor, DiagnosticEvent& lost)
    : descriptor_(descriptor),
      regular_(TypeOf(descriptor) == S_IFREG),
      must_poll_(!regular_ && (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0),
      lost_(lost) {}

LogFile::~LogFile() {
  std::thread writer;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    until_ = SystemClock().Monotonic() + kClosing;
    writer.swap(writer_);
  }
  changed_.NotifyOne();
  if (writer.joinable()) writer.join();
  ::close(descriptor_);
}

int LogFile::Write(std::string_view line) {
  const MutexLock lock(mutex_);
  int problem = 0;
  if (!queue_.empty()) problem = regular_ ? PutQueue() : EAGAIN;  // the writer's part
  std::string_view rest = line;
  if (problem == 0) problem = Put(rest);
  if (problem == 0) return 0;
  // A line that was written in part is completed later, so that the next one begins on its own
  // line.
  const bool begun = rest.size() < line.size();
  const bool queues = problem == EAGAIN && !regular_ && queue_.size() + rest.size() <= kMaxQueued;
  if (problem == EPIPE || !(begun || queues)) return problem;
  if (!regular_ && !StartWriter()) return problem;
  queue_ += rest;
  changed_.NotifyOne();
  return 0;
}

int LogFile::Put(std::string_view& text) {
  while (!text.empty()) {
    // A pipe with space takes PIPE_BUF bytes at once.
    const std::size_t most = must_poll_ ? PIPE_BUF : text.size();
    if (must_poll_ && !HasSpace(descriptor_, 0)) return EAGAIN;
    const ssize_t count = ::write(descriptor_, text.data(), std::min(most, text.size()));
    if (count < 0 && errno != EINTR) return errno == EWOULDBLOCK ? EAGAIN : errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int LogFile::PutQueue() {
  std::string_view left = queue_;
  const int problem = Put(left);
  queue_.erase(0, queue_.size() - left.size());
  return problem;
}

void LogFile::DropQueue() {
  for (auto lines = std::count(queue_.begin(), queue_.end(), '\n'); lines > 0; --lines)
    lost_.Count();
  std::string().swap(queue_);
}

bool LogFile::StartWriter() {
  if (writer_.joinable()) return true;
  const SignalsBlocked blocked;
  try {
    writer_ = std::thread([this] { WriteQueue(); });
  } catch (const std::exception&) {  // no thread or memory is left
    return false;
  }
  return true;
}

void LogFile::WriteQueue() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !closing_) changed_.WaitIdle(mutex_);
      if (queue_.empty()) return;
      if (closing_ && SystemClock().Monotonic() >= until_) return DropQueue();
    }
    if (!HasSpace(descriptor_, kPollMs)) continue;
    const MutexLock lock(mutex_);
    const int problem = PutQueue();
    if (problem == 0) std::string().swap(queue_);  // releases its memory
    if (problem != 0 && problem != EAGAIN) DropQueue();
  }
}

}  // namespace penstock::emulator::server
