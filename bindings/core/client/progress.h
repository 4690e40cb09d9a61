// A Python progress callback that runs on the waiting thread, so that no I/O thread needs the GIL
// for it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_PROGRESS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_PROGRESS_H_

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "penstock/transfer.h"

namespace penstock::python {

// Progress that a transfer has reported and Python has not seen yet. Independent of Python, so it
// can be destroyed without the GIL.
struct ProgressCounts {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{UINT64_MAX};  // UINT64_MAX: unknown
  std::atomic<bool> news{false};
};

// Lives during one call from Python. Needs the GIL, except for the function that interrupt()
// returns.
class Progress {
 public:
  // `callback` may be None. `counts` is shared with a transfer that may outlive this call.
  explicit Progress(pybind11::object callback,
                    std::shared_ptr<ProgressCounts> counts = std::make_shared<ProgressCounts>())
      : callback_(std::move(callback)), counts_(std::move(counts)) {}

  // Returns the callback for the transfer's options; null without a Python callback.
  ProgressCallback counter() const { return callback_.is_none() ? nullptr : CounterOf(counts_); }
  static ProgressCallback CounterOf(std::shared_ptr<ProgressCounts> counts);
  // Returns the interrupt for the wait. It handles Python's signals and reports new progress. An
  // exception of the callback stays set on this thread and ends the transfer, as Ctrl-C does.
  // Called without the GIL; must not outlive this object.
  Interrupt interrupt() const;
  // Reports the latest progress. Throws exceptions of the callback.
  void Report() const;

 private:
  bool ReportNoThrow() const;  // true: the callback raised

  pybind11::object callback_;
  std::shared_ptr<ProgressCounts> counts_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_PROGRESS_H_
