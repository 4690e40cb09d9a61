#include "base/message_filter.h"

#include <atomic>
#include <utility>

namespace penstock::internal {
namespace {

constinit std::atomic<MessageFilter> message_filter{nullptr};

}  // namespace

void SetMessageFilter(MessageFilter filter) {
  message_filter.store(filter, std::memory_order_relaxed);
}

std::string ApplyMessageFilter(std::string text) {
  const MessageFilter filter = message_filter.load(std::memory_order_relaxed);
  return filter == nullptr ? text : filter(std::move(text));
}

}  // namespace penstock::internal
