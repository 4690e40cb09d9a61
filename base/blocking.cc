#include "penstock/base/blocking.h"

#include <string>

namespace penstock {
namespace {

thread_local bool on_io_thread = false;

}  // namespace

bool OnIoThread() { return on_io_thread; }

Result<void> CheckMayBlock(std::string_view operation) {
  if (!on_io_thread) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     std::string(operation) +
                         " was called on an I/O thread (in a callback), "
                         "where it would deadlock. "
                         "Use the asynchronous form, or call it "
                         "on another thread");
}

IoThreadScope::IoThreadScope() { on_io_thread = true; }
IoThreadScope::~IoThreadScope() { on_io_thread = false; }

}  // namespace penstock
