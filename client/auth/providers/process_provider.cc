#include "client/auth/providers/process_provider.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/io/descriptor.h"
#include "base/log/caught.h"
#include "base/signals_blocked.h"
#include "client/auth/providers/credential_document.h"
#include "client/auth/providers/provider_response.h"

extern char** environ;

namespace penstock::auth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutputBytes = std::size_t{64} << 10;

// Starts a program as a shell does: without blocked signals and with access to the terminal.
Result<::pid_t> Spawn(std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Unusable("cannot be started: " + std::generic_category().message(error));
  return pid;
}

// Returns everything that the program prints until it closes its output.
Result<std::string> ReadAll(int fd, Clock::time_point until) {
  std::string out;
  std::array<char, 4096> piece;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    ::pollfd waits{fd, POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&waits, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Unusable("did not exit in time and was killed");
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(count));
    if (out.size() > kMaxOutputBytes) return Unusable("printed more than 64 KiB and was killed");
  }
}

// Returns the exit status. Kills the program if it is still running at `until`.
Result<int> Reap(::pid_t pid, Clock::time_point until) {
  int status = 0;
  for (int options = WNOHANG;;) {
    const ::pid_t ended = ::waitpid(pid, &status, options);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR)
      return Unusable("was reaped by another wait() of this process");
    if (options == 0) continue;
    if (Clock::now() >= until) {
      ::kill(pid, SIGKILL);
      options = 0;
    } else {
      // It has closed its output, so it will exit soon.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

Result<std::string> Run(std::vector<std::string> words, std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Unusable("cannot be started: " + std::generic_category().message(errno));
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  PENSTOCK_ASSIGN(const ::pid_t pid, Spawn(words, to.get()));
  to.Close();
  const auto until = Clock::now() + timeout;
  Result<std::string> output = ReadAll(from.get(), until);
  const Result<int> status = Reap(pid, output.ok() ? until : Clock::now());
  if (!output.ok()) return output;
  if (!status.ok()) return status.error();
  if (!WIFEXITED(*status))
    return Unusable("was ended by signal " + std::to_string(WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0)
    return Unusable("ended with status " + std::to_string(WEXITSTATUS(*status)));
  return output;
}

Result<CredentialsPtr> Obtain(const std::string& command, std::chrono::milliseconds timeout) {
  auto words = SplitCommand(command);
  if (!words || words->empty())
    return Unusable("credential_process is empty or has an unclosed quote");
  const std::string source = "credential_process '" + words->front() + "'";
  Result<std::string> output = Run(*std::move(words), timeout);
  if (!output.ok()) return Unusable(source + " " + output.error().message);
  auto members = ReadFlatObject(*output);
  if (!members.ok()) return Unusable(source + ": " + members.error().message);
  const auto version = members->find("Version");
  if (version == members->end() || version->second != "1") {
    return Unusable(source + ": its output has no \"Version\": 1, the only supported version");
  }
  PENSTOCK_ASSIGN(Credentials found, CredentialsOf(*std::move(members), "SessionToken", source));
  return Found(std::move(found));
}

class ProcessProvider final : public CredentialsProvider {
 public:
  ProcessProvider(std::string command, std::chrono::milliseconds timeout)
      : command_(std::move(command)), timeout_(timeout) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    const SignalsBlocked blocked;
    // Uses nothing of this object and ends by itself: the program exits or is killed.
    std::thread([command = command_, timeout = timeout_, done = std::move(done)] {
      Contain("the use of credentials", [&] {
        done(Caught("the credential process", [&] { return Obtain(command, timeout); }));
      });
    }).detach();
  }

 private:
  const std::string command_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace

std::optional<std::vector<std::string>> SplitCommand(std::string_view command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == 0 && space) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote && quote != 0) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < command.size() &&
               (quote == 0 || command[i + 1] == '"' || command[i + 1] == '\\')) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

ProviderPtr MakeProcessProvider(std::string command, std::chrono::milliseconds timeout) {
  return std::make_shared<ProcessProvider>(std::move(command), timeout);
}

}  // namespace penstock::auth
