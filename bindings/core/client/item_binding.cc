// ItemLoader: loads items of distributed checkpoints into tensors, by the engine of
// client/checkpoint/load.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/dlpack.h"
#include "bindings/core/client/exclusive_use.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "client/checkpoint/boxes.h"
#include "client/checkpoint/load/item_engine.h"
#include "client/checkpoint/piece_crcs.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;
using checkpoint::BoxRead;
using checkpoint::Dimensions;
using checkpoint::EngineLimits;
using checkpoint::ItemEngine;
using checkpoint::LoadEvent;
using checkpoint::LoadItem;
using checkpoint::ScratchMemory;

// Calls of Python code by the engine, with the GIL. The first exception ends the load.
class PythonCalls {
 public:
  // Returns what `call` returns; `otherwise` after an exception.
  template <class T, class Call>
  T Run(T otherwise, Call call) {
    try {
      return call();
    } catch (...) {
      if (!raised_) raised_ = std::current_exception();
      return otherwise;
    }
  }
  // Throws the first exception.
  void Check() {
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

 private:
  std::exception_ptr raised_;
};

class PyTrailerSizes final : public checkpoint::TrailerSizes {
 public:
  PyTrailerSizes(py::object sizes, PythonCalls& calls) : sizes_(std::move(sizes)), calls_(calls) {}

  std::optional<std::uint64_t> Find(std::uint64_t payload, std::uint64_t around) const override {
    if (last_ && last_->payload == payload && last_->around == around) return last_->trailer;
    const auto found = calls_.Run(std::optional<std::uint64_t>(), [&] {
      return sizes_.attr("find")(payload, around).cast<std::optional<std::uint64_t>>();
    });
    last_.reset();
    if (found) last_ = {payload, around, *found};
    return found;
  }
  void Learn(std::uint64_t payload, std::uint64_t trailer) override {
    last_.reset();
    calls_.Run(false, [&] {
      sizes_.attr("learn")(payload, trailer);
      return true;
    });
  }

 private:
  struct Found {
    std::uint64_t payload = 0;
    std::uint64_t around = 0;
    std::uint64_t trailer = 0;
  };
  const py::object sizes_;
  PythonCalls& calls_;
  mutable std::optional<Found> last_;  // most items are alike
};

// An arena that Python has allocated: an object with `memory`, a tensor of bytes, and `wait()`.
class PyArena final : public ScratchMemory {
 public:
  PyArena(py::object arena, TensorMemory memory, std::uint64_t size, PythonCalls& calls)
      : arena_(std::move(arena)), memory_(std::move(memory)), size_(size), calls_(calls) {}
  ~PyArena() override {
    std::optional<HeldGil> gil;
    if (PyGILState_Check() == 0) gil.emplace();  // after an error
    arena_ = py::object();
    memory_.reset();
  }
  PyArena(const PyArena&) = delete;
  PyArena& operator=(const PyArena&) = delete;

  MutableByteView bytes() const override { return {memory_->data(), size_}; }
  void Wait() override {
    calls_.Run(false, [&] {
      arena_.attr("wait")();
      return true;
    });
  }
  const py::object& arena() const { return arena_; }

 private:
  py::object arena_;
  std::optional<TensorMemory> memory_;
  const std::uint64_t size_;
  PythonCalls& calls_;
};

checkpoint::AllocateScratch AllocateBy(py::object new_arena, PythonCalls& calls) {
  return [new_arena = std::move(new_arena),
          &calls](std::uint64_t bytes) -> Result<std::shared_ptr<ScratchMemory>> {
    std::shared_ptr<ScratchMemory> none;
    auto arena = calls.Run(none, [&] {
      py::object made = new_arena(bytes);
      TensorMemory memory(made.attr("capsule"));
      return std::shared_ptr<ScratchMemory>(
          std::make_shared<PyArena>(std::move(made), std::move(memory), bytes, calls));
    });
    if (!arena) return Error::Make(ErrorKind::kCancelled, "no scratch memory");
    return arena;
  };
}

py::tuple TupleOf(const Dimensions& numbers) {
  py::tuple tuple(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) tuple[i] = py::int_(numbers[i]);
  return tuple;
}

// A load and the Python objects that it keeps alive. Created and destroyed with the GIL.
class Load {
 public:
  Load(std::shared_ptr<Client> client, py::object trailers, py::object new_arena,
       RangeReaderOptions ranges, const EngineLimits& limits)
      : trailers_(std::move(trailers), calls_),
        engine_(std::make_unique<ItemEngine>(
            checkpoint::LoadContext{std::move(client), std::move(ranges), SignalPending}, trailers_,
            limits, AllocateBy(std::move(new_arena), calls_))) {}
  ~Load() { Cancel(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // On return, no request writes to memory any more, and later calls fail.
  void Close() {
    const ExclusiveUse use(used_, "an item loader");
    Cancel();
  }

  bool Add(std::uint64_t token, LoadItem item, const py::tuple& spec, const py::list& reads) {
    const ExclusiveUse use(used_, "an item loader");
    ItemEngine& engine = Opened();
    if (!spec.empty()) {
      item.dtype = spec[0].cast<std::string>();
      item.item_bytes = spec[1].cast<std::uint64_t>();
      item.sizes = spec[2].cast<Dimensions>();
    }
    Kept& kept = kept_[token];
    for (const py::handle read : reads) AddRead(py::cast<py::tuple>(read), item, kept);
    Unwrapped(engine.Add(token, std::move(item)));
    if (engine.has_planned()) WithoutGil([&] { engine.Start(); });
    return engine.is_full();
  }

  py::list Next(bool all) {
    const ExclusiveUse use(used_, "an item loader");
    ItemEngine& engine = Opened();
    for (const std::uint64_t token : std::exchange(done_, {})) kept_.erase(token);
    Unwrapped(engine.Prepare());
    std::vector<LoadEvent> events = Unwrapped(WithoutGil([&] { return engine.Receive(all); }));
    py::list list(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) list[i] = EventOf(events[i]);
    return list;
  }

  bool is_full() const { return Opened().is_full(); }
  bool is_idle() const { return Opened().is_idle(); }
  void ClearScratch() {
    const ExclusiveUse use(used_, "an item loader");
    ItemEngine& engine = Opened();
    Unwrapped(engine.Prepare());
    engine.ClearScratch();
    calls_.Check();
  }
  py::dict usage() const {
    const checkpoint::EngineUsage usage = Opened().usage();
    return py::dict(
        "requests"_a = usage.ranges.requests, "bytes_wanted"_a = usage.ranges.bytes_wanted,
        "bytes_asked"_a = usage.ranges.bytes_asked, "peak_parallel"_a = usage.ranges.peak_parallel,
        "probes"_a = usage.probes, "mispredicted"_a = usage.mispredicted);
  }

 private:
  void Cancel() {
    if (!engine_) return;
    WithoutGil([&] { engine_->Cancel(); });
    engine_.reset();
    kept_.clear();
    done_.clear();
  }
  ItemEngine& Opened() const {
    if (!engine_) throw py::value_error("this item loader is closed; start another load");
    return *engine_;
  }

  struct Kept {
    std::vector<TensorMemory> memory;
    std::vector<Dimensions> offsets;  // of each read
    std::size_t reads = 0;            // without their event
  };

  // read: (offsets, lengths, position, target, strides, is direct); target: DLPack capsule or None.
  // Old versions of torch change the strides of dimensions of size 1 in capsules.
  static void AddRead(const py::tuple& from, LoadItem& item, Kept& kept) {
    BoxRead read;
    read.box = {from[0].cast<Dimensions>(), from[1].cast<Dimensions>()};
    ++kept.reads;
    kept.offsets.push_back(read.box.offsets);
    if (!from[3].is_none()) {
      const TensorMemory& memory = kept.memory.emplace_back(py::object(from[3]));
      if (memory.sizes() != read.box.lengths)
        throw py::value_error("the target of " + item.name + " has not the size of its box");
      read.memory = {memory.data(), from[4].cast<Dimensions>()};
      if (read.memory.strides.size() != memory.sizes().size())
        throw py::value_error("the target of " + item.name + " has not one stride per dimension");
      read.memory_item_bytes = memory.item_bytes();
      read.position = from[2].cast<Dimensions>();
      read.is_direct = from[5].cast<bool>();
      if (read.is_direct && read.memory_item_bytes != item.item_bytes)
        throw py::value_error("the target of " + item.name + " has not the size of its elements");
    }
    item.reads.push_back(std::move(read));
  }

  py::tuple EventOf(const LoadEvent& event) {
    Kept& kept = kept_.at(event.token);
    if (event.kind == LoadEvent::Kind::kPart) return PartOf(event, kept);
    kept.reads -= event.reads.size();
    if (kept.reads == 0) done_.push_back(event.token);
    py::object bytes = py::none();
    if (event.kind == LoadEvent::Kind::kWhole) {
      const std::string_view text = AsText(event.bytes);
      bytes = py::bytes(text.data(), text.size());
    }
    return py::make_tuple(event.token, event.reads, std::move(bytes));
  }

  // (token, read, arena, offset in the arena, lengths of the part, and of the elements that the
  // read wants: offsets in the part, offsets in the read, lengths)
  static py::tuple PartOf(const LoadEvent& event, const Kept& kept) {
    const std::size_t read = event.reads[0];
    Dimensions in_part = event.wanted.offsets;
    Dimensions in_read = event.wanted.offsets;
    for (std::size_t i = 0; i < in_part.size(); ++i) {
      in_part[i] -= event.box.offsets[i];
      in_read[i] -= kept.offsets[read][i];
    }
    return py::make_tuple(event.token, read, static_cast<const PyArena&>(*event.scratch).arena(),
                          event.at, TupleOf(event.box.lengths), TupleOf(in_part), TupleOf(in_read),
                          TupleOf(event.wanted.lengths));
  }

  // An exception of Python code takes precedence.
  template <class T>
  T Unwrapped(Result<T> result) {
    calls_.Check();
    return Unwrap(std::move(result));
  }

  bool used_ = false;
  PythonCalls calls_;
  PyTrailerSizes trailers_;
  std::unordered_map<std::uint64_t, Kept> kept_;  // by token
  std::vector<std::uint64_t> done_;               // their events are being handled
  std::unique_ptr<ItemEngine> engine_;
};

// They are from the metadata of the checkpoint.
Result<std::vector<std::uint32_t>> Crc32sOf(const py::object& from, const std::string& name) {
  std::optional<std::vector<std::uint32_t>> crcs;
  if (py::isinstance<py::bytes>(from))
    crcs = checkpoint::ReadCrc32s(py::cast<std::string_view>(from));
  if (crcs) return *std::move(crcs);
  return Error::Make(ErrorKind::kDataLoss, "item '" + name +
                                               "' has checksums that are not bytes, 4 of each: the "
                                               "metadata of the checkpoint is invalid");
}

class PyItemLoader {
 public:
  explicit PyItemLoader(std::unique_ptr<Load> load) : load_(std::move(load), "this item loader") {}

  bool Add(std::uint64_t token, const py::str& name, Text<"bucket"> bucket, Text<"key"> key,
           Named<"begin", std::uint64_t> begin, Named<"length", std::uint64_t> length,
           const py::tuple& spec, const py::list& reads, const py::object& crc32s) {
    LoadItem item;
    item.name = name.attr("encode")("utf-8", "backslashreplace").cast<std::string>();
    item.bucket = BucketName(std::move(bucket.value));
    item.key = ObjectKey(std::move(key.value));
    item.begin = begin.value;
    item.length = length.value;
    item.crc32s = Unwrap(Crc32sOf(crc32s, item.name));
    return load_.Get().Add(token, std::move(item), spec, reads);
  }
  py::list Next(bool all) { return load_.Get().Next(all); }
  bool is_full() const { return load_.Get().is_full(); }
  bool is_idle() const { return load_.Get().is_idle(); }
  void ClearScratch() { load_.Get().ClearScratch(); }
  py::dict usage() const { return load_.Get().usage(); }
  void Close() {
    if (load_.mine()) load_.Get().Close();
  }

 private:
  ProcessBound<Load> load_;
};

bool BoxesOverlap(const std::vector<std::pair<Dimensions, Dimensions>>& boxes) {
  std::vector<checkpoint::Box> made;
  made.reserve(boxes.size());
  for (const auto& [offsets, lengths] : boxes) {
    if (offsets.size() != lengths.size() || offsets.size() != boxes[0].first.size())
      throw py::value_error("boxes must have equal numbers of dimensions");
    made.push_back({offsets, lengths});
  }
  return checkpoint::AnyOverlap(std::move(made));
}

using ItemLoaderPointer = std::unique_ptr<PyItemLoader, DeleteUnlessInUse<PyItemLoader>>;

ItemLoaderPointer MakeItemLoader(const PyClient& client, py::object trailers, py::object new_arena,
                                 std::uint64_t batch_bytes, std::size_t batch_items,
                                 std::uint64_t unit_bytes, std::uint64_t part_bytes,
                                 std::uint64_t window_bytes,
                                 Named<"max_gap", std::optional<std::uint64_t>> max_gap,
                                 Named<"max_request", std::optional<std::uint64_t>> max_request,
                                 Named<"parallel", std::optional<int>> parallel,
                                 Named<"verify_all", bool> verify_all) {
  RangeReaderOptions ranges;
  ranges.max_gap_bytes = max_gap.value;
  ranges.max_request_bytes = max_request.value;
  ranges.max_parallel_requests = parallel.value;
  EngineLimits limits{batch_bytes, batch_items, unit_bytes, part_bytes, window_bytes, unit_bytes};
  limits.verifies_all = verify_all.value;
  return ItemLoaderPointer(new PyItemLoader(std::make_unique<Load>(
      client.client, std::move(trailers), std::move(new_arena), std::move(ranges), limits)));
}

}  // namespace

void BindItems(py::module_& module) {
  module.def("boxes_overlap", &BoxesOverlap, "boxes"_a,
             "Whether two of the boxes (offsets, lengths) share elements. None may be empty.");
  Guarded<PyItemLoader>(module, "ItemLoader",
                        "Loads items of a distributed checkpoint into tensors, many at a time.")
      .def(py::init(&MakeItemLoader), "client"_a, "trailers"_a, "new_arena"_a, py::kw_only(),
           "batch_bytes"_a, "batch_items"_a, "unit_bytes"_a, "part_bytes"_a, "window_bytes"_a,
           "max_gap"_a = py::none(), "max_request"_a = py::none(), "parallel"_a = py::none(),
           "verify_all"_a = false)
      .def("add", &PyItemLoader::Add, "token"_a, "name"_a, "bucket"_a, "key"_a, "begin"_a,
           "length"_a, "spec"_a, "reads"_a, "crc32s"_a = py::bytes(),
           "Adds an item. spec: (dtype, bytes of an element, sizes), or () if the content is "
           "unknown. reads: (offsets, lengths, offsets of the target in its tensor, DLPack capsule "
           "of the target or None, strides of the target, whether bytes are received in the "
           "target). crc32s: the CRC-32s of the tensor's pieces, 4 bytes each, little-endian. "
           "Returns whether `next` must be called before the next item.")
      .def("next", &PyItemLoader::Next, "all"_a,
           "Returns what has arrived: (token, reads, None) for a verified item; (token, reads, "
           "bytes) for an item that the caller interprets; (token, read, arena, offset, lengths, "
           "offsets in the part, offsets in the read, lengths to copy) for a part. Parts are valid "
           "until the next call. all: no more items will be added.")
      .def_property_readonly("full", &PyItemLoader::is_full)
      .def_property_readonly("idle", &PyItemLoader::is_idle)
      .def("clear_scratch", &PyItemLoader::ClearScratch)
      .def("usage", &PyItemLoader::usage)
      .def("close", &PyItemLoader::Close,
           "Cancels all requests. On return, no request writes to a target any more. Later calls "
           "raise ValueError. Does nothing in a forked process.");
}

}  // namespace penstock::python
