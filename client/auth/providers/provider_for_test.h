// Test helpers: call a provider, and a fake environment for providers that send requests.
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_FOR_TEST_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "client/auth/environment_for_test.h"
#include "client/auth/providers/credentials.h"
#include "client/http/fake_transport.h"

namespace penstock::auth {

// Returns the result of a provider that completes before Start returns.
inline Result<CredentialsPtr> GetCredentials(const ProviderPtr& provider) {
  std::optional<Result<CredentialsPtr>> result;
  provider->Start([&](Result<CredentialsPtr> done) { result.emplace(std::move(done)); });
  return *result;
}

inline Error ErrorOf(const ProviderPtr& provider) {
  const Result<CredentialsPtr> result = GetCredentials(provider);
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error() : result.error();
}

// `transport` must outlive the context.
inline RemoteContext FakeContext(http::FakeTransport& transport, TextMap variables,
                                 TextMap files = {}) {
  RemoteContext context;
  context.environment = FakeEnvironment(std::move(variables), std::move(files));
  context.clock = &transport.clock();
  context.transport = [&transport] { return TransportPtr(TransportPtr(), &transport); };
  context.region = "eu-west-1";
  return context;
}

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_FOR_TEST_H_
