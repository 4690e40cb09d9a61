#include "client/http/connect/curl_global.h"

#include <curl/curl.h>
#include <pthread.h>

#include <atomic>

#include "penstock/base/mutex.h"

namespace penstock::http {
namespace {

std::atomic<unsigned> generation{0};
Mutex init_mutex;  // held across fork(), so that a child never inherits a partial initialisation
bool initialised PENSTOCK_GUARDED_BY(init_mutex) = false;

void BeforeFork() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS { init_mutex.Lock(); }
void AfterForkInParent() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS { init_mutex.Unlock(); }
void AfterForkInChild() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
  generation.fetch_add(1, std::memory_order_relaxed);
  init_mutex.Unlock();
}

// Registered at load time: a fork could interrupt a lazy registration.
[[maybe_unused]] const int registered =
    pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);

}  // namespace

unsigned ForkGeneration() { return generation.load(std::memory_order_relaxed); }

bool InitCurl() {
  const MutexLock lock(init_mutex);
  if (!initialised) initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return initialised;
}

}  // namespace penstock::http
