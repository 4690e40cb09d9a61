#include "bindings/core/client/progress.h"
#include "bindings/core/gil.h"

#include "bindings/core/interrupt.h"

namespace penstock::python {

namespace py = pybind11;

ProgressCallback Progress::CounterOf(std::shared_ptr<ProgressCounts> counts) {
  return [counts = std::move(counts)](const TransferProgress& progress) {
    counts->done.store(progress.bytes_done, std::memory_order_relaxed);
    counts->total.store(progress.bytes_total.value_or(UINT64_MAX), std::memory_order_relaxed);
    counts->news.store(true, std::memory_order_release);
  };
}

Interrupt Progress::interrupt() const {
  if (callback_.is_none()) return SignalPending;
  return [this] {
    if (SignalPending()) return true;
    if (!counts_->news.load(std::memory_order_relaxed)) return false;
    const HeldGil gil;
    return ReportNoThrow();
  };
}

void Progress::Report() const {
  if (ReportNoThrow()) throw py::error_already_set();
}

bool Progress::ReportNoThrow() const {
  if (callback_.is_none() || !counts_->news.exchange(false, std::memory_order_acquire))
    return false;
  const std::uint64_t total = counts_->total.load(std::memory_order_relaxed);
  const py::object known =
      total == UINT64_MAX ? py::object(py::none()) : py::object(py::int_(total));
  const py::int_ done(counts_->done.load(std::memory_order_relaxed));
  const auto returned = py::reinterpret_steal<py::object>(
      PyObject_CallFunctionObjArgs(callback_.ptr(), done.ptr(), known.ptr(), nullptr));
  return !returned;
}

}  // namespace penstock::python
