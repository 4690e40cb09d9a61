// What a reader makes of an immutable record and keeps with it.
#ifndef PENSTOCK_EMULATOR_STORE_CACHED_VALUE_H_
#define PENSTOCK_EMULATOR_STORE_CACHED_VALUE_H_

#include <atomic>
#include <memory>

namespace penstock::emulator::store {

// Empty until somebody asks, then one value for as long as the record lives. A copy begins empty:
// it is about to differ. Thread safety: Get from any thread; everything else as any member of the
// record.
class CachedValue {
 public:
  class Value {
   public:
    virtual ~Value() = default;
  };

  CachedValue() = default;
  CachedValue(const CachedValue&) {}
  CachedValue& operator=(const CachedValue&) {
    delete value_.exchange(nullptr, std::memory_order_acq_rel);
    return *this;
  }
  ~CachedValue() { delete value_.load(std::memory_order_acquire); }

  // The value, which `make()`, a std::unique_ptr<const T>, gives where there is none; where two ask
  // at once, one of theirs. Always the same T for one memo.
  template <class T, class Make>
  const T& Get(const Make& make) const {
    const Value* value = value_.load(std::memory_order_acquire);
    if (value == nullptr) {
      std::unique_ptr<const T> made = make();
      if (value_.compare_exchange_strong(value, made.get(), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        value = made.release();
      }
    }
    return static_cast<const T&>(*value);
  }

 private:
  mutable std::atomic<const Value*> value_{nullptr};
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CACHED_VALUE_H_
