// A Transport that plays a script, for tests of code above the transport. Opens no socket and
// starts no thread.
//
//   FakeTransport transport;
//   transport.Expect(FakeReply::Respond(503, {}, "<Error/>"));
//   transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}, "body"));
//   ... run the code under test with transport.clock() as its clock ...
//   EXPECT_EQ(transport.requests().size(), 2u);
//
// Time is simulated: RunAt moves the fake clock to the task's time and runs the task immediately,
// unless Hold() was called. A request that violates the transport's contract (no Host, own
// Content-Length, a body with a wrong size) fails with kInternal and the reason.
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

// A request that the transport was asked to send.
struct RecordedRequest {
  Request request;
  bool has_body = false;  // a RequestBody was given
  std::string body;       // the bytes that the reply read
  Deadline deadline = Deadline::Never();

  // Returns the value of the first request header with that name, or nullopt.
  std::optional<std::string> Header(std::string_view name) const;
};

// One scripted response: head, then chunks, then success or `error`.
struct FakeReply {
  int status = 200;  // 0: no head; only `error`
  std::vector<Header> headers;
  // Each is delivered through Window/Commit in pieces of the window's size.
  std::vector<std::string> chunks;
  std::optional<Error> error;  // ends the transfer after head and chunks
  // False: no connection was made, no byte was sent, and `error` is the reason.
  bool connected = true;
  // Never responds: ends by cancellation, or when the clock passes the deadline.
  bool hang = false;

  static FakeReply Respond(int status, std::vector<Header> headers = {}, std::string body = {});
  static FakeReply Fail(Error error);                        // before any byte of the response
  static FakeReply Refuse(Error error);                      // before there is a connection
  static FakeReply FailAfter(FakeReply reply, Error error);  // after the reply's head and chunks
  static FakeReply Hang();
};

// Thread safety: safe from any thread. Replies run on the thread that calls Start, RunAt, Release
// or Advance, never under a lock and never recursively: a request that a completion starts runs
// after the completion has returned.
class FakeTransport final : public Transport {
 public:
  using Handler = std::function<FakeReply(const RecordedRequest&)>;

  FakeTransport() = default;
  // Completes hanging requests with kCancelled.
  ~FakeTransport() override;

  // Appends to the script. Requests take the replies in order of Start.
  void Expect(FakeReply reply);
  // Responds to requests after the end of the script. Without a handler, such a request fails with
  // kInternal.
  void SetHandler(Handler handler);

  // From now on requests and timed tasks wait for Release or Advance.
  void Hold();
  // From now on RunAt rejects tasks, like a transport that has stopped.
  void RefuseTimers();
  // Runs up to `count` waiting requests (not timed tasks), oldest first. Returns how many ran.
  std::size_t Release(std::size_t count = 1);
  // Moves the clock and runs the timed tasks and deadlines that became due, in order of time.
  void Advance(std::chrono::nanoseconds by);
  // Removes and returns the first timed task that is due by clock(), for a test that runs the task
  // itself. Null: none is due.
  std::function<void()> TakeDueTask() { return TakeDue(clock_.Monotonic()); }

  FakeClock& clock() { return clock_; }
  std::vector<RecordedRequest> requests() const;  // all sent requests, in order
  std::size_t unused_replies() const;
  std::size_t waiting() const;                      // started but not completed
  std::vector<MonotonicTime> run_at_times() const;  // of all RunAt calls so far

  void Start(Request request, RequestBody* request_body, ResponseBody* response_body,
             CallContext context, Completion done) override;
  Result<void> RunAt(MonotonicTime when, std::function<void()> task) override;

 private:
  struct Pending;
  using PendingPtr = std::shared_ptr<Pending>;

  void Drain();
  void Respond(const PendingPtr& pending);
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
