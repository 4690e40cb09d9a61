// Fetches many objects in order, each before it is requested.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_PREFETCH_PREFETCHER_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_PREFETCH_PREFETCHER_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "bindings/core/client/listing/object_items.h"
#include "penstock/base/mutex.h"
#include "penstock/client.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace penstock::python {

struct PrefetchLimits {
  std::uint64_t budget_bytes = 0;  // held ahead; one object is always allowed
  std::uint64_t object_bytes = 0;  // limit per object: no more of it is fetched ahead
  std::size_t max_objects = 0;     // objects in flight; 0: nothing is fetched ahead
  std::optional<std::uint64_t> part_size;
  std::optional<int> parallel;
};

// Fetches the first bytes of upcoming objects, as many objects as the limits allow. Returns them in
// order, in chunks of the objects that have arrived. A returned chunk counts as held until the next
// chunk is requested.
//
// On fast networks the caller is woken for several objects at a time, because a wake-up costs about
// as much as reading a small object. It waits at most one millisecond for that.
//
// Thread safety: one user at a time, besides the I/O threads. Needs the GIL, also for destruction,
// and releases it while waiting.
class Prefetcher {
 public:
  Prefetcher(std::shared_ptr<Client> client, std::shared_ptr<ObjectItems> items,
             PrefetchLimits limits);
  // Cancels downloads in flight and waits for their end.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Returns the next objects, at least one, or none at the end. Each is (bucket, key, info, head,
  // size, etag, error, reserved, checksums). `head` has the bytes that were fetched ahead, with the
  // object's `size` and `etag`. If fetching failed, `error` has the reason. Otherwise all of them
  // are None. `reserved` is the number of bytes held for it. `checksums` has the object's checksums
  // if `head` is not the whole object: a HEAD request returns them, beside the first bytes if the
  // object was listed as larger, else after them. An error
  // of the items is thrown once, after the objects before it.
  //
  // `guess` is the number of bytes to fetch of an object of unknown size. Without `fetch`, nothing
  // more is fetched ahead.
  pybind11::list Next(bool fetch, std::uint64_t guess);

  // Cancels downloads in flight; their objects are returned with an error.
  void Cancel() { stop_.request_stop(); }
  std::size_t coming() const { return coming_.size(); }
  std::uint64_t coming_bytes() const { return coming_bytes_; }

 private:
  struct CompletionState;
  struct PendingDownload;

  void Fill(bool fetch, std::uint64_t guess);
  std::optional<ObjectItem> Peek();
  void Prepare(PendingDownload& download);
  void StartPrepared();
  void FillAndStart(bool fetch, std::uint64_t guess);
  [[noreturn]] void RaiseError();
  bool WaitForFirst();
  std::size_t ArrivedCount() const;
  // Returns the most objects of a chunk while further ones can be fetched. Requires `coming_`.
  std::size_t ChunkLimit() const;
  pybind11::object MakeResult(PendingDownload& download);

  const std::shared_ptr<Client> client_;
  const std::shared_ptr<ObjectItems> items_;  // shared with Python's iterator over them
  const PrefetchLimits limits_;
  // Shared with the completions, which may run after this object is destroyed.
  const std::shared_ptr<CompletionState> state_;
  std::stop_source stop_;
  std::deque<std::unique_ptr<PendingDownload>> coming_;
  std::vector<PendingDownload*> prepared_;  // downloads of coming_ that are not started yet
  std::uint64_t coming_bytes_ = 0;
  std::uint64_t given_bytes_ = 0;  // in the last chunk
  std::optional<ObjectItem> peeked_;
  pybind11::list kept_;     // a chunk that was not returned because of an interrupt
  pybind11::object error_;  // error of the items, raised after the objects before it
  bool items_ended_ = false;
  bool quick_ = false;  // the last wait took less than a millisecond
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_PREFETCH_PREFETCHER_H_
