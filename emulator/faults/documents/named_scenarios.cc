#include "emulator/faults/documents/named_scenarios.h"

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

const std::vector<NamedScenario>& NamedScenarios() {
  static const std::vector<NamedScenario> scenarios{
      {"ack-lost-on-complete",
       "The first CompleteMultipartUpload succeeds, but its response is lost: the connection ends "
       "with RST.",
       R"([{"id": "lost-ack", "when": {"operation": "CompleteMultipartUpload"}, "do": {"reset": {}, "at": "after_commit"},
            "limit": {"times": 1}}])"},
      {"chaos-heavy",
       "High failure rate: about one of four requests fails, in every way that a client should "
       "retry, each call at most three times.",
       R"([{"id": "slow", "when": {"probability": 0.2}, "do": {"latency": {"min_ms": 20, "max_ms": 1000}}},
           {"id": "lost-ack", "when": {"operation": ["PutObject", "UploadPart", "CompleteMultipartUpload"], "probability": 0.04, "unless_failed": 3},
            "do": {"reset": {}, "at": "after_commit"}},
           {"id": "late-error", "when": {"operation": ["CompleteMultipartUpload", "CopyObject", "UploadPartCopy"], "probability": 0.1, "unless_failed": 3},
            "do": {"late_error": {"after_ms": 50, "every_ms": 10}}},
           {"id": "cut-body", "when": {"operation": "GetObject", "probability": 0.05, "unless_failed": 3}, "do": {"truncate": {}, "at": "body_out@1"}},
           {"id": "stalled-body", "when": {"operation": "GetObject", "probability": 0.02}, "do": {"stall": {"ms": 1000}, "at": "body_out@1"}},
           {"id": "throttled", "when": {"probability": 0.1, "unless_failed": 3}, "do": {"slow_down": {}}},
           {"id": "internal-error", "when": {"probability": 0.05, "unless_failed": 3}, "do": {"error": {"code": "InternalError"}}},
           {"id": "unavailable", "when": {"probability": 0.03, "unless_failed": 3}, "do": {"error": {"code": "ServiceUnavailable"}, "at": "headers"}},
           {"id": "dropped", "when": {"probability": 0.04, "unless_failed": 3}, "do": {"reset": {}}}])"},
      {"chaos-light",
       "Low failure rate: one of fifty requests is slow or fails, each call at most once.",
       R"([{"id": "slow", "when": {"probability": 0.01}, "do": {"latency": {"min_ms": 20, "max_ms": 200}}},
           {"id": "throttled", "when": {"probability": 0.005, "unless_failed": 1}, "do": {"slow_down": {}}},
           {"id": "internal-error", "when": {"probability": 0.005, "unless_failed": 1}, "do": {"error": {"code": "InternalError"}}}])"},
      {"chaos-medium",
       "Medium failure rate: about one of ten requests fails, each call at most twice.",
       R"([{"id": "slow", "when": {"probability": 0.05}, "do": {"latency": {"min_ms": 20, "max_ms": 500}}},
           {"id": "cut-body", "when": {"operation": "GetObject", "probability": 0.02, "unless_failed": 2}, "do": {"truncate": {}, "at": "body_out@1"}},
           {"id": "throttled", "when": {"probability": 0.04, "unless_failed": 2}, "do": {"slow_down": {}}},
           {"id": "internal-error", "when": {"probability": 0.02, "unless_failed": 2}, "do": {"error": {"code": "InternalError"}}},
           {"id": "dropped", "when": {"probability": 0.02, "unless_failed": 2}, "do": {"reset": {}}}])"},
      {"hot-prefix",
       "A prefix that has not been split yet: two of three requests for its keys get SlowDown, "
       "each at most three times.",
       R"([{"id": "hot", "when": {"operation": ["@read", "@write"], "probability": 0.66, "unless_failed": 3}, "do": {"slow_down": {}},
            "must_fire": true}])"},
      {"list-stampede",
       "Every rank lists the checkpoint at once: nine of ten listings get SlowDown, each at most "
       "three times.",
       R"([{"id": "throttled-list", "when": {"operation": "@list", "probability": 0.9, "unless_failed": 3}, "do": {"slow_down": {}},
            "must_fire": true}])"},
      {"one-rank-throttled",
       "Rank 0, by x-penstock-rank or \"rank/0\" in its user agent, gets SlowDown for its first "
       "two CreateMultipartUpload requests.",
       R"([{"id": "throttled-upload", "when": {"operation": "CreateMultipartUpload", "client": {"rank": 0}}, "do": {"slow_down": {}},
            "limit": {"times": 2}}])"},
      {"read-fan-in",
       "All ranks read the same objects: they share 200 MB/s per bucket, and one of ten reads gets "
       "SlowDown.",
       R"([{"id": "shared-bandwidth", "when": {"operation": "GetObject"}, "do": {"bandwidth": {"bytes_per_second": 200000000, "scope": "bucket"}}},
           {"id": "throttled-read", "when": {"operation": "GetObject", "probability": 0.1, "unless_failed": 3}, "do": {"slow_down": {}}}])"},
      {"slow-first-byte",
       "Slow time to first byte of reads: 100 ms plus a log-normal part with a median of 200 ms.",
       R"([{"id": "slow-start", "when": {"operation": "GetObject"}, "do": {"latency": {"floor_ms": 100, "median_ms": 200, "sigma": 0.8}}}])"},
      {"slow-node",
       "Every eighth connection reaches a slow node: 1 MB/s, and 300 ms to the first byte.",
       R"([{"id": "slow-connection", "when": {"operation": "@read", "connection": {"id": "every 8"}},
            "do": [{"latency": {"ms": 300}}, {"bandwidth": {"bytes_per_second": 1000000}}], "must_fire": false}])"},
  };
  return scenarios;
}

std::string NamedScenariosJson() {
  Json list = Json::array();
  for (const NamedScenario& scenario : NamedScenarios()) {
    list.push_back({{"name", scenario.name},
                    {"about", scenario.about},
                    {"rules", Json::parse(scenario.rules)}});
  }
  return Json{{"scenarios", std::move(list)}}.dump();
}

}  // namespace penstock::emulator::faults
