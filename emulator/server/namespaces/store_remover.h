// Destroys reset or deleted stores on its own thread.
//
// Closing a large store and deleting its files takes time, and often a request holds the last
// reference to it.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_STORE_REMOVER_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_STORE_REMOVER_H_

#include <cstddef>
#include <memory>
#include <thread>

#include "penstock/base/mutex.h"

namespace penstock::emulator::server {

// Thread safety: any thread.
class StoreRemover {
 public:
  // Derived classes do the work in their destructors, which must not throw.
  class Item {
   public:
    Item() = default;
    virtual ~Item() = default;
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;

   private:
    friend class StoreRemover;
    std::unique_ptr<Item> next_;
  };

  StoreRemover() = default;
  // Destroys all items that are left.
  ~StoreRemover();
  StoreRemover(const StoreRemover&) = delete;
  StoreRemover& operator=(const StoreRemover&) = delete;

  // Destroys the item soon on another thread, or on this one if no thread can be started.
  void Add(std::unique_ptr<Item> item) noexcept;
  // Destroys items on the calling thread while more than `most` wait. Callers that add items use it
  // to bound their number.
  void Help(std::size_t most);

 private:
  std::unique_ptr<Item> TakeFirst() PENSTOCK_REQUIRES(mutex_);
  bool HasThread() PENSTOCK_REQUIRES(mutex_);
  void Work();

  Mutex mutex_;
  CondVar changed_;
  std::unique_ptr<Item> first_ PENSTOCK_GUARDED_BY(mutex_);  // a linked list: Add never allocates
  Item* last_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  std::size_t waiting_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);  // started by the first item
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_STORE_REMOVER_H_
