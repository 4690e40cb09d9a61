// A value that readers compute from an immutable record and cache in it.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_CACHED_VALUE_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_CACHED_VALUE_H_

#include <atomic>
#include <memory>

namespace penstock::emulator::store {

// Computed by the first Get and kept as long as the record. A copy starts empty because
// the copied record is about to be changed. Thread safety: Get may be called from any thread; all
// other members need exclusive access, like any member of the record.
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

  // Returns the cached value. If there is none, `make()` computes it as a std::unique_ptr<const T>;
  // of concurrent calls, one result is kept. T must be the same type in all calls for one
  // CachedValue.
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

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_CACHED_VALUE_H_
