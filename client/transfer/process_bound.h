// Owner of a handle's implementation. The implementation belongs to the process that created it,
// and its destructor waits for I/O threads.
#ifndef PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_
#define PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/process_id.h"
#include "client/transfer/late_cleanup.h"
#include "penstock/base/blocking.h"
#include "penstock/base/result.h"

namespace penstock::transfer {

// Destruction never blocks forever. In a forked child the object is leaked, because its requests
// belong to the parent and its locks may be held. On an I/O thread, another thread destroys it, and
// the process waits for that thread at exit.
template <class T>
class ProcessBound {
 public:
  // `what` names the handle in messages, for example "this stream".
  ProcessBound(std::unique_ptr<T> object, const char* what)
      : object_(std::move(object)), what_(what) {}
  ProcessBound(const ProcessBound&) = delete;
  ProcessBound& operator=(const ProcessBound&) = delete;
  ~ProcessBound() {
    if (mine() && !OnIoThread()) return;
    T* const object = object_.release();
    if (mine()) RunCleanup([object] { delete object; }, std::chrono::milliseconds(0));
  }

  bool mine() const { return process_ == ProcessId(); }
  T& object() const { return *object_; }  // requires mine()

  // Returns kInvalidArgument in a forked child.
  Result<void> CheckProcess() const {
    if (mine()) return Ok();
    return Error::Make(ErrorKind::kInvalidArgument,
                       std::string(what_) + " was made in process " + std::to_string(process_) +
                           " and cannot be used after fork(); make a new one in this process");
  }
  // Also returns kInvalidArgument on an I/O thread.
  Result<void> CheckBlockingUse(std::string_view operation) const {
    PENSTOCK_TRY(CheckProcess());
    return CheckMayBlock(operation);
  }

 private:
  std::unique_ptr<T> object_;
  const char* const what_;
  const int process_ = ProcessId();
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_
