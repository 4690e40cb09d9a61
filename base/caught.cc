#include "base/caught.h"

#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "base/log.h"

namespace penstock {
namespace {

std::atomic<std::uint64_t> caught{0};

Error Describe(std::string_view where, ErrorKind kind, std::string_view what) {
  try {
    Log({LogLevel::kError, "exception", {{"where", where}, {"what", what}}});
    std::string message = "an exception left ";
    return Error::Make(kind, message.append(where).append(": ").append(what));
  } catch (...) { // no memory for the message
    Error error;
    error.kind = ErrorKind::kResourceExhausted;
    return error;
  }
}

} // namespace

Error CaughtError(std::string_view where) {
  caught.fetch_add(1, std::memory_order_relaxed);
  try {
    throw;
  } catch (const std::bad_alloc &error) {
    return Describe(where, ErrorKind::kResourceExhausted, error.what());
  } catch (const std::length_error &error) {
    return Describe(where, ErrorKind::kResourceExhausted, error.what());
  } catch (const std::exception &error) {
    return Describe(where, ErrorKind::kInternal, error.what());
  } catch (...) {
    return Describe(where, ErrorKind::kInternal, "not a std::exception");
  }
}

std::uint64_t CaughtExceptions() {
  return caught.load(std::memory_order_relaxed);
}

} // namespace penstock
