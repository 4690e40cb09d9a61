// A Python progress callback, told on the thread that waits: no I/O thread ever needs the
// interpreter for it.
#ifndef PENSTOCK_BINDINGS_CORE_PROGRESS_H_
#define PENSTOCK_BINDINGS_CORE_PROGRESS_H_

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "penstock/transfer.h"

namespace penstock::python {

// What a transfer has reported and Python has not been told. Knows nothing of Python: destroyed
// without the GIL.
struct ProgressCounts {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{UINT64_MAX};  // UINT64_MAX: unknown
  std::atomic<bool> news{false};
};

// Lives as long as one call from Python. Needs the GIL, but for what interrupt() returns.
class Progress {
 public:
  // `callback` may be None: nobody is told. `counts`: shared with a transfer that outlives this
  // call.
  explicit Progress(pybind11::object callback,
                    std::shared_ptr<ProgressCounts> counts = std::make_shared<ProgressCounts>())
      : callback_(std::move(callback)), counts_(std::move(counts)) {}

  // For the transfer's options; null where nobody is told.
  ProgressCallback counter() const { return callback_.is_none() ? nullptr : CounterOf(counts_); }
  static ProgressCallback CounterOf(std::shared_ptr<ProgressCounts> counts);
  // For the wait: Python's signals, and the callback when there is news. What it raises stays set
  // on this thread and ends the transfer, as Ctrl-C does. Called without the GIL; this outlives it.
  Interrupt interrupt() const;
  // Tells the last news. Throws what the callback raised.
  void Report() const;

 private:
  bool ReportNoThrow() const;  // true: it raised

  pybind11::object callback_;
  std::shared_ptr<ProgressCounts> counts_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_PROGRESS_H_
