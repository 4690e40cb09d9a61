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
inline Result<CredentialsPtr> Ask(const ProviderPtr& provider) {
  std::optional<Result<CredentialsPtr>> answer;
  provider->Start([&](Result<CredentialsPtr> result) { answer.emplace(std::move(result)); });
  return *answer;
}

inline Error ErrorOf(const ProviderPtr& provider) {
  const Result<CredentialsPtr> answer = Ask(provider);
  EXPECT_FALSE(answer.ok());
  return answer.ok() ? Error() : answer.error();
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
