#include "bindings/core/look_ahead.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/crc/named_crc.h"
#include "bindings/core/bindings.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "bindings/core/new_bytes.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kSignalPoll{100};
constexpr std::chrono::milliseconds kGathering{1};
constexpr std::size_t kGathered = 16;  // objects that are worth waking up for
// heads in a row that told no checksum: the store has none to tell, or is not asked
constexpr int kFruitless = 8;
// of what is coming, given out at a time: the rest keeps the network busy
constexpr std::size_t kChunkFraction = 4;

}  // namespace

// An object that is coming, and the memory that it comes into.
struct LookAhead::PendingDownload {
  ObjectItem item;
  std::uint64_t reserved = 0;
  MemoryBudget::Share share;
  bool fetched = false;
  ReceiveBuffer memory;
  // Guarded by the state's mutex until `result` is there, which is when both have come.
  int requests = 1;
  std::optional<Result<DownloadResponse>> answer;
  std::optional<ObjectMetadata> about;
  std::optional<Result<DownloadResponse>> result;
};

// Where completions report.
struct LookAhead::CompletionState {
  Mutex mutex;
  CondVar changed;
  std::size_t under_way PENSTOCK_GUARDED_BY(mutex) = 0;
  std::size_t landed PENSTOCK_GUARDED_BY(mutex) = 0;  // and not given out
  // Whom the user waits for, and for how many besides; null: for nobody.
  const PendingDownload* awaited PENSTOCK_GUARDED_BY(mutex) = nullptr;
  std::size_t goal PENSTOCK_GUARDED_BY(mutex) = 0;
  bool ending PENSTOCK_GUARDED_BY(mutex) = false;
  int fruitless PENSTOCK_GUARDED_BY(mutex) = 0;

  bool Enough() const PENSTOCK_REQUIRES(mutex) { return landed >= goal || under_way == 0; }

  void Land(PendingDownload& flight, Result<DownloadResponse> answer) {
    const MutexLock lock(mutex);
    flight.share.SetInFlight(false);
    flight.answer.emplace(std::move(answer));
    Arrive(flight);
  }

  void Tell(PendingDownload& flight, Result<ObjectMetadata> about) {
    const MutexLock lock(mutex);
    if (about.ok()) {
      fruitless = FindCrc(about->checksums).crc == Crc::kNone ? fruitless + 1 : 0;
      flight.about = std::move(about).value();
    }
    Arrive(flight);
  }

  void Arrive(PendingDownload& flight) PENSTOCK_REQUIRES(mutex) {
    if (--flight.requests > 0) return;
    flight.result = std::move(flight.answer);
    --under_way;
    ++landed;
    if (ending ? under_way == 0 : awaited != nullptr && awaited->result.has_value() && Enough())
      changed.NotifyAll();
  }
};

LookAhead::LookAhead(std::shared_ptr<Client> client, std::shared_ptr<ObjectItems> items,
                     LookAheadLimits limits)
    : client_(std::move(client)),
      items_(std::move(items)),
      limits_(limits),
      state_(std::make_shared<CompletionState>()) {}

LookAhead::~LookAhead() {
  Cancel();
  const ReleasedGil unlocked;
  const MutexLock lock(state_->mutex);
  state_->ending = true;
  while (state_->under_way != 0)
    state_->changed.WaitUntil(state_->mutex, std::chrono::steady_clock::now() + kSignalPoll);
}

// The next item, which stays the next until it is taken. Its iterator's error waits until the
// objects before it were given out; an interrupt is not the iterator's, and is for now.
std::optional<ObjectItem> LookAhead::Peek() {
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

void LookAhead::Fill(bool fetch, std::uint64_t guess) {
  const std::size_t most = fetch ? limits_.most_objects : 0;
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
      BufferPool::PerProcess().MakeRoom();  // the bytes come to Python's memory
    }
    auto flight = std::make_unique<PendingDownload>();
    flight->item = *std::move(item);
    flight->fetched = most != 0;
    flight->share = std::move(share);
    flight->reserved = most != 0 ? reserved : 0;
    coming_bytes_ += flight->reserved;
    coming_.push_back(std::move(flight));
    if (most != 0) Prepare(*coming_.back());
  }
}

void LookAhead::Prepare(PendingDownload& flight) {
  if (flight.item.size) flight.memory.Expect(flight.reserved);
  prepared_.push_back(&flight);
}

// Without the GIL, because a lock that the client takes may be held by a thread that waits for the
// GIL; and once for all.
void LookAhead::StartPrepared() {
  if (prepared_.empty()) return;
  WithoutGil([&] {
    bool heads = false;
    {
      const MutexLock lock(state_->mutex);
      state_->under_way += prepared_.size();
      heads = state_->fruitless < kFruitless;
    }
    for (PendingDownload* const flight : prepared_) {
      flight->share.SetInFlight(true);
      // Of an object that comes in ranges no answer but a HEAD's tells the checksum. It costs no
      // time beside the first part.
      if (heads && flight->item.size && *flight->item.size > flight->reserved) {
        flight->requests = 2;
        HeadObjectRequest about{
            BucketName(flight->item.bucket_name), ObjectKey(flight->item.key_name), {}, {}};
        about.options.cancel = stop_.get_token();
        client_->Start(std::move(about), [state = state_, flight](Result<ObjectMetadata> told) {
          state->Tell(*flight, std::move(told));
        });
      }
      DownloadRequest request;
      request.bucket = BucketName(flight->item.bucket_name);
      request.key = ObjectKey(std::move(flight->item.key_name));
      request.end = std::max<std::uint64_t>(1, flight->reserved);
      request.options.part_size_bytes = limits_.part_size;
      request.options.max_parallel_parts = limits_.parallel;
      request.options.call.cancel = stop_.get_token();
      request.destination = [flight](std::uint64_t size) { return flight->memory.Place(size); };
      StartDownload(client_, std::move(request),
                    [state = state_, flight](Result<DownloadResponse> result) {
                      state->Land(*flight, std::move(result));
                    });
    }
  });
  prepared_.clear();
}

// Waits until the first object has landed; without the GIL. False: a signal came first.
bool LookAhead::AwaitFront() {
  using Clock = std::chrono::steady_clock;
  CompletionState& state = *state_;
  const PendingDownload& front = *coming_.front();
  const auto begin = Clock::now();
  bool gathering = quick_;
  for (;;) {
    {
      const MutexLock lock(state.mutex);
      state.goal = gathering ? std::min(kGathered, state.under_way + state.landed) : 1;
      state.awaited = &front;
      if (!front.result || !state.Enough()) {
        state.changed.WaitUntil(state.mutex,
                                gathering ? begin + kGathering : Clock::now() + kSignalPoll);
      }
      state.awaited = nullptr;
      const bool late = Clock::now() - begin >= kGathering;
      if (front.result && (state.Enough() || late)) {
        quick_ = !late;
        return true;
      }
      gathering = gathering && !late;
    }
    if (!gathering && SignalPending()) return false;
  }
}

// How many of the first objects have landed.
std::size_t LookAhead::Landed() const {
  const MutexLock lock(state_->mutex);
  const auto waiting =
      std::ranges::find_if(coming_, [](const auto& flight) { return !flight->result.has_value(); });
  return static_cast<std::size_t>(waiting - coming_.begin());
}

py::object LookAhead::Give(PendingDownload& flight) {
  py::object head = py::none(), size = py::none(), etag = py::none(), error = py::none(),
             checksums = py::tuple();
  if (flight.fetched) {
    if (flight.result->ok()) {
      const DownloadResponse& response = flight.result->value();
      head = flight.memory.Take(response.bytes);
      size = py::int_(response.metadata.size);
      etag = TextToPython(response.metadata.etag.value);
      const bool same = flight.about && flight.about->etag == response.metadata.etag &&
                        flight.about->size == response.metadata.size;
      if (same && !flight.about->etag.empty()) checksums = py::cast(flight.about->checksums);
    } else {
      error = ExceptionOf(flight.result->error());
    }
  }
  return py::make_tuple(flight.item.bucket, flight.item.key, flight.item.info, std::move(head),
                        std::move(size), std::move(etag), std::move(error), flight.reserved,
                        std::move(checksums));
}

void LookAhead::FillAndStart(bool fetch, std::uint64_t guess) {
  try {
    Fill(fetch, guess);
  } catch (...) {
    StartPrepared();
    throw;
  }
  StartPrepared();
}

py::list LookAhead::Next(bool fetch, std::uint64_t guess) {
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
    if ((quick_ || Landed() == 0) && !WithoutGil([&] { return AwaitFront(); }))
      throw py::error_already_set();
    count = Landed();
    if (!items_ended_ || peeked_)
      count = std::min(count, std::max<std::size_t>(1, coming_.size() / kChunkFraction));
    const MutexLock lock(state_->mutex);
    state_->landed -= count;
  }
  for (; count > 0; --count) {
    const std::unique_ptr<PendingDownload> flight = std::move(coming_.front());
    coming_.pop_front();
    coming_bytes_ -= flight->reserved;
    given_bytes_ += flight->reserved;
    chunk.append(Give(*flight));
  }
  try {
    FillAndStart(fetch, guess);  // the network works while the caller uses these
  } catch (...) {
    kept_ = chunk;
    throw;
  }
  return chunk;
}

void LookAhead::RaiseError() {
  const py::object error = std::exchange(error_, py::object());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace penstock::python
