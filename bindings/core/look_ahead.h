// Many objects in order, each fetched before it is asked for.
#ifndef PENSTOCK_BINDINGS_CORE_LOOK_AHEAD_H_
#define PENSTOCK_BINDINGS_CORE_LOOK_AHEAD_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "bindings/core/object_items.h"
#include "penstock/base/mutex.h"
#include "penstock/client.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace penstock::python {

struct LookAheadLimits {
  std::uint64_t budget_bytes = 0;  // held ahead, but always one object
  std::uint64_t object_bytes = 0;  // of one object: no more of it is fetched ahead
  std::size_t most_objects = 0;    // under way at a time; 0: nothing is fetched ahead
  std::optional<std::uint64_t> part_size;
  std::optional<int> parallel;
};

// Has the coming objects' first bytes fetched, as many objects as the limits hold, and gives them
// out in order, in chunks of those that have arrived. What was given out counts as held until the
// next chunk is asked for.
//
// Where the network is quick, the caller is woken for several objects at a time: being woken costs
// about as much as reading a small object. It never waits more than a millisecond for that.
//
// Thread safety: one user at a time, besides the I/O threads. Needs the GIL, to be destroyed too,
// and lets go of it to wait.
class LookAhead {
 public:
  LookAhead(std::shared_ptr<Client> client, std::shared_ptr<ObjectItems> items,
            LookAheadLimits limits);
  // Cancels what is under way and waits for its end.
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  // The next objects, one at least; none at the end. Each is (bucket, key, info, head, size, etag,
  // error, reserved, checksums): `head` the bytes that came ahead, with the object's `size` and
  // `etag`; or `error`, why they did not; or none of them. `reserved`: the bytes that it was held
  // for. `checksums`: the object's, where `head` is not all of it and its size was known; a HEAD
  // beside the first bytes asks for them. An error of the items is thrown after the objects before
  // it, once.
  //
  // `guess`: the bytes to fetch of an object of unknown size. Without `fetch` nothing further is
  // fetched ahead.
  pybind11::list Next(bool fetch, std::uint64_t guess);

  // Stops what is under way; its objects come with an error.
  void Cancel() { stop_.request_stop(); }
  std::size_t coming() const { return coming_.size(); }
  std::uint64_t coming_bytes() const { return coming_bytes_; }

 private:
  struct CompletionState;
  struct PendingDownload;

  void Fill(bool fetch, std::uint64_t guess);
  std::optional<ObjectItem> Peek();
  void Prepare(PendingDownload& flight);
  void StartPrepared();
  void FillAndStart(bool fetch, std::uint64_t guess);
  [[noreturn]] void RaiseError();
  bool AwaitFront();
  std::size_t Landed() const;
  pybind11::object Give(PendingDownload& flight);

  const std::shared_ptr<Client> client_;
  const std::shared_ptr<ObjectItems> items_;  // shared with Python's iterator over them
  const LookAheadLimits limits_;
  // with the completions, which may come when this is gone
  const std::shared_ptr<CompletionState> state_;
  std::stop_source stop_;
  std::deque<std::unique_ptr<PendingDownload>> coming_;
  std::vector<PendingDownload*> prepared_;  // of those, to be started
  std::uint64_t coming_bytes_ = 0;
  std::uint64_t given_bytes_ = 0;  // in the last chunk
  std::optional<ObjectItem> peeked_;
  pybind11::list kept_;     // a chunk that an interrupt kept from being given out
  pybind11::object error_;  // of the items, to be raised in its turn
  bool items_ended_ = false;
  bool quick_ = false;  // the last wait was over within a millisecond
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_LOOK_AHEAD_H_
