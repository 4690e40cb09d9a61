// The client that the benchmark programs measure.
#ifndef PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_
#define PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_

#include <memory>
#include <utility>

#include "bench/clients/cost.h"
#include "penstock/client.h"

namespace penstock::bench {

// A configuration for `endpoint` with path-style addressing and credentials from the environment.
inline ClientConfig ConfigFor(const char* endpoint) {
  ClientConfig config;
  config.endpoint_url = endpoint;
  config.region = "us-east-1";
  config.addressing_style = AddressingStyle::kPath;
  return config;
}

// Ends the program on failure.
inline std::unique_ptr<Client> MakeClient(const char* endpoint) {
  auto made = Client::Create(ConfigFor(endpoint));
  if (!made.ok()) Fail(made.error().ToString());
  return std::move(made).value();
}

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CLIENTS_MAKE_CLIENT_H_
