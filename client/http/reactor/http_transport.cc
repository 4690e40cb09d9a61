#include "client/http/reactor/http_transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/log/caught.h"
#include "client/http/connect/curl_global.h"
#include "client/http/reactor/reactor.h"
#include "client/http/reactor/thread_plan.h"
#include "penstock/base/check.h"

namespace penstock::http {
namespace {

constexpr std::chrono::milliseconds kExitTimeout{500};
constexpr std::string_view kStart = "the start of a request";
constexpr std::string_view kCompletion = "the completion of a request";

ThreadPlan PlanFor(const HttpTransportOptions& options) {
  const int cores =
      options.cores > 0 ? options.cores : static_cast<int>(std::thread::hardware_concurrency());
  return PlanThreads(cores, options.io_threads, options.max_transfers);
}

// The reactors of one process. A forked child never uses the engine of its parent: it creates its
// own. The old one is leaked, because another thread may have held any of its locks during the
// fork.
struct Engine {
  Engine(const HttpTransportOptions& options, const Engine* inherited_engine)
      : generation(ForkGeneration()), plan(PlanFor(options)), inherited(inherited_engine) {
    for (int i = 0; i < plan.threads; ++i) {
      reactors.push_back(
          std::make_shared<Reactor>(options, static_cast<std::size_t>(plan.ConnectionsOf(i))));
    }
  }

  Reactor& Choose(bool is_large) const {
    std::array<std::size_t, kMaxIoThreads> loads;
    for (std::size_t i = 0; i < reactors.size(); ++i) loads[i] = reactors[i]->load();
    return *reactors[ChooseThread(plan, std::span(loads).first(reactors.size()), is_large)];
  }

  const unsigned generation;
  const ThreadPlan plan;
  const Engine* const inherited;  // leaked on purpose; kept reachable for leak checkers
  std::vector<std::shared_ptr<Reactor>> reactors;  // shared with their threads
};

class HttpTransport final : public Transport {
 public:
  explicit HttpTransport(HttpTransportOptions options) : options_(options) {}

  ~HttpTransport() override {
    const Engine* engine = engine_.load(std::memory_order_acquire);
    if (engine == nullptr || engine->generation != ForkGeneration()) return;
    for (const auto& reactor : engine->reactors) reactor->Stop();
    delete engine;
  }

  void Start(Request request, RequestBody* request_body, ResponseBody* response_body,
             CallContext context, Completion done) override {
    PENSTOCK_CHECK(response_body != nullptr);
    TransferPtr transfer;
    Result<void> made = Caught(kStart, [&] { transfer = std::make_shared<Transfer>(); });
    if (!made.ok()) return Contain(kCompletion, [&] { done(std::move(made).error()); });
    transfer->request = std::move(request);
    transfer->request_body = request_body;
    transfer->response_body = response_body;
    transfer->context = std::move(context);
    transfer->done = std::move(done);
    transfer->started = SystemClock().Monotonic();
    Result<void> submitted = Caught(kStart, [&] { return Submit(transfer); });
    if (!submitted.ok()) Reactor::Complete(*transfer, std::move(submitted).error());
  }

  Result<void> RunAt(MonotonicTime when, std::function<void()> task) override {
    return Caught("the start of a timer", [&]() -> Result<void> {
      Engine& engine = Current();
      Result<void> accepted = engine.Choose(false).RunAt(when, std::move(task));
      for (auto at = engine.reactors.begin(); !accepted.ok() && at != engine.reactors.end(); ++at) {
        accepted = (*at)->RunAt(
            when, std::move(task));  // NOLINT(bugprone-use-after-move): moved from on success only
      }
      return accepted;
    });
  }

  int idle_threads() const override {
    const Engine* engine = engine_.load(std::memory_order_acquire);
    if (engine == nullptr || engine->generation != ForkGeneration())
      return PlanFor(options_).threads;
    return static_cast<int>(
        std::ranges::count_if(engine->reactors, [](const auto& r) { return r->load() == 0; }));
  }

  // See Reactor::StopForExit.
  void StopForExit() {
    const Engine* engine = engine_.load(std::memory_order_acquire);
    if (engine == nullptr || engine->generation != ForkGeneration()) return;
    for (const auto& reactor : engine->reactors) reactor->StopForExit(kExitTimeout);
  }

 private:
  // After an error or an exception, no reactor has accepted the transfer.
  Result<void> Submit(const TransferPtr& transfer) {
    Engine& engine = Current();
    const bool is_large = engine.plan.threads > engine.plan.for_all &&
                          IsLarge(transfer->request, transfer->request_body);
    Reactor& chosen = engine.Choose(is_large);
    Result<void> submitted = chosen.TrySubmit(transfer);
    // If the thread of this reactor cannot start, another one may already run.
    for (auto at = engine.reactors.begin(); !submitted.ok() && at != engine.reactors.end(); ++at) {
      if (at->get() != &chosen && (*at)->TrySubmit(transfer).ok()) return Ok();
    }
    return submitted;
  }

  // Returns the engine of this process. Lock-free, because a forked child could inherit a held
  // lock.
  Engine& Current() {
    Engine* engine = engine_.load(std::memory_order_acquire);
    if (engine != nullptr && engine->generation == ForkGeneration()) return *engine;
    auto fresh = std::make_unique<Engine>(options_, engine);
    if (engine_.compare_exchange_strong(engine, fresh.get(), std::memory_order_acq_rel))
      return *fresh.release();
    return *engine;  // another thread was faster; `fresh` has started nothing yet
  }

  const HttpTransportOptions options_;
  std::atomic<Engine*> engine_{nullptr};
};

// Never destroyed: its threads outlive main.
struct Shared {
  const int io_threads;
  const int max_connections;
  const std::shared_ptr<HttpTransport> transport;
  const Shared* next;
};

// A list without locks, as Current(): a forked child could inherit the guard of a local static
// locked.
constinit std::atomic<const Shared*> shared_transports{nullptr};

const Shared* FindShared(const Shared* first, int io_threads, int max_connections) {
  while (first != nullptr &&
         (first->io_threads != io_threads || first->max_connections != max_connections)) {
    first = first->next;
  }
  return first;
}

void StopSharedForExit() {
  for (const Shared* shared = shared_transports.load(std::memory_order_acquire); shared != nullptr;
       shared = shared->next) {
    shared->transport->StopForExit();
  }
}

}  // namespace

std::shared_ptr<Transport> MakeHttpTransport(HttpTransportOptions options) {
  return std::make_shared<HttpTransport>(options);
}

std::shared_ptr<Transport> SharedTransport(int io_threads, int max_connections) {
  PENSTOCK_CHECK(io_threads >= 0 && io_threads <= kMaxIoThreads);
  PENSTOCK_CHECK(max_connections >= 0 && max_connections <= kMaxConnections);
  const Shared* first = shared_transports.load(std::memory_order_acquire);
  if (const Shared* found = FindShared(first, io_threads, max_connections)) return found->transport;
  // The objects that I/O threads use must outlive the threads. They are created before the exit
  // handler is registered, so they are destroyed after it has stopped the threads.
  InitCurl();
  SystemClock();
  HttpTransportOptions options{.io_threads = io_threads};
  if (max_connections != 0) options.max_transfers = max_connections;
  auto fresh = std::make_unique<Shared>(Shared{
      io_threads, max_connections, std::make_shared<HttpTransport>(std::move(options)), first});
  while (
      !shared_transports.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) {
    if (const Shared* found = FindShared(first, io_threads, max_connections))
      return found->transport;
    fresh->next = first;
  }
  if (fresh->next == nullptr) std::atexit(StopSharedForExit);
  return fresh.release()->transport;
}

}  // namespace penstock::http
