// A lock-free list that only grows, so that a forked child cannot inherit it locked. For a handful
// of entries, such as observers, signers and learned regions.
#ifndef PENSTOCK_CLIENT_MEMORY_APPEND_ONLY_LIST_H_
#define PENSTOCK_CLIENT_MEMORY_APPEND_ONLY_LIST_H_

#include <atomic>
#include <utility>

namespace penstock::s3 {

// Entries keep their address until the list is destroyed. Thread safety: all members but the
// destructor may be called from any thread.
template <class T>
class AppendOnlyList {
 public:
  AppendOnlyList() = default;
  AppendOnlyList(const AppendOnlyList&) = delete;
  AppendOnlyList& operator=(const AppendOnlyList&) = delete;
  ~AppendOnlyList() {
    for (Node* node = newest_.load(std::memory_order_acquire); node != nullptr;)
      delete std::exchange(node, node->older);
  }

  const T& Push(T value) {
    Node* node = new Node{std::move(value), newest_.load(std::memory_order_relaxed)};
    while (!newest_.compare_exchange_weak(node->older, node, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    return node->value;
  }

  // Visits all entries, newest first.
  template <class Visitor>
  void ForEach(const Visitor& visit) const {
    for (const Node* node = newest_.load(std::memory_order_acquire); node != nullptr;
         node = node->older)
      visit(node->value);
  }

  // Returns the newest entry that `matches`, or null.
  template <class Predicate>
  const T* FindNewest(const Predicate& matches) const {
    for (const Node* node = newest_.load(std::memory_order_acquire); node != nullptr;
         node = node->older) {
      if (matches(node->value)) return &node->value;
    }
    return nullptr;
  }

 private:
  struct Node {
    T value;
    Node* older;
  };
  std::atomic<Node*> newest_{nullptr};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_MEMORY_APPEND_ONLY_LIST_H_
