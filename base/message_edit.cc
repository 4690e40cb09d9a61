#include "base/message_edit.h"

#include <atomic>
#include <utility>

namespace penstock::internal {
namespace {

constinit std::atomic<MessageEdit> message_edit{nullptr};

}  // namespace

void SetMessageEdit(MessageEdit edit) { message_edit.store(edit, std::memory_order_relaxed); }

std::string Edited(std::string text) {
  const MessageEdit edit = message_edit.load(std::memory_order_relaxed);
  return edit == nullptr ? text : edit(std::move(text));
}

}  // namespace penstock::internal
