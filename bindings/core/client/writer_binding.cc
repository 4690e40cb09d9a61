// ObjectWriter: publishes on finish() only. Also small objects with one conditional request.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/progress.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Small writes are collected with the GIL held, up to kGatheredBytes. torch.save makes several
// small writes per tensor, and releasing the GIL costs more than the copy.
constexpr std::size_t kSmallBytes = 16 << 10;
constexpr std::size_t kGatheredBytes = 64 << 10;

// Python objects that must stay alive while an upload may read their memory.
class Owners {
 public:
  Owners() = default;
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;
  ~Owners() {
    if (owners_.empty()) return;
    const HeldGil gil;
    owners_.clear();
  }
  void Add(py::object owner) { owners_.push_back(std::move(owner)); }
  void Clear() { owners_.clear(); }

 private:
  std::vector<py::object> owners_;
};

class PyWriter {
 public:
  PyWriter(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<ProgressCounts> counts)
      : writer_(std::move(writer), "this writer"), counts_(std::move(counts)) {}
  PyWriter(PyWriter&&) = default;

  // `callback` is passed to each call. Stored here, it could form a reference cycle with the upload
  // that Python cannot detect.
  std::size_t Write(const py::object& data, py::object callback) {
    const Inside inside = Enter("write()");
    const BufferView view(data, BufferView::Access::kRead);
    const ByteView bytes = view.bytes();
    const bool fits =
        bytes.size() <= kSmallBytes && bytes.size() <= kGatheredBytes - gathered_.size();
    if (open_ && fits && writer_.mine()) {
      gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
      return bytes.size();
    }
    const Progress progress(std::move(callback), counts_);
    ObjectWriter& writer = writer_.Get();
    std::vector<std::byte> before = std::exchange(gathered_, {});
    auto result = WithoutGil([&]() -> Result<void> {
      const std::lock_guard lock(use_->mutex);
      const Interrupt interrupt = UnlessAborted(progress.interrupt());
      PENSTOCK_TRY(writer.Write(before, interrupt));
      return writer.Write(bytes, interrupt);
    });
    before.clear();
    if (gathered_.empty()) gathered_ = std::move(before);  // reuses its memory
    Unwrap(std::move(result));
    progress.Report();
    EndIfAborted();
    return bytes.size();
  }

  // Takes `size` bytes at `address`. `owner` keeps them alive, and they must not change until
  // drain, finish or abort has returned.
  void WriteNoCopy(std::uint64_t address, std::uint64_t size, py::object owner,
                   py::object callback) {
    WriteUncopied(address, size, std::move(owner), std::move(callback), nullptr);
  }

  // Same, and returns the CRC64NVME of the bytes.
  std::uint64_t WriteNoCopyWithCrc(std::uint64_t address, std::uint64_t size, py::object owner,
                                   py::object callback) {
    std::uint64_t crc = 0;
    WriteUncopied(address, size, std::move(owner), std::move(callback), &crc);
    return crc;
  }

  void ReserveHead(std::uint64_t size) {
    const Inside inside = Enter("reserve_head()");
    ObjectWriter& writer = writer_.Get();
    Unwrap(WithoutGil([&] {
      const std::lock_guard lock(use_->mutex);
      return writer.ReserveHead(size);
    }));
  }

  void ReplaceHead(const py::object& data) {
    const Inside inside = Enter("replace_head()");
    const BufferView view(data, BufferView::Access::kRead);
    ObjectWriter& writer = writer_.Get();
    const std::vector<std::byte> before = std::exchange(gathered_, {});
    Unwrap(WithoutGil([&]() -> Result<void> {
      const std::lock_guard lock(use_->mutex);
      PENSTOCK_TRY(writer.Write(before, UnlessAborted([] { return false; })));
      return writer.ReplaceHead(view.bytes());
    }));
  }

  void Drain(py::object callback) {
    const Inside inside = Enter("drain()");
    const Progress progress(std::move(callback), counts_);
    ObjectWriter& writer = writer_.Get();
    auto result = WithoutGil([&] {
      const std::lock_guard lock(use_->mutex);
      return writer.Drain(UnlessAborted(progress.interrupt()));
    });
    Unwrap(std::move(result));
    owners_->Clear();
    progress.Report();
    EndIfAborted();
  }

  py::str Finish(py::object callback) {
    const Inside inside = Enter("close()");
    const Progress progress(std::move(callback), counts_);
    ObjectWriter& writer = writer_.Get();
    open_ = false;
    const std::vector<std::byte> rest = std::exchange(gathered_, {});
    auto result = WithoutGil([&]() -> Result<UploadResponse> {
      const std::lock_guard lock(use_->mutex);
      // An earlier abort() may have dropped gathered bytes: then nothing may be published.
      if (use_->aborted) PENSTOCK_TRY(writer.Abort());
      const Interrupt interrupt = UnlessAborted(progress.interrupt());
      if (!rest.empty()) PENSTOCK_TRY(writer.Write(rest, interrupt));
      return writer.Finish(interrupt);
    });
    owners_->Clear();
    const UploadResponse response = Unwrap(std::move(result));
    progress.Report();
    return TextToPython(response.etag.value);
  }

  void Abort() {
    if (!writer_.mine()) return;  // the upload belongs to the parent process
    open_ = false;
    gathered_ = {};
    use_->aborted = true;
    if (inside()) return;  // the running call ends now and aborts the upload
    auto result = WithoutGil([&] {
      const std::lock_guard lock(use_->mutex);
      return writer_.Get().Abort();
    });
    owners_->Clear();
    Unwrap(std::move(result));
  }

  // Returns whether this thread is in a call of the writer, that is, in a progress callback or
  // signal handler.
  bool inside() const {
    return std::find(inside_->begin(), inside_->end(), std::this_thread::get_id()) !=
           inside_->end();
  }
  std::uint64_t bytes_written() const { return writer_.Get().bytes_written() + gathered_.size(); }

 private:
  // Another thread may abort the upload during a write, which then ends soon.
  struct Use {
    std::mutex mutex;  // held during each call of the writer
    std::atomic<bool> aborted{false};
  };
  // Progress callbacks and signal handlers run inside a call of the writer, on its thread. A second
  // call there would wait for the first one forever. The GIL guards the list.
  class Inside {
   public:
    explicit Inside(std::vector<std::thread::id>& threads) : threads_(threads) {
      threads_.push_back(std::this_thread::get_id());
    }
    ~Inside() {
      threads_.erase(std::find(threads_.begin(), threads_.end(), std::this_thread::get_id()));
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    std::vector<std::thread::id>& threads_;
  };
  void WriteUncopied(std::uint64_t address, std::uint64_t size, py::object owner,
                     py::object callback, std::uint64_t* crc) {
    const Inside inside = Enter("write()");
    const Progress progress(std::move(callback), counts_);
    ObjectWriter& writer = writer_.Get();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the caller's memory.
    const ByteView bytes(reinterpret_cast<const std::byte*>(address), size);
    if (open_ && size <= kSmallBytes && size <= kGatheredBytes - gathered_.size()) {
      gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
      if (crc != nullptr) *crc = Crc64Nvme(bytes);
      return;
    }
    const std::vector<std::byte> before = std::exchange(gathered_, {});
    owners_->Add(std::move(owner));
    auto result = WithoutGil([&]() -> Result<void> {
      const std::lock_guard lock(use_->mutex);
      const Interrupt interrupt = UnlessAborted(progress.interrupt());
      PENSTOCK_TRY(writer.Write(before, interrupt));
      if (crc == nullptr) return writer.WriteNoCopy(bytes, interrupt);
      PENSTOCK_ASSIGN(*crc, writer.WriteNoCopyWithCrc(bytes, interrupt));
      return Ok();
    });
    Unwrap(std::move(result));
    progress.Report();
    EndIfAborted();
  }

  // Called after a call whose last progress callback aborted the upload.
  void EndIfAborted() {
    if (!use_->aborted) return;
    auto result = WithoutGil([&] {
      const std::lock_guard lock(use_->mutex);
      return writer_.Get().Abort();
    });
    owners_->Clear();
    Unwrap(std::move(result));
    Unwrap(Result<void>(
        Error::Make(ErrorKind::kCancelled, "the upload was aborted by its progress callback")));
  }
  Inside Enter(const char* name) {
    if (inside()) {
      throw py::value_error(
          std::string(name) +
          " was called by a progress callback or signal handler during another call of the same "
          "writer; " +
          "it has no effect there. Raise an exception, or call abort(), to cancel the upload");
    }
    return Inside(*inside_);
  }
  Interrupt UnlessAborted(Interrupt interrupt) const {
    return [use = use_.get(), interrupt = std::move(interrupt)] {
      return use->aborted.load() || interrupt();
    };
  }

  // Outlives the writer, which may read their memory.
  std::unique_ptr<Owners> owners_ = std::make_unique<Owners>();
  ProcessBound<ObjectWriter> writer_;
  std::unique_ptr<Use> use_ = std::make_unique<Use>();
  std::unique_ptr<std::vector<std::thread::id>> inside_ =
      std::make_unique<std::vector<std::thread::id>>();
  std::shared_ptr<ProgressCounts> counts_;  // shared with the upload
  std::vector<std::byte> gathered_;  // follows the bytes passed to the writer; guarded by the GIL
  bool open_ = true;                 // neither finished nor aborted
};

}  // namespace

void BindWriter(py::module_& module) {
  py::class_<PyWriter, std::unique_ptr<PyWriter, DeleteWithoutGil<PyWriter>>>(
      module, "Writer", "Writes one object; nothing is visible before finish().")
      .def(py::init([](const PyClient& client, Text<"bucket"> bucket, Text<"key"> key,
                       Text<"storage_class"> storage_class, Text<"content_type"> content_type,
                       std::vector<std::pair<std::string, std::string>> metadata,
                       Named<"part_size", std::optional<std::uint64_t>> part_size,
                       Named<"parallel", std::optional<int>> parallel,
                       Named<"if_none_match", bool> if_none_match,
                       Named<"size_hint", std::optional<std::uint64_t>> size_hint) {
             auto counts = std::make_shared<ProgressCounts>();
             UploadOptions options;
             options.part_size_bytes = part_size.value;
             if (part_size.value) options.single_put_limit_bytes = *part_size.value;
             options.max_parallel_parts = parallel.value;
             options.if_none_match_any = if_none_match.value;
             options.size_hint_bytes = size_hint.value;
             options.attributes.storage_class = std::move(storage_class.value);
             options.attributes.content_type = std::move(content_type.value);
             options.attributes.user_metadata = std::move(metadata);
             options.progress = Progress::CounterOf(counts);
             return std::unique_ptr<PyWriter, DeleteWithoutGil<PyWriter>>(new PyWriter(
                 ObjectWriter::Create(client.client, BucketName(std::move(bucket.value)),
                                      ObjectKey(std::move(key.value)), std::move(options)),
                 std::move(counts)));
           }),
           "client"_a, "bucket"_a, "key"_a, "storage_class"_a = "", "content_type"_a = "",
           "metadata"_a = std::vector<std::pair<std::string, std::string>>(),
           "part_size"_a = py::none(), "parallel"_a = py::none(), "if_none_match"_a = false,
           "size_hint"_a = py::none())
      .def("write", &PyWriter::Write, "data"_a, "progress"_a = py::none())
      .def("write_no_copy", &PyWriter::WriteNoCopy, "address"_a, "size"_a, "owner"_a,
           "progress"_a = py::none(),
           "Writes memory that `owner` keeps alive and unchanged until drain, finish or abort has "
           "returned.")
      .def("write_no_copy_with_crc", &PyWriter::WriteNoCopyWithCrc, "address"_a, "size"_a,
           "owner"_a, "progress"_a = py::none(),
           "As write_no_copy; returns the CRC64NVME of the bytes.")
      .def("reserve_head", &PyWriter::ReserveHead, "size"_a,
           "Reserves the first bytes of the object for replace_head, before the first write.")
      .def("replace_head", &PyWriter::ReplaceHead, "data"_a,
           "Replaces the first bytes of the object, which are reserved and written.")
      .def("inside", &PyWriter::inside,
           "Returns whether this thread is in a call of the writer: in a progress callback or "
           "signal "
           "handler.")
      .def("drain", &PyWriter::Drain, "progress"_a = py::none(),
           "Waits until no memory passed to write_no_copy is in use.")
      .def("finish", &PyWriter::Finish, "progress"_a = py::none())
      .def("abort", &PyWriter::Abort)
      .def_property_readonly("bytes_written", &PyWriter::bytes_written);
}

}  // namespace penstock::python
