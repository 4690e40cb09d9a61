// The client that the benchmarks' programs measure.
#ifndef PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_
#define PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_

#include <memory>
#include <utility>

#include "bench/clients/cost.h"
#include "penstock/client.h"

namespace penstock::bench {

// Of one endpoint, with buckets in the path and credentials from the environment.
inline ClientConfig ConfigFor(const char* endpoint) {
  ClientConfig config;
  config.endpoint_url = endpoint;
  config.region = "us-east-1";
  config.addressing = AddressingStyle::kPath;
  return config;
}

// Ends the program where that fails.
inline std::unique_ptr<Client> MakeClient(const char* endpoint) {
  auto made = Client::Create(ConfigFor(endpoint));
  if (!made.ok()) Fail(made.error().ToString());
  return std::move(made).value();
}

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_
