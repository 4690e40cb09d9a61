// The executable as a process: ready line, signals, exit status, output streams.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/io/descriptor.h"
#include "emulator/server/server_fixture.h"

extern char** environ;

namespace penstock::emulator::server {
namespace {

// penstock-emulator with its standard output and error connected to pipes.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PENSTOCK_EMULATOR_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    setenv("PENSTOCK_EMULATOR_PORT", "0", 1);  // any free port
    int out[2];
    int err[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Process() {
    if (pid_ > 0) Wait(SIGKILL);
    close(out_);
    close(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns the first line of standard output. Waits for it or for the end of the process.
  std::string ReadyLine() const {
    std::string line;
    for (char c; read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  std::string Rest(bool of_errors) const {
    std::string text;
    char buffer[512];
    for (ssize_t count; (count = read(of_errors ? err_ : out_, buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  std::string Errors() const { return Rest(true); }
  // Sends `signal` (0: none). Returns the exit status, or minus the signal that ended the process.
  int Wait(int signal = 0) {
    if (signal != 0) kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

TEST(MainTest, PrintsItsPortsAndStopsOnASignal) {
  const auto hangup = signal(SIGHUP, SIG_DFL);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Process process({"--port", "0", "--memory"});
    const auto ready = nlohmann::json::parse(process.ReadyLine());
    EXPECT_EQ(ready.at("event"), "ready");
    EXPECT_EQ(Send(ready.at("endpoint"), {}).status, 200);
    EXPECT_EQ(Plain(ready.at("admin"), "GET", "/_penstock/health").status, 200);
    EXPECT_EQ(process.Wait(signal), 0);
    EXPECT_EQ(process.Errors(), "");
  }
  ::signal(SIGHUP, hangup);
}

TEST(MainTest, KeepsDataAcrossASignal) {
  const TemporaryFolder folder;
  for (int run = 0; run < 2; ++run) {
    Process process({"--data", folder.path(), "--durability", "strict"});
    const auto ready = nlohmann::json::parse(process.ReadyLine());
    if (run == 0) {
      EXPECT_EQ(Send(ready.at("endpoint"), {.method = "PUT", .target = "/bucket"}).status, 200);
      EXPECT_EQ(
          Send(ready.at("endpoint"), {.method = "PUT", .target = "/bucket/key", .body = "kept"})
              .status,
          200);
    } else {
      EXPECT_TRUE(Send(ready.at("endpoint"), {.target = "/bucket/key"}).text.ends_with("kept"));
    }
    EXPECT_EQ(process.Wait(SIGTERM), 0);
  }
}

HttpResponse Post(const std::string& endpoint, const std::string& path, const std::string& body) {
  return Exchange(endpoint,
                  "POST " + path +
                      " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST(MainTest, UsersAndNamespacesOfTheAdminApiSurviveAKill) {
  const TemporaryFolder folder;
  std::vector<SignedRequest> by_all;
  {
    Process process({"--data", folder.path()});
    const auto ready = nlohmann::json::parse(process.ReadyLine());
    for (int i = 0; i < 20; ++i) {
      const auto made = Post(ready.at("admin"), "/_penstock/namespaces",
                             "{\"name\": \"n" + std::to_string(i) + "\"}");
      ASSERT_EQ(made.status, 201);
      const auto key = nlohmann::json::parse(made.text.substr(made.text.find("\r\n\r\n") + 4));
      by_all.push_back({.method = "PUT",
                        .target = "/bucket",
                        .body = "",
                        .access_key = key.at("access_key_id"),
                        .secret = key.at("secret_access_key"),
                        .more_headers = ""});
      EXPECT_EQ(Send(ready.at("endpoint"), by_all.back()).status, 200);
    }
    EXPECT_EQ(process.Wait(SIGKILL), -SIGKILL);
  }
  Process fsck({"fsck", folder.path()});
  EXPECT_EQ(fsck.Wait(), 0) << fsck.Rest(false);
  Process process({"--data", folder.path()});
  const auto ready = nlohmann::json::parse(process.ReadyLine());
  for (SignedRequest& request : by_all) {
    request.method = "HEAD";
    EXPECT_EQ(Send(ready.at("endpoint"), request).status, 200) << request.access_key;
  }
}

TEST(MainTest, ChangedKeyFindsItsDataWithANotice) {
  // Regression: the response was 403.
  const TemporaryFolder folder;
  {
    Process process({"--data", folder.path(), "--access-key", "old", "--secret-key", "s1"});
    const auto ready = nlohmann::json::parse(process.ReadyLine());
    EXPECT_EQ(
        Send(
            ready.at("endpoint"),
            {.method = "PUT", .target = "/bucket", .body = "", .access_key = "old", .secret = "s1"})
            .status,
        200);
    EXPECT_EQ(process.Wait(SIGTERM), 0);
  }
  Process process({"--data", folder.path(), "--access-key", "new", "--secret-key", "s2"});
  const auto ready = nlohmann::json::parse(process.ReadyLine());
  EXPECT_EQ(
      Send(ready.at("endpoint"),
           {.method = "HEAD", .target = "/bucket", .body = "", .access_key = "new", .secret = "s2"})
          .status,
      200);
  EXPECT_EQ(process.Wait(SIGTERM), 0);
  EXPECT_TRUE(process.Errors().starts_with(
      "penstock-emulator: access key 'new' takes over the account of access key 'old'"));
}

TEST(MainTest, ServesAndStopsWhileItsLogIsNotRead) {
  Process process({"--log", "-", "--memory"});
  const auto ready = nlohmann::json::parse(process.ReadyLine());
  // More lines than the pipe and the queue take.
  const std::string target = "/bucket/" + std::string(1000, 'k');
  for (int i = 0; i < 1200; ++i)
    ASSERT_EQ(Send(ready.at("endpoint"), {.target = target}).status, 404) << i;
  EXPECT_NE(
      Plain(ready.at("admin"), "GET", "/_penstock/stats").text.find("server.request_log_line_lost"),
      std::string::npos);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(process.Wait(SIGTERM), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST(MainTest, AFifoWithoutAReaderIsAnErrorAtOnce) {
  const TemporaryFolder folder;
  const std::string fifo = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string option : {"--log", "--diagnostic-log"}) {
    Process process({option, fifo});
    EXPECT_NE(process.Wait(), 0);
    const std::string errors = process.Errors();
    EXPECT_NE(errors.find("'" + fifo + "' has no reader; start the program"), std::string::npos)
        << errors;
  }
}

TEST(MainTest, WrongUsageIsStatus2AndOneLine) {
  Process process({"--prot", "0"});
  EXPECT_EQ(process.Wait(), 2);
  EXPECT_EQ(process.Errors(), "penstock-emulator: unknown flag: --prot; see --help\n");
}

TEST(MainTest, UnusableEnvironmentIsStatus1AndOneLine) {
  Process first({"--port", "0"});
  const auto ready = nlohmann::json::parse(first.ReadyLine());
  const std::string endpoint = ready.at("endpoint");
  Process second({"--port", endpoint.substr(endpoint.rfind(':') + 1)});
  EXPECT_EQ(second.Wait(), 1);
  const std::string errors = second.Errors();
  EXPECT_TRUE(errors.starts_with("penstock-emulator: ")) << errors;
  EXPECT_EQ(errors.find('\n'), errors.size() - 1) << errors;
}

TEST(MainTest, HealthIsTheExitStatus) {
  Process emulator({});
  const std::string endpoint = nlohmann::json::parse(emulator.ReadyLine()).at("endpoint");
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  Process healthy({"health", "--port", port});
  EXPECT_EQ(healthy.Wait(), 0);
  EXPECT_EQ(healthy.Rest(false), "healthy\n");
  EXPECT_EQ(emulator.Wait(SIGTERM), 0);
  Process stopped({"health", "--port", port});
  EXPECT_EQ(stopped.Wait(), 1);
  EXPECT_TRUE(stopped.Errors().starts_with("penstock-emulator: port " + port));
  Process wrong({"health", "--port", "0"});
  EXPECT_EQ(wrong.Wait(), 2);
}

TEST(MainTest, NotifiesTheServiceManagerWhenReady) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/notify";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  const Descriptor manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  Process process({});
  ::setenv("NOTIFY_SOCKET", "/missing/notify", 1);
  Process without_manager({});
  ::unsetenv("NOTIFY_SOCKET");
  char text[64];
  EXPECT_EQ(::recv(manager.get(), text, sizeof text, 0), 7);
  process.ReadyLine();
  EXPECT_EQ(process.Wait(SIGTERM), 0);
  EXPECT_EQ(process.Errors(), "");
  const auto ready = nlohmann::json::parse(without_manager.ReadyLine());
  EXPECT_EQ(Send(ready.at("endpoint"), {}).status, 200);
  EXPECT_EQ(without_manager.Wait(SIGTERM), 0);
  EXPECT_NE(without_manager.Errors().find("NOTIFY_SOCKET '/missing/notify'"), std::string::npos);
}

TEST(MainTest, PrintsItsVersion) {
  Process process({"--version"});
  EXPECT_EQ(process.Wait(), 0);
  EXPECT_EQ(process.Rest(false), std::string("penstock-emulator ") + PENSTOCK_VERSION + "\n");
}

}  // namespace
}  // namespace penstock::emulator::server
