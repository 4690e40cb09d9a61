#include "client/http/fake_transport.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::http {
namespace {

// Never moves the clock backwards.
void AdvanceTo(FakeClock& clock, MonotonicTime when) {
  if (when > clock.Monotonic()) clock.Advance(when - clock.Monotonic());
}

Error Misuse(const Request& request, const std::string& what) {
  return Error::Make(ErrorKind::kInternal,
                     "fake transport: " + request.method + " " + request.target + ": " + what);
}

// Returns an error if the request violates the transport's contract.
Result<void> CheckRequest(const Request& request) {
  if (request.method.empty()) return Misuse(request, "no method");
  if (request.target.empty() || request.target[0] != '/')
    return Misuse(request, "target does not start with '/'");
  if (!FindHeader(request.headers, "Host")) return Misuse(request, "no Host header");
  if (FindHeader(request.headers, "Content-Length"))
    return Misuse(request, "the transport sets Content-Length");
  return Ok();
}

Result<std::string> ReadAll(const Request& request, RequestBody& body) {
  constexpr std::size_t kLimit = 64 << 10;
  std::string all;
  body.Rewind();
  for (;;) {
    const ByteView piece = body.Next(kLimit);
    if (piece.empty()) break;
    if (piece.size() > kLimit) return Misuse(request, "Next gave more than its limit");
    all.append(AsText(piece));
    if (all.size() > body.size()) return Misuse(request, "the body is longer than its size()");
  }
  if (all.size() != body.size()) return Misuse(request, "the body is shorter than its size()");
  return all;
}

// Delivers `text` to the sink in pieces of its window.
Result<void> Deliver(std::string_view text, ResponseBody& sink) {
  while (!text.empty()) {
    const MutableByteView window = sink.Window();
    if (window.empty()) {
      return Error::Make(ErrorKind::kDataLoss,
                         "the response has more bytes than the reader has room for");
    }
    const std::size_t count = std::min(window.size(), text.size());
    std::memcpy(window.data(), text.data(), count);
    PENSTOCK_TRY(sink.Commit(count));
    text.remove_prefix(count);
  }
  return Ok();
}

Result<Outcome> Play(const FakeReply& reply, const Request& request, std::uint64_t sent,
                     ResponseBody& sink) {
  if (reply.status == 0) return *reply.error;
  Outcome outcome;
  outcome.head = {reply.status, reply.headers};
  outcome.sent_bytes = sent;
  outcome.first_byte = std::chrono::milliseconds(1);
  PENSTOCK_TRY(sink.Begin(outcome.head));
  if (request.method != "HEAD") {
    for (const std::string& chunk : reply.chunks) {
      PENSTOCK_TRY(Deliver(chunk, sink));
      outcome.body_bytes += chunk.size();
    }
  }
  if (reply.error) return *reply.error;
  return outcome;
}

}  // namespace

std::optional<std::string> RecordedRequest::Header(std::string_view name) const {
  const auto value = FindHeader(request.headers, name);
  if (!value) return std::nullopt;
  return std::string(*value);
}

FakeReply FakeReply::Respond(int status, std::vector<Header> headers, std::string body) {
  FakeReply reply;
  reply.status = status;
  reply.headers = std::move(headers);
  if (!body.empty()) reply.chunks.push_back(std::move(body));
  return reply;
}

FakeReply FakeReply::Fail(Error error) {
  FakeReply reply;
  reply.status = 0;
  reply.error = std::move(error);
  return reply;
}

FakeReply FakeReply::Refuse(Error error) {
  FakeReply reply = Fail(std::move(error));
  reply.connected = false;
  return reply;
}

FakeReply FakeReply::FailAfter(FakeReply reply, Error error) {
  reply.error = std::move(error);
  return reply;
}

FakeReply FakeReply::Hang() {
  FakeReply reply;
  reply.hang = true;
  return reply;
}

// One started request, shared by the queues of the transport and the cancellation callback.
struct FakeTransport::Pending {
  Request request;
  RequestBody* request_body = nullptr;
  ResponseBody* response_body = nullptr;
  CallContext context;
  Completion done;
  bool finished = false;  // guarded by the transport's mutex
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

FakeTransport::~FakeTransport() {
  std::vector<PendingPtr> rest;
  {
    const MutexLock lock(mutex_);
    rest.assign(queued_.begin(), queued_.end());
    rest.insert(rest.end(), hanging_.begin(), hanging_.end());
  }
  for (const PendingPtr& pending : rest) {
    Finish(pending, Error::Make(ErrorKind::kCancelled, "the transport was destroyed"));
  }
  Drain();
}

void FakeTransport::Expect(FakeReply reply) {
  const MutexLock lock(mutex_);
  script_.push_back(std::move(reply));
}

void FakeTransport::SetHandler(Handler handler) {
  const MutexLock lock(mutex_);
  handler_ = std::move(handler);
}

void FakeTransport::RefuseTimers() {
  const MutexLock lock(mutex_);
  refuses_timers_ = true;
}

void FakeTransport::Hold() {
  const MutexLock lock(mutex_);
  held_ = true;
}

std::size_t FakeTransport::Release(std::size_t count) {
  std::size_t released = 0;
  {
    const MutexLock lock(mutex_);
    while (released < count && !queued_.empty()) {
      ready_.push_back([this, pending = queued_.front()] { Respond(pending); });
      queued_.pop_front();
      ++released;
    }
  }
  Drain();
  return released;
}

std::function<void()> FakeTransport::TakeDue(MonotonicTime now) {
  const MutexLock lock(mutex_);
  const auto late = std::find_if(
      hanging_.begin(), hanging_.end(),
      [now](const PendingPtr& pending) { return pending->context.deadline.when() <= now; });
  if (late != hanging_.end()) {
    return [this, pending = *late] {
      Finish(pending, Error::Make(ErrorKind::kTimeout, "the deadline passed before the response"));
    };
  }
  if (timed_.empty() || timed_.begin()->first > now) return nullptr;
  std::function<void()> task = std::move(timed_.begin()->second);
  timed_.erase(timed_.begin());
  return task;
}

void FakeTransport::Advance(std::chrono::nanoseconds by) {
  clock_.Advance(by);
  while (std::function<void()> task = TakeDue(clock_.Monotonic())) {
    {
      const MutexLock lock(mutex_);
      ready_.push_back(std::move(task));
    }
    Drain();
  }
}

std::vector<RecordedRequest> FakeTransport::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

std::size_t FakeTransport::unused_replies() const {
  const MutexLock lock(mutex_);
  return script_.size();
}

std::size_t FakeTransport::waiting() const {
  const MutexLock lock(mutex_);
  return queued_.size() + hanging_.size();
}

std::vector<MonotonicTime> FakeTransport::run_at_times() const {
  const MutexLock lock(mutex_);
  return run_at_times_;
}

void FakeTransport::Start(Request request, RequestBody* request_body, ResponseBody* response_body,
                          CallContext context, Completion done) {
  PENSTOCK_CHECK(response_body != nullptr);
  auto pending = std::make_shared<Pending>();
  pending->request = std::move(request);
  pending->request_body = request_body;
  pending->response_body = response_body;
  pending->context = std::move(context);
  pending->done = std::move(done);
  // The queue comes last, so that a request is not accepted if memory runs out. If a stop was
  // already requested, the callback runs immediately.
  pending->on_stop.emplace(pending->context.cancel, [this, weak = std::weak_ptr<Pending>(pending)] {
    if (const PendingPtr self = weak.lock()) {
      Finish(self, Error::Make(ErrorKind::kCancelled, "the request was cancelled"));
      Drain();
    }
  });
  {
    const MutexLock lock(mutex_);
    if (!pending->finished && held_) {
      queued_.push_back(pending);
    } else if (!pending->finished) {
      ready_.push_back([this, pending] { Respond(pending); });
    }
  }
  Drain();
}

Result<void> FakeTransport::RunAt(MonotonicTime when, std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    run_at_times_.push_back(when);
    if (refuses_timers_) return Error::Make(ErrorKind::kCancelled, "the transport was shut down");
    if (held_) {
      timed_.emplace(when, std::move(task));
      return Ok();
    }
    ready_.push_back([this, when, run = std::move(task)] {
      AdvanceTo(clock_, when);
      run();
    });
  }
  Drain();
  return Ok();
}

void FakeTransport::Drain() {
  for (;;) {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      if (draining_ || ready_.empty()) return;
      draining_ = true;
      task = std::move(ready_.front());
      ready_.pop_front();
    }
    task();
    const MutexLock lock(mutex_);
    draining_ = false;
  }
}

FakeReply FakeTransport::TakeReply(const RecordedRequest& request) {
  Handler handler;
  {
    const MutexLock lock(mutex_);
    if (!script_.empty()) {
      FakeReply reply = std::move(script_.front());
      script_.pop_front();
      return reply;
    }
    handler = handler_;
  }
  if (handler) return handler(request);
  return FakeReply::Fail(Misuse(request.request, "no reply is left in the script"));
}

void FakeTransport::Respond(const PendingPtr& pending) {
  {
    const MutexLock lock(mutex_);
    if (pending->finished) return;  // cancelled while it waited
  }
  if (const Result<void> valid = CheckRequest(pending->request); !valid.ok())
    return Finish(pending, valid.error());
  RecordedRequest record{
      pending->request, pending->request_body != nullptr, {}, pending->context.deadline};
  if (pending->request_body != nullptr) {
    Result<std::string> body = ReadAll(pending->request, *pending->request_body);
    if (!body.ok()) return Finish(pending, std::move(body).error());
    record.body = std::move(body).value();
  }
  {
    const MutexLock lock(mutex_);
    requests_.push_back(record);
  }
  const FakeReply reply = TakeReply(record);
  const PeerAddress address = PeerAddress::OfText("192.0.2.1", pending->request.endpoint.port);
  if (reply.connected) pending->response_body->OnConnection({false, address});
  if (!reply.hang)
    return Finish(pending,
                  Play(reply, pending->request, record.body.size(), *pending->response_body));
  {
    const MutexLock lock(mutex_);
    if (pending->finished) return;
    hanging_.push_back(pending);
    if (held_ || pending->context.deadline.IsNever()) return;
  }
  AdvanceTo(clock_, pending->context.deadline.when());
  Finish(pending, Error::Make(ErrorKind::kTimeout, "the deadline passed before the response"));
}

void FakeTransport::Finish(const PendingPtr& pending, Result<Outcome> outcome) {
  const MutexLock lock(mutex_);
  if (pending->finished) return;
  pending->finished = true;
  std::erase(queued_, pending);
  std::erase(hanging_, pending);
  ready_.push_back([pending, result = std::move(outcome)]() mutable {
    const Completion done = std::move(pending->done);
    done(std::move(result));
  });
}

}  // namespace penstock::http
