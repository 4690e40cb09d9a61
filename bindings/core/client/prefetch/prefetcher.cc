#include "bindings/core/client/prefetch/prefetcher.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/crc/named_crc.h"
#include "bindings/core/client/bindings.h"
#include "bindings/core/client/first_bytes.h"
#include "bindings/core/client/new_bytes.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kSignalPoll{100};
constexpr std::chrono::milliseconds kGatherTime{1};
constexpr std::size_t kGatherObjects = 16;  // objects that justify a wake-up
// After this many objects in a row without a checksum, none are requested: the store has none, or
// checksums are off.
constexpr int kMaxWithoutChecksum = 8;
// At most this fraction of the arriving bytes is returned at a time, so that the network stays
// busy.
constexpr std::size_t kChunkFraction = 4;
// A chunk has at most this fraction of the budget, but one object at least. The memory of a chunk
// is free for other objects when the next chunk is requested, so a chunk of large objects would let
// the network idle.
constexpr std::uint64_t kChunkByteFraction = 16;

}  // namespace

// An object in flight and the memory for its bytes.
struct Prefetcher::PendingDownload {
  ObjectItem item;
  std::uint64_t reserved = 0;
  MemoryBudget::Share share;
  bool fetched = false;
  ReceiveBuffer memory;
  std::optional<Result<DownloadResponse>> result;  // guarded by the state's mutex until it is set
};

// Completions report here.
struct Prefetcher::CompletionState {
  Mutex mutex;
  CondVar changed;
  std::size_t under_way PENSTOCK_GUARDED_BY(mutex) = 0;
  std::size_t arrived PENSTOCK_GUARDED_BY(mutex) = 0;  // completed and not yet returned
  // The object that the user waits for, and how many objects in total. Null: the user does not
  // wait.
  const PendingDownload* awaited PENSTOCK_GUARDED_BY(mutex) = nullptr;
  std::size_t goal PENSTOCK_GUARDED_BY(mutex) = 0;
  bool ending PENSTOCK_GUARDED_BY(mutex) = false;
  int without_checksum PENSTOCK_GUARDED_BY(mutex) = 0;

  bool Enough() const PENSTOCK_REQUIRES(mutex) { return arrived >= goal || under_way == 0; }

  void OnResult(PendingDownload& download, Result<DownloadResponse> result) {
    const MutexLock lock(mutex);
    download.share.SetInFlight(false);
    if (result.ok() && result->bytes < result->metadata.size) {
      const bool none = FindCrc(result->metadata.checksums).crc == Crc::kNone;
      without_checksum = none ? without_checksum + 1 : 0;
    }
    download.result.emplace(std::move(result));
    --under_way;
    ++arrived;
    if (ending ? under_way == 0 : awaited != nullptr && awaited->result.has_value() && Enough())
      changed.NotifyAll();
  }
};

Prefetcher::Prefetcher(std::shared_ptr<Client> client, std::shared_ptr<ObjectItems> items,
                       PrefetchLimits limits)
    : client_(std::move(client)),
      items_(std::move(items)),
      limits_(limits),
      state_(std::make_shared<CompletionState>()) {}

Prefetcher::~Prefetcher() {
  Cancel();
  const ReleasedGil unlocked;
  const MutexLock lock(state_->mutex);
  state_->ending = true;
  while (state_->under_way != 0)
    state_->changed.WaitUntil(state_->mutex, std::chrono::steady_clock::now() + kSignalPoll);
}

// Returns the next item, which stays the next until it is taken. An error of the iterator is raised
// after the objects before it were returned. An interrupt is not an error of the iterator and is
// raised immediately.
std::optional<ObjectItem> Prefetcher::Peek() {
  if (peeked_ || items_ended_) return std::exchange(peeked_, std::nullopt);
  try {
    auto item = items_->Next();
    items_ended_ = !item.has_value();
    return item;
  } catch (const py::index_error& error) {
    items_ended_ = true;
    error_ = py::reinterpret_borrow<py::object>(PyExc_IndexError)(error.what());
    return std::nullopt;
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    items_ended_ = true;
    error_ = error.value();
    return std::nullopt;
  }
}

void Prefetcher::Fill(bool fetch, std::uint64_t guess) {
  const std::size_t most = fetch ? limits_.max_objects : 0;
  while (coming_.size() < std::max<std::size_t>(most, 1)) {
    std::optional<ObjectItem> item = Peek();
    if (!item) return;
    std::uint64_t reserved = std::min(item->size.value_or(guess), limits_.object_bytes);
    MemoryBudget::Share share;
    if (!coming_.empty()) {
      auto taken = coming_bytes_ + given_bytes_ + reserved <= limits_.budget_bytes
                       ? MemoryBudget::PerProcess().TryTake(reserved)
                       : std::nullopt;
      if (!taken) {
        peeked_ = std::move(item);
        return;
      }
      share = *std::move(taken);
      BufferPool::PerProcess().MakeRoom();  // the bytes are in Python's memory
    }
    auto download = std::make_unique<PendingDownload>();
    download->item = *std::move(item);
    download->fetched = most != 0;
    download->share = std::move(share);
    download->reserved = most != 0 ? reserved : 0;
    coming_bytes_ += download->reserved;
    coming_.push_back(std::move(download));
    if (most != 0) Prepare(*coming_.back());
  }
}

void Prefetcher::Prepare(PendingDownload& download) {
  if (download.item.size) download.memory.Expect(download.reserved);
  prepared_.push_back(&download);
}

// Releases the GIL once for all requests, because a thread that waits for the GIL may hold a lock
// that the client takes.
void Prefetcher::StartPrepared() {
  if (prepared_.empty()) return;
  WithoutGil([&] {
    bool asks = false;
    {
      const MutexLock lock(state_->mutex);
      state_->under_way += prepared_.size();
      asks = state_->without_checksum < kMaxWithoutChecksum;
    }
    for (PendingDownload* const download : prepared_) {
      download->share.SetInFlight(true);
      const bool part = download->item.size && *download->item.size > download->reserved;
      DownloadRequest request;
      request.bucket = BucketName(download->item.bucket_name);
      request.key = ObjectKey(download->item.key_name);
      if (!download->item.etag.empty()) request.listed_etag = ETag(download->item.etag);
      request.end = std::max<std::uint64_t>(1, download->reserved);
      request.options.part_size_bytes = limits_.part_size;
      request.options.max_parallel_parts = limits_.parallel;
      request.options.call.cancel = stop_.get_token();
      request.destination = [download](std::uint64_t size) { return download->memory.Place(size); };
      StartFirstBytes(client_, std::move(request),
                      !asks  ? ChecksumRequest::kNever
                      : part ? ChecksumRequest::kConcurrent
                             : ChecksumRequest::kAfterwards,
                      // `download` stays valid while a request is in progress.
                      [state = state_, download](Result<DownloadResponse> result) {
                        state->OnResult(*download, std::move(result));
                      });
    }
  });
  prepared_.clear();
}

// Waits, without the GIL, until the first object has arrived. Returns false if a signal came first.
bool Prefetcher::WaitForFirst() {
  using Clock = std::chrono::steady_clock;
  CompletionState& state = *state_;
  const PendingDownload& front = *coming_.front();
  const auto begin = Clock::now();
  bool gathering = quick_;
  for (;;) {
    {
      const MutexLock lock(state.mutex);
      state.goal = gathering ? std::min(kGatherObjects, state.under_way + state.arrived) : 1;
      state.awaited = &front;
      if (!front.result || !state.Enough()) {
        state.changed.WaitUntil(state.mutex,
                                gathering ? begin + kGatherTime : Clock::now() + kSignalPoll);
      }
      state.awaited = nullptr;
      const bool late = Clock::now() - begin >= kGatherTime;
      if (front.result && (state.Enough() || late)) {
        quick_ = !late;
        return true;
      }
      gathering = gathering && !late;
    }
    if (!gathering && SignalPending()) return false;
  }
}

// Returns how many of the first objects have arrived.
std::size_t Prefetcher::ArrivedCount() const {
  const MutexLock lock(state_->mutex);
  const auto waiting = std::ranges::find_if(
      coming_, [](const auto& download) { return !download->result.has_value(); });
  return static_cast<std::size_t>(waiting - coming_.begin());
}

std::size_t Prefetcher::ChunkLimit() const {
  const std::size_t most = coming_.size() / kChunkFraction;
  std::size_t count = 1;
  std::uint64_t bytes = coming_.front()->reserved;
  while (count < most) {
    bytes += coming_[count]->reserved;
    if (bytes > limits_.budget_bytes / kChunkByteFraction) break;
    ++count;
  }
  return count;
}

py::object Prefetcher::MakeResult(PendingDownload& download) {
  py::object head = py::none(), size = py::none(), etag = py::none(), error = py::none(),
             checksums = py::tuple();
  if (download.fetched) {
    if (download.result->ok()) {
      const DownloadResponse& response = download.result->value();
      head = download.memory.Take(response.bytes);
      size = py::int_(response.metadata.size);
      etag = TextToPython(response.metadata.etag.value);
      if (response.bytes < response.metadata.size)
        checksums = py::cast(response.metadata.checksums);
    } else {
      error = ExceptionOf(download.result->error());
    }
  }
  return py::make_tuple(download.item.bucket, download.item.key, download.item.info,
                        std::move(head), std::move(size), std::move(etag), std::move(error),
                        download.reserved, std::move(checksums));
}

void Prefetcher::FillAndStart(bool fetch, std::uint64_t guess) {
  try {
    Fill(fetch, guess);
  } catch (...) {
    StartPrepared();
    throw;
  }
  StartPrepared();
}

py::list Prefetcher::Next(bool fetch, std::uint64_t guess) {
  if (!kept_.empty()) return std::exchange(kept_, py::list());
  given_bytes_ = 0;
  FillAndStart(fetch, guess);
  py::list chunk;
  if (coming_.empty()) {
    if (error_) RaiseError();
    return chunk;
  }
  std::size_t count = 1;
  if (coming_.front()->fetched) {
    if ((quick_ || ArrivedCount() == 0) && !WithoutGil([&] { return WaitForFirst(); }))
      throw py::error_already_set();
    count = ArrivedCount();
    if (!items_ended_ || peeked_) count = std::min(count, ChunkLimit());
    const MutexLock lock(state_->mutex);
    state_->arrived -= count;
  }
  for (; count > 0; --count) {
    const std::unique_ptr<PendingDownload> download = std::move(coming_.front());
    coming_.pop_front();
    coming_bytes_ -= download->reserved;
    given_bytes_ += download->reserved;
    chunk.append(MakeResult(*download));
  }
  try {
    FillAndStart(fetch, guess);  // the network works while the caller uses these objects
  } catch (...) {
    kept_ = chunk;
    throw;
  }
  return chunk;
}

void Prefetcher::RaiseError() {
  const py::object error = std::exchange(error_, py::object());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace penstock::python
