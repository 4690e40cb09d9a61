#include "emulator/http/listener.h"

#include <fcntl.h>
#include <httplib.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {
namespace {

constinit DiagnosticEvent connection_refused("wire.connection_not_accepted");
constinit DiagnosticEvent accept_ended("wire.accept_loop_ended");

// cpp-httplib 0.11.4 listens with a backlog of 5; a burst of DataLoader workers needs more.
constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kRestartPause{20};

// Runs the task on the accept thread itself. The task only hands over the socket, so a pool would
// only add a context switch.
class RunAtOnce final : public httplib::TaskQueue {
 public:
  // void in old releases of cpp-httplib, bool in new ones.
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));

  Enqueued enqueue(std::function<void()> task) override {
    task();
    return Enqueued(true);
  }
  void shutdown() override {}
};

// Replaces cpp-httplib's default SO_REUSEPORT, which would let two servers share a port unnoticed.
void SetSocketOptions(socket_t fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  static constexpr char kCubic[] = "cubic";
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kCubic, sizeof kCubic - 1);
}

class AcceptLoop final : public httplib::Server {
 public:
  explicit AcceptLoop(Listener::OnSocket on_socket) : on_socket_(std::move(on_socket)) {
    new_task_queue = [] { return new RunAtOnce; };
    set_socket_options(SetSocketOptions);
  }

  int listening_socket() const { return svr_sock_; }
  void set_listening_socket(int fd) { svr_sock_ = fd; }

 private:
  bool process_and_close_socket(socket_t fd) override {
    try {
      on_socket_(fd);
    } catch (...) {  // only this connection ends
      connection_refused.Report(CurrentExceptionError());
    }
    return true;
  }

  Listener::OnSocket on_socket_;
};

// cpp-httplib's constructor ignores SIGPIPE for the whole process. An in-process emulator must not
// change that.
std::unique_ptr<AcceptLoop> MakeAcceptLoop(Listener::OnSocket on_socket) {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  auto loop = std::make_unique<AcceptLoop>(std::move(on_socket));
  ::sigaction(SIGPIPE, &before, nullptr);
  return loop;
}

class HttplibListener final : public Listener {
 public:
  explicit HttplibListener(OnSocket on_socket)
      : on_socket_(std::move(on_socket)), loop_(MakeAcceptLoop(on_socket_)) {}

  ~HttplibListener() override { Stop(); }

  Result<void> Open(const std::string& host, int port) {
    port_ =
        port == 0 ? loop_->bind_to_any_port(host) : (loop_->bind_to_port(host, port) ? port : -1);
    if (port_ <= 0) {
      return Error::Make(ErrorKind::kUnavailable,
                         "Cannot listen on " + host + ":" + std::to_string(port) +
                             ": the port is taken or the host is not an address of this machine; "
                             "choose another, or port 0 for any free one");
    }
    const MutexLock lock(kept_mutex_);
    kept_ = ::fcntl(loop_->listening_socket(), F_DUPFD_CLOEXEC, 0);
    if (kept_ < 0 || ::listen(kept_, kBacklog) != 0) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         "Cannot keep the listening socket: raise the limit of open files");
    }
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { Run(); });
    return Ok();
  }

  int port() const override { return port_; }

  void Stop() override {
    const MutexLock lock(stop_mutex_);
    if (stopping_.exchange(true)) return;
    {
      const MutexLock kept_lock(kept_mutex_);
      // Ends accept() at once in every state. cpp-httplib's own stop() has no effect before its
      // loop runs.
      ::shutdown(kept_, SHUT_RDWR);
      // Without a free descriptor accept() does not look at the socket, and cpp-httplib repeats it.
      if (kept_ >= 0) ::close(std::exchange(kept_, -1));
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  // cpp-httplib ends its loop and closes its socket on most errors of accept(). New releases refuse
  // to run such a loop again. This class keeps a copy of the socket and starts a new loop.
  void Run() {
    for (;;) {
      loop_->listen_after_bind();
      if (stopping_.load()) return;
      accept_ended.Report("accept() failed; listening again");
      std::this_thread::sleep_for(kRestartPause);
      const MutexLock lock(kept_mutex_);
      const int again = ::fcntl(kept_, F_DUPFD_CLOEXEC, 0);
      if (again < 0) continue;  // the loop has no socket and returns at once
      loop_ = MakeAcceptLoop(on_socket_);
      loop_->set_listening_socket(again);
    }
  }

  const OnSocket on_socket_;
  std::unique_ptr<AcceptLoop> loop_;  // used by the thread alone once it runs
  int port_ = -1;
  std::atomic<bool> stopping_{false};
  Mutex kept_mutex_;
  int kept_ PENSTOCK_GUARDED_BY(kept_mutex_) = -1;  // a copy of the listening socket
  Mutex stop_mutex_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Start(const std::string& host, int port,
                                                  OnSocket on_socket) {
  auto listener = std::make_unique<HttplibListener>(std::move(on_socket));
  PENSTOCK_TRY(listener->Open(host, port));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace penstock::emulator::http
