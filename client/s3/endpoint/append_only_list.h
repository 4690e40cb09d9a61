// A list that only grows, read and extended without locks: nothing in it can be left locked in a
// forked child. For a handful of entries (observers, signers, learned regions); not for many.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_APPEND_ONLY_LIST_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_APPEND_ONLY_LIST_H_

#include <atomic>
#include <utility>

namespace penstock::s3 {

// Entries live, unmoved, until the list is destroyed. Thread safety: safe from any thread, but
// destruction.
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

  // Visits every entry, the newest first.
  template <class Visitor>
  void ForEach(const Visitor& visit) const {
    for (const Node* node = newest_.load(std::memory_order_acquire); node != nullptr;
         node = node->older)
      visit(node->value);
  }

  // The newest entry that `matches`, or null.
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

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_APPEND_ONLY_LIST_H_
