// The reactor's part of libcurl's data plane: handles and connection pool.
#include <utility>

#include "client/http/reactor.h"

namespace penstock::http {

CURLM* Reactor::MakeMulti(std::size_t max_connections) {
  CURLM* const multi = curl_multi_init();
  // Without a fixed size, libcurl recomputes it from the number of handles and closes idle
  // connections.
  if (multi != nullptr)
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(max_connections));
  return multi;
}

void Reactor::ActivateOnCurl(const TransferPtr& transfer) {
  // Over TLS, readable bytes may be a TLS message; see EasySlot::FollowedByBytes.
  const bool is_plain = transfer->request.endpoint.scheme == "http";
  if (on_curl_ == 0 && (curl_tainted_ || (is_plain && curl_sockets_.HaveInput())))
    CloseIdleCurlConnections();
  if (free_slots_.empty()) {
    std::unique_ptr<EasySlot> fresh = EasySlot::Create(options_, share_, &curl_sockets_);
    if (fresh == nullptr)
      return Finish(transfer,
                    Error::Make(ErrorKind::kResourceExhausted, "libcurl is out of memory"));
    free_slots_.reserve(slots_.size() + 1);  // for all slots, so that Finish cannot fail
    slots_.push_back(std::move(fresh));
    free_slots_.push_back(slots_.back().get());
  }
  EasySlot* slot = free_slots_.back();
  if (Result<void> loaded = slot->Load(*transfer, options_, share_); !loaded.ok()) {
    transfer->slot = nullptr;
    return Finish(transfer, std::move(loaded).error());
  }
  curl_easy_setopt(slot->handle, CURLOPT_FRESH_CONNECT, curl_tainted_ ? 1L : 0L);
  if (!transfer->OnRewind()) {
    transfer->slot = nullptr;
    return Finish(transfer, *transfer->error);
  }
  if (curl_multi_add_handle(multi_, slot->handle) != CURLM_OK) {
    transfer->slot = nullptr;
    return Finish(transfer, Error::Make(ErrorKind::kResourceExhausted,
                                        "libcurl does not accept another request"));
  }
  free_slots_.pop_back();
  transfer->state = TransferState::kActive;
  AddActive(transfer);
  ++on_curl_;
  curl_idle_until_ = MonotonicTime::max();
  Arm(transfer);
}

void Reactor::ReapFinished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    EasySlot* slot = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
    const TransferPtr transfer = active_[slot->transfer->active_index];
    if (slot->FollowedByBytes()) curl_tainted_ = true;
    Result<Outcome> outcome = slot->Conclude(code);
    Finish(transfer, std::move(outcome));
  }
}

// libcurl checks the age of idle connections only when it needs one, so without requests it keeps
// them forever. Replacing the multi handle closes them.
void Reactor::CloseIdleCurlConnections() {
  curl_idle_until_ = MonotonicTime::max();
  CURLM* const fresh = MakeMulti(max_transfers_);
  if (fresh == nullptr) return;  // out of memory: the connections stay for now
  curl_multi_cleanup(std::exchange(multi_, fresh));
  curl_tainted_ = false;
}

}  // namespace penstock::http
