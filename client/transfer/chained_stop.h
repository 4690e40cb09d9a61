// A stop source that the caller's stop token also triggers.
#ifndef PENSTOCK_CLIENT_TRANSFER_CHAINED_STOP_H_
#define PENSTOCK_CLIENT_TRANSFER_CHAINED_STOP_H_

#include <functional>
#include <stop_token>
#include <utility>

namespace penstock::transfer {

// Thread safety: request_stop from any thread.
class ChainedStop {
 public:
  explicit ChainedStop(std::stop_token caller) : chain_(std::move(caller), Forward{own_}) {}

  std::stop_token token() const { return own_.get_token(); }
  void RequestStop() { own_.request_stop(); }
  std::stop_source source() const { return own_; }

 private:
  struct Forward {
    std::stop_source target;
    void operator()() noexcept { target.request_stop(); }
  };
  std::stop_source own_;
  std::stop_callback<Forward> chain_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_CHAINED_STOP_H_
