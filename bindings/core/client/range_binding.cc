// RangeReader: reads scattered ranges of objects into memory that Python owns.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/base/mutex.h"
#include "penstock/range_reader.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Completed batches in order of completion. Filled on I/O threads.
class CompletedBatches {
 public:
  struct Batch {
    std::uint64_t token = 0;
    Result<RangesRead> result;
  };

  void Put(std::uint64_t token, Result<RangesRead> result) {
    const MutexLock lock(mutex_);
    batches_.push_back({token, std::move(result)});
    changed_.NotifyAll();
  }

  // Waits for a batch. Returns nullopt if `interrupt` returns true. Called without the GIL.
  std::optional<Batch> Take(const Interrupt& interrupt) {
    constexpr std::chrono::milliseconds kPoll{100};
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (batches_.empty()) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
        if (!batches_.empty()) {
          Batch batch = std::move(batches_.front());
          batches_.pop_front();
          return batch;
        }
      }
      if (interrupt()) return std::nullopt;
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> batches_ PENSTOCK_GUARDED_BY(mutex_);
};

struct Triple {
  std::uint64_t begin;
  std::uint64_t address;
  std::uint64_t size;
};

// Converts a buffer of 64-bit numbers.
std::vector<Triple> TriplesOf(const py::object& buffer) {
  const BufferView view(buffer, BufferView::Access::kRead);
  const ByteView bytes = view.bytes();
  if (bytes.size() % sizeof(Triple) != 0) {
    throw py::value_error("pieces has " + std::to_string(bytes.size()) +
                          " bytes; expected whole triples of 64-bit numbers");
  }
  std::vector<Triple> numbers(bytes.size() / sizeof(Triple));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// Memory that the caller keeps alive through `keep`.
MutableByteView MemoryAt(std::uint64_t address, std::uint64_t size) {
  return {reinterpret_cast<std::byte*>(address), size};  // NOLINT(performance-no-int-to-ptr)
}

// The reader and the Python objects that it keeps alive. One caller at a time.
class BatchReader {
 public:
  BatchReader(std::shared_ptr<Client> client, RangeReaderOptions options)
      : reader_(RangeReader::Create(std::move(client), std::move(options))) {}
  ~BatchReader() {
    WithoutGil([&] { reader_.reset(); });
  }
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  void Start(RangeBatch batch, py::object keep, std::uint64_t token) {
    if (!kept_.try_emplace(token, std::move(keep)).second) {
      throw py::value_error("token " + std::to_string(token) +
                            " is already used by a running batch");
    }
    WithoutGil([&] {
      reader_->Start(std::move(batch), [ended = ended_, token](Result<RangesRead> result) {
        ended->Put(token, std::move(result));
      });
    });
  }

  py::object Next() {
    if (kept_.empty()) return py::none();
    std::optional<CompletedBatches::Batch> batch =
        WithoutGil([&] { return ended_->Take(SignalPending); });
    if (!batch) throw py::error_already_set();
    kept_.erase(batch->token);
    if (batch->result.ok())
      return py::make_tuple(batch->token, TextToPython(batch->result->etag.value), py::none());
    return py::make_tuple(batch->token, "", ExceptionOf(batch->result.error()));
  }

  void Cancel() {
    WithoutGil([&] { reader_->Cancel(); });
  }

  py::dict usage() const {
    const RangeReader::Usage usage = reader_->usage();
    return py::dict("requests"_a = usage.requests, "bytes_wanted"_a = usage.bytes_wanted,
                    "bytes_asked"_a = usage.bytes_asked, "peak_parallel"_a = usage.peak_parallel);
  }

 private:
  const std::shared_ptr<CompletedBatches> ended_ = std::make_shared<CompletedBatches>();
  std::unique_ptr<RangeReader> reader_;
  std::map<std::uint64_t, py::object> kept_;
};

class PyRangeReader {
 public:
  explicit PyRangeReader(std::unique_ptr<BatchReader> reader)
      : reader_(std::move(reader), "this range reader") {}

  void Start(Text<"bucket"> bucket, Text<"key"> key, const py::object& pieces, py::object keep,
             std::uint64_t token, std::optional<std::string> etag) {
    RangeBatch batch;
    batch.bucket = BucketName(std::move(bucket.value));
    batch.key = ObjectKey(std::move(key.value));
    if (etag) batch.known_etag = ETag(std::move(*etag));
    for (const Triple& piece : TriplesOf(pieces)) {
      batch.pieces.push_back({piece.begin, MemoryAt(piece.address, piece.size)});
    }
    reader_.Get().Start(std::move(batch), std::move(keep), token);
  }
  py::object Next() { return reader_.Get().Next(); }
  void Cancel() {
    if (reader_.mine()) reader_.Get().Cancel();
  }
  py::dict usage() const { return reader_.Get().usage(); }

 private:
  ProcessBound<BatchReader> reader_;
};

using RangeReaderPointer = std::unique_ptr<PyRangeReader, DeleteUnlessInUse<PyRangeReader>>;

RangeReaderPointer MakeRangeReader(const PyClient& client,
                                   Named<"max_gap", std::optional<std::uint64_t>> max_gap,
                                   Named<"max_request", std::optional<std::uint64_t>> max_request,
                                   Named<"parallel", std::optional<int>> parallel) {
  RangeReaderOptions options;
  options.max_gap_bytes = max_gap.value;
  options.max_request_bytes = max_request.value;
  options.max_parallel_requests = parallel.value;
  return RangeReaderPointer(
      new PyRangeReader(std::make_unique<BatchReader>(client.client, std::move(options))));
}

}  // namespace

void BindRanges(py::module_& module) {
  Guarded<PyRangeReader>(module, "RangeReader",
                         "Reads scattered ranges of objects into memory, many at a time.")
      .def(py::init(&MakeRangeReader), "client"_a, py::kw_only(), "max_gap"_a = py::none(),
           "max_request"_a = py::none(), "parallel"_a = py::none())
      .def("start", &PyRangeReader::Start, "bucket"_a, "key"_a, "pieces"_a, "keep"_a, "token"_a,
           "etag"_a = py::none(),
           "pieces: 64-bit triples (begin in the object, address, bytes); `keep` holds their "
           "memory.")
      .def("next", &PyRangeReader::Next,
           "Returns the next completed batch as (token, ETag, exception or None), or None if no "
           "batch is running.")
      .def("cancel", &PyRangeReader::Cancel)
      .def("usage", &PyRangeReader::usage);
}

}  // namespace penstock::python
