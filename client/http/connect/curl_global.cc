#include "client/http/connect/curl_global.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <pthread.h>

#include <atomic>
#include <string>

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

// libcurl reports its OpenSSL version. Two copies of the same release have the same structures.
bool CompareOpenSsl() {
  const char* const theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return theirs != nullptr &&
         theirs == std::string("OpenSSL/") + OpenSSL_version(OPENSSL_VERSION_STRING);
}

}  // namespace

unsigned ForkGeneration() { return generation.load(std::memory_order_relaxed); }

bool InitCurl() {
  const MutexLock lock(init_mutex);
  if (!initialised) initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return initialised;
}

bool UsesOurOpenSsl() {
  // Not a local static, because a forked child could inherit its guard locked.
  enum class Whose { kUnknown, kOurs, kOther };
  static constinit std::atomic<Whose> known{Whose::kUnknown};
  Whose whose = known.load(std::memory_order_relaxed);
  if (whose == Whose::kUnknown)
    known.store(whose = CompareOpenSsl() ? Whose::kOurs : Whose::kOther, std::memory_order_relaxed);
  return whose == Whose::kOurs;
}

}  // namespace penstock::http
