// Rejects concurrent calls of objects that allow one call at a time.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_EXCLUSIVE_USE_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_EXCLUSIVE_USE_H_

#include <stdexcept>
#include <string>

namespace penstock::python {

// Marks an object as in use until the end of the scope. The GIL must be held when it is created and
// destroyed, and may be released in between.
class ExclusiveUse {
 public:
  // `used`: the flag of the object. `what` names the object in the error.
  // Throws std::runtime_error (RuntimeError in Python) if another call uses the object already: a
  // call of another thread, or the call that runs this callback.
  ExclusiveUse(bool& used, const char* what) : used_(used) {
    if (used)
      throw std::runtime_error(std::string(what) +
                               " was used by two threads at a time; use one per thread, or a lock");
    used = true;
  }
  ~ExclusiveUse() { used_ = false; }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

 private:
  bool& used_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_EXCLUSIVE_USE_H_
