#include "bindings/core/client/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace penstock::python {
namespace {

class TraceFile {
 public:
  explicit TraceFile(int descriptor) : descriptor_(descriptor) {}
  ~TraceFile() { ::close(descriptor_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // One write per line: with O_APPEND, lines of several threads and processes do not interleave.
  void Append(const RequestEvent& event) const {
    const auto seconds = [](auto duration) {
      return std::chrono::duration<double>(duration).count();
    };
    const nlohmann::json line = {
        {"operation", event.operation},
        {"bucket", event.bucket},
        {"key", event.key},
        {"attempt", event.attempt},
        {"status", event.http_status},
        {"code", event.error_code},
        {"started", seconds(event.started.time_since_epoch())},
        {"first_byte_seconds", seconds(event.first_byte)},
        {"seconds", seconds(event.duration)},
        {"bytes_sent", event.bytes_sent},
        {"bytes_received", event.bytes_received},
        {"pid", ::getpid()},
    };
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    // A trace that cannot be written must not fail the request.
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
  }

 private:
  int descriptor_;
};

}  // namespace

Result<std::function<void(const RequestEvent&)>> OpenTrace() {
  using Observer = std::function<void(const RequestEvent&)>;
  const char* path = std::getenv("PENSTOCK_TRACE");
  if (path == nullptr || *path == '\0') return Observer();
  const int descriptor = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       std::string("PENSTOCK_TRACE names '") + path +
                           "', which cannot be opened for appending: " + std::strerror(errno));
  }
  return Observer([file = std::make_shared<TraceFile>(descriptor)](const RequestEvent& event) {
    file->Append(event);
  });
}

}  // namespace penstock::python
