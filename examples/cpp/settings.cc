// Settings of a client: connections, rates, TLS, a proxy, timeouts, and a retry policy that decides
// on a thread of the program.
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "command_line.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "settings s3://bucket [--proxy URL] [--ca FILE] [--certificate FILE] [--key FILE] "
      "[--endpoint URL] [--region NAME]",
      {"proxy", "ca", "certificate", "key"});
  const auto bucket = line.ParsePlace(line.Argument(0)).bucket;

  penstock::ClientConfig config;
  config.endpoint_url = line.Option("endpoint");
  config.region = line.Option("region");
  config.proxy = penstock::ProxyConfig{.url = line.Option("proxy")};  // empty: no proxy
  config.ca_bundle_path = line.Option("ca");
  config.client_certificate_path = line.Option("certificate");  // may hold the key too
  config.client_key_path = line.Option("key");
  config.io_threads = 1;
  config.max_connections = 4;
  config.max_bytes_per_second = 64 << 20;
  config.connect_timeout = std::chrono::seconds(3);
  config.operation_timeout = std::chrono::seconds(60);

  // The first question goes to a thread of the program, and the I/O thread continues with other
  // work.
  std::atomic<bool> answered = false;
  std::promise<std::function<void(penstock::RetryVerdict)>> asked;
  config.async_retry_policy = [&](const penstock::RetryQuestion&, auto decide) {
    if (answered.exchange(true)) return decide(penstock::RetryVerdict::kDefault);
    asked.set_value(std::move(decide));
  };
  std::thread operator_thread([question = asked.get_future()]() mutable {
    question.get()(penstock::RetryVerdict::kRetry);
  });

  const auto client = penstock::Client::Create(std::move(config));
  if (!client.ok()) examples::Die(client.error().ToString());
  const auto missing =
      (*client)->HeadObject({bucket, penstock::ObjectKey("no/such/object"), {}, {}});
  if (!answered.exchange(true)) asked.set_value([](penstock::RetryVerdict) {});  // none was asked
  operator_thread.join();
  if (missing.ok()) examples::Die("the object exists");
  if (missing.error().kind != penstock::ErrorKind::kNotFound)
    examples::Die(missing.error().ToString());
  std::printf("%d attempts\n", missing.error().attempts);

  const std::string content(1 << 20, 'x');
  const auto put = (*client)->PutObject(bucket, penstock::ObjectKey("settings"), content);
  if (!put.ok()) examples::Die(put.error().ToString());
  std::printf("%llu bytes sent\n", static_cast<unsigned long long>((*client)->stats().bytes_sent));
}
