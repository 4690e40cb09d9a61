// Detects concurrent use of objects that allow one call at a time.
#ifndef PENSTOCK_BINDINGS_CORE_USE_H_
#define PENSTOCK_BINDINGS_CORE_USE_H_

#include <stdexcept>
#include <string>

namespace penstock::python {

// Marks an object as used in its scope. Creation and destruction need the GIL; the call in between
// may release it.
class Use {
 public:
  // Throws (a RuntimeError in Python) if another thread, or a callback on this thread, is already
  // in a call.
  Use(bool& used, const char* what) : used_(used) {
    if (used)
      throw std::runtime_error(std::string(what) +
                               " was used by two threads at a time; use one per thread, or a lock");
    used = true;
  }
  ~Use() { used_ = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  bool& used_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_USE_H_
