// A Transport that plays a script: for tests of whatever stands on the transport. Opens no socket
// and starts no thread.
//
//   FakeTransport transport;
//   transport.Expect(FakeReply::Respond(503, {}, "<Error/>"));
//   transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}, "body"));
//   ... run the code under test with transport.clock() as its clock ...
//   EXPECT_EQ(transport.requests().size(), 2u);
//
// Time is its own: RunAt moves the fake clock to the task's time and runs it at once, unless Hold()
// was called. A request the transport's contract forbids (no Host, own Content-Length, a body that
// lies about its size) fails with kInternal and says why, so that tests catch it.
#ifndef PENSTOCK_CLIENT_HTTP_FAKE_TRANSPORT_H_
#define PENSTOCK_CLIENT_HTTP_FAKE_TRANSPORT_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fake_clock.h"
#include "client/http/transport.h"
#include "penstock/base/mutex.h"

namespace penstock::http {

using penstock::FakeClock;

// What the transport was asked to send.
struct RecordedRequest {
  Request request;
  bool has_body = false;  // a RequestBody was given
  std::string body;       // all of it, as far as the reply read it
  Deadline deadline = Deadline::Never();

  // Value of the first request header of that name, or nullopt.
  std::optional<std::string> Header(std::string_view name) const;
};

// One scripted answer: head, then chunks, then success or `error`.
struct FakeReply {
  int status = 200;  // 0: no head; `error` comes first
  std::vector<Header> headers;
  std::vector<std::string> chunks;  // each goes through Window/Commit, cut to the window's size
  std::optional<Error> error;       // ends the transfer after head and chunks
  // false: no connection was made, and `error` says why; no byte was sent
  bool connected = true;
  // never answers: ends by cancellation, or when the clock passes the deadline
  bool hang = false;

  static FakeReply Respond(int status, std::vector<Header> headers = {}, std::string body = {});
  static FakeReply Fail(Error error);                        // before any byte of the answer
  static FakeReply Refuse(Error error);                      // before there is a connection
  static FakeReply FailAfter(FakeReply reply, Error error);  // after the reply's head and chunks
  static FakeReply Hang();
};

// Thread safety: safe from any thread. Replies run on the thread that calls Start, RunAt, Release
// or Advance, never under a lock and never recursively: what a completion starts runs after it has
// returned.
class FakeTransport final : public Transport {
 public:
  using Handler = std::function<FakeReply(const RecordedRequest&)>;

  FakeTransport() = default;
  // Hanging requests are completed with kCancelled.
  ~FakeTransport() override;

  // Appends to the script: requests take the replies in order of Start.
  void Expect(FakeReply reply);
  // Answers requests once the script is used up. Without it, such a request fails with kInternal.
  void SetHandler(Handler handler);

  // From now on requests and timed tasks wait for Release / Advance.
  void Hold();
  // From now on RunAt takes no task, as that of a transport which has stopped.
  void RefuseTimers();
  // Runs up to `count` waiting requests, oldest first (not timed tasks). Returns how many ran.
  std::size_t Release(std::size_t count = 1);
  // Moves the clock and runs the timed tasks and deadlines that became due, in order of time.
  void Advance(std::chrono::nanoseconds by);
  // Takes the first timed task that is due by clock(), for a test that runs the task itself. Null:
  // none is due.
  std::function<void()> TakeDueTask() { return TakeDue(clock_.Monotonic()); }

  FakeClock& clock() { return clock_; }
  std::vector<RecordedRequest> requests() const;  // every request that was sent, in order
  std::size_t unused_replies() const;
  std::size_t waiting() const;                      // started, not completed
  std::vector<MonotonicTime> run_at_times() const;  // every RunAt so far

  void Start(Request request, RequestBody* request_body, ResponseBody* response_body,
             CallContext context, Completion done) override;
  Result<void> RunAt(MonotonicTime when, std::function<void()> task) override;

 private:
  struct Pending;
  using PendingPtr = std::shared_ptr<Pending>;

  void Drain();
  void Answer(const PendingPtr& pending);
  void Finish(const PendingPtr& pending, Result<Outcome> outcome);
  FakeReply TakeReply(const RecordedRequest& request);
  std::function<void()> TakeDue(MonotonicTime now);

  FakeClock clock_;
  mutable Mutex mutex_;
  bool held_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool refuses_timers_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool draining_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::deque<FakeReply> script_ PENSTOCK_GUARDED_BY(mutex_);
  Handler handler_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<RecordedRequest> requests_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<MonotonicTime> run_at_times_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> ready_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<PendingPtr> queued_ PENSTOCK_GUARDED_BY(mutex_);  // started while held
  std::vector<PendingPtr> hanging_ PENSTOCK_GUARDED_BY(mutex_);
  std::multimap<MonotonicTime, std::function<void()>> timed_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_FAKE_TRANSPORT_H_
