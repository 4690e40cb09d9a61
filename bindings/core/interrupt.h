// Waiting from Python without the GIL while handling signals, and handles that belong to one
// process.
#ifndef PENSTOCK_BINDINGS_CORE_INTERRUPT_H_
#define PENSTOCK_BINDINGS_CORE_INTERRUPT_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/process_id.h"
#include "bindings/core/gil.h"

namespace penstock::python {

// Runs Python's signal handlers. Returns true if one raised (Ctrl-C). The exception stays set on
// this thread, and Raise() throws it. Called without the GIL.
inline bool SignalPending() {
  const HeldGil gil;
  return PyErr_CheckSignals() != 0;
}

// An object that belongs to the process that created it. A forked child neither uses nor destroys
// it: its threads do not exist there, and its destructor would act on the parent's upload.
template <class T>
class ProcessBound {
 public:
  explicit ProcessBound(std::unique_ptr<T> object, const char* what)
      : object_(std::move(object)), what_(what) {}
  ProcessBound(ProcessBound&&) noexcept = default;
  ProcessBound& operator=(ProcessBound&&) = delete;
  ~ProcessBound() {
    if (pid_ != ProcessId()) static_cast<void>(object_.release());
  }

  T& Get() const {
    if (pid_ != ProcessId()) {
      throw std::runtime_error(std::string(what_) + " was made in process " + std::to_string(pid_) +
                               " and cannot be used after fork(); make a new one in this process");
    }
    return *object_;
  }
  bool mine() const { return pid_ == ProcessId(); }

 private:
  std::unique_ptr<T> object_;
  const char* what_;
  int pid_ = ProcessId();
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_INTERRUPT_H_
