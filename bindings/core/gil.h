// Giving the GIL away and taking it back, in a process that may be about to end.
//
// When the interpreter ends, Python kills every thread that asks for the GIL, which C++ frames do
// not survive: the process would die of a signal instead of ending. From the moment on at which the
// exit handlers run, threads of ours that come back wait for the end instead; the one that ends the
// interpreter goes on as always.
#ifndef PENSTOCK_BINDINGS_CORE_GIL_H_
#define PENSTOCK_BINDINGS_CORE_GIL_H_

#include <pybind11/pybind11.h>

namespace penstock::python {

// Without the GIL while it lives. Made with it.
class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* const state_;
};

// With the GIL while it lives. Made without it, by a thread that released it or by one of ours.
class HeldGil {
 public:
  HeldGil();
  ~HeldGil();
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// The interpreter is ending, and other threads are in the midst of something without the GIL.
// Python takes apart what they work on: whoever destroys that leaves it to the process's end
// instead. Called with the GIL.
bool OthersInsideAtTheEnd();

// Has the interpreter's end announced by an exit handler. Once, with the GIL.
void WatchInterpreterEnd();

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_GIL_H_
