#include "emulator/store/system/shown_paths.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/message_filter.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";

bool IsDigit(char character) { return character >= '0' && character <= '9'; }

// Never destroyed, because threads may log until the process exits.
struct Registry {
  SharedMutex mutex;
  std::map<std::string, std::string, std::less<>> shown PENSTOCK_GUARDED_BY(mutex);  // by path
};
Registry& Paths() {
  static auto* const registry = new Registry();
  return *registry;
}

}  // namespace

ShownPath::ShownPath(std::string path, std::string shown) : path_(std::move(path)) {
  Registry& paths = Paths();
  const WriterLock lock(paths.mutex);
  paths.shown.insert_or_assign(path_, std::move(shown));
  internal::SetMessageFilter(WithShownPaths);
}

ShownPath::~ShownPath() {
  Registry& paths = Paths();
  const WriterLock lock(paths.mutex);
  paths.shown.erase(path_);
}

std::string WithShownPaths(std::string text) {
  for (std::size_t at = 0; (at = text.find(kDescriptors, at)) != std::string::npos;) {
    std::size_t end = at + kDescriptors.size();
    while (end < text.size() && IsDigit(text[end])) ++end;
    Registry& paths = Paths();
    const ReaderLock lock(paths.mutex);
    const auto found = paths.shown.find(std::string_view(text).substr(at, end - at));
    if (found == paths.shown.end()) {
      at = end;
      continue;
    }
    text.replace(at, end - at, found->second);
    at += found->second.size();
  }
  return text;
}

}  // namespace penstock::emulator::store
