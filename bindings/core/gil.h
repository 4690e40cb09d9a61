// Releasing and acquiring the GIL in a process that may be exiting.
//
// When the interpreter ends, Python terminates every thread that asks for the GIL. C++ frames do
// not survive that: the process would be killed by a signal instead of exiting. From the moment
// when the exit handlers run, Penstock's threads that need the GIL wait for the process to exit
// instead. The thread that ends the interpreter continues normally.
#ifndef PENSTOCK_BINDINGS_CORE_GIL_H_
#define PENSTOCK_BINDINGS_CORE_GIL_H_

#include <pybind11/pybind11.h>

#include <memory>

namespace penstock::python {

// Releases the GIL in its scope. Needs the GIL.
class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* const state_;
};

// Holds the GIL in its scope. Created without the GIL, by a thread that released it or by a
// Penstock thread.
class HeldGil {
 public:
  HeldGil();
  ~HeldGil();
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Returns whether the interpreter is ending while other threads are in C++ code without the GIL.
// Python destroys objects that they use. The caller must then leak the object instead of destroying
// it. Needs the GIL.
bool OthersInsideAtTheEnd();

// Registers an exit handler that announces the end of the interpreter. Call it once, with the GIL.
void WatchInterpreterEnd();

// Runs a function that may block while other Python threads continue. Needs the GIL.
template <class Function>
auto WithoutGil(Function function) {
  const ReleasedGil unlocked;
  return function();
}

// Destroys a handle without the GIL, because a stream or writer waits until its requests in flight
// are cancelled.
template <class T>
struct DeleteWithoutGil {
  void operator()(T* handle) const {
    if (OthersInsideAtTheEnd()) return;
    const ReleasedGil unlocked;
    delete handle;
  }
};

// Destroys a handle with the GIL, unless another thread may use it while the interpreter ends.
template <class T>
struct DeleteUnlessInUse {
  void operator()(T* handle) const {
    if (!OthersInsideAtTheEnd()) delete handle;
  }
};
template <class T>
using Guarded = pybind11::class_<T, std::unique_ptr<T, DeleteUnlessInUse<T>>>;

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_GIL_H_
