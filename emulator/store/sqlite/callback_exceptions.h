// C++ exceptions must not pass through SQLite: its callbacks convert them to result codes.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_CALLBACK_EXCEPTIONS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_CALLBACK_EXCEPTIONS_H_

#include <string_view>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {

inline constinit DiagnosticEvent callback_threw("store.sqlite_callback_threw");

// Reports the exception that is being handled. Returns true if memory ran out, so that the callback
// returns SQLITE_NOMEM. `where` names the callback. Call it only in a catch block.
inline bool RanOutOfMemory(std::string_view where) noexcept {
  const Error error = CurrentExceptionError(where);
  callback_threw.Report(error);
  return error.kind == ErrorKind::kResourceExhausted;
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_CALLBACK_EXCEPTIONS_H_
