#include "client/transfer/download/stream_queue.h"

namespace penstock::transfer {

StreamBlock StreamSlot::TakeBlock() {
  if (rest) return {offset, std::move(rest), size};
  auto owner = std::make_shared<BlockMemory>(std::move(memory));
  return {offset, std::shared_ptr<const std::byte[]>(owner, owner->data()), size};
}

void StreamQueue::MarkRequested(std::uint64_t end) {
  remaining_.front().begin = end;
  if (remaining_.front().size() == 0) remaining_.pop_front();
}

StreamQueue::Slot StreamQueue::Pop() {
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  return slot;
}

void StreamQueue::Return(StreamBlock rest, std::uint64_t begin, std::size_t held) {
  auto slot = std::make_shared<StreamSlot>(std::stop_token());
  slot->offset = rest.offset;
  slot->size = rest.size;
  slot->rest = std::move(rest.data);
  slot->used = rest.offset - begin;
  slot->held = held;
  slot->ready = true;
  slots_.push_front(std::move(slot));
}

StreamQueue::Slot StreamQueue::Drop() {
  Slot slot = std::move(slots_.back());
  slots_.pop_back();
  slot->dropped = true;
  const std::uint64_t end = slot->offset + slot->size;
  if (!remaining_.empty() && remaining_.front().begin == end) {
    remaining_.front().begin = slot->offset;
  } else if (slot->size > 0) {
    remaining_.push_front({slot->offset, end});
  }
  return slot;
}

StreamAhead StreamQueue::ahead() const {
  StreamAhead ahead;
  for (const Slot& slot : slots_) {
    ahead.blocks += slot->rest == nullptr;
    ahead.bytes += slot->size;
  }
  return ahead;
}

std::uint64_t StreamQueue::EndFrom(std::uint64_t position) const {
  for (const Slot& slot : slots_) {
    if (slot->offset != position) break;
    position += slot->size;
  }
  return position;
}

}  // namespace penstock::transfer
