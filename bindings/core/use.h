// One user at a time: what Python may not call again before the call under way has returned.
#ifndef PENSTOCK_BINDINGS_CORE_USE_H_
#define PENSTOCK_BINDINGS_CORE_USE_H_

#include <stdexcept>
#include <string>

namespace penstock::python {

// Marks an object as used for as long as it lives. Needs the GIL to be made and destroyed; the call
// between may let go of it.
class Use {
 public:
  // Throws (a RuntimeError in Python) where another thread, or a callback of this one, is in a
  // call.
  Use(bool& used, const char* what) : used_(used) {
    if (used)
      throw std::runtime_error(
          std::string(what) +
          " was used by two threads at a time; give each its own, or a lock to both");
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
