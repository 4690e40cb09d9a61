// What a Client does: log lines, an event per attempt, histograms, and a retry policy.
#include <atomic>
#include <cstdio>

#include "command_line.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(argc, argv,
                                   "observe s3://bucket [--endpoint URL] [--region NAME]", {});
  const auto bucket = line.ParsePlace(line.Argument(0)).bucket;

  // One JSON object per line, without secrets. Lines may come from any thread, one at a time.
  std::atomic<int> lines = 0;
  penstock::SetLogSink(penstock::LogLevel::kInfo,
                       [&](penstock::LogLevel, const std::string&) { ++lines; });

  penstock::ClientConfig config;
  config.endpoint_url = line.Option("endpoint");
  config.region = line.Option("region");
  config.io_threads = 2;
  // A missing object is asked for once more, because another program may be about to write it.
  config.retry_policy = [](const penstock::RetryQuestion& question) {
    return question.error.kind == penstock::ErrorKind::kNotFound && question.attempt == 1
               ? penstock::RetryVerdict::kRetry
               : penstock::RetryVerdict::kDefault;
  };
  const auto client = penstock::Client::Create(std::move(config));
  if (!client.ok()) examples::Die(client.error().ToString());
  (*client)->SetObserver([](const penstock::RequestEvent& event) {
    std::printf("%s attempt %d: %d %s, request id %s\n", event.operation.c_str(), event.attempt,
                event.http_status, event.error_code.c_str(),
                event.request_id.empty() ? "none" : "present");
  });

  const auto missing = (*client)->GetObject(bucket, penstock::ObjectKey("no/such/object"));
  if (missing.ok()) examples::Die("the object exists");

  const penstock::ClientStats stats = (*client)->stats();
  for (const auto& [operation, times] : stats.operations) {
    std::printf("%s: %llu attempts, median %s\n", operation.c_str(),
                static_cast<unsigned long long>(times.requests),
                times.duration.Quantile(0.5).count() > 0 ? "measured" : "unknown");
  }
  penstock::SetLogSink(penstock::LogLevel::kOff, nullptr);
  std::printf("%s\n", lines > 0 ? "logged" : "no log line");
}
