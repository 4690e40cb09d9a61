#include "emulator/server/admin.h"

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace penstock::emulator::server {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

void Answer(api::Exchange& exchange, int status, std::string body) {
  exchange.response = api::Response();
  exchange.response.status = status;
  exchange.response.Add("Content-Type", "application/json");
  exchange.response.Add("Cache-Control", "no-store");
  if (exchange.request.method == "HEAD") {
    exchange.response.content_length = body.size();
  } else {
    exchange.response.body = std::move(body);
  }
}

class Admin final : public api::Handler {
 public:
  explicit Admin(AdminActions actions) : actions_(std::move(actions)) {}

  void Handle(api::Exchange& exchange) override {
    const std::string_view path = exchange.request.target.substr(0, exchange.request.target.find('?'));
    const bool get = exchange.request.method == "GET" || exchange.request.method == "HEAD";
    if (path == "/_penstock/health") {
      return get ? Answer(exchange, 200, Text({{"status", "ok"}, {"version", PENSTOCK_VERSION}})) : RefuseMethod(exchange, "GET, HEAD");
    }
    if (path == "/_penstock/stats") {
      return get ? Answer(exchange, 200, StatsJson(actions_.stats())) : RefuseMethod(exchange, "GET, HEAD");
    }
    if (path == "/_penstock/reset") {
      return exchange.request.method == "POST" ? Reset(exchange) : RefuseMethod(exchange, "POST");
    }
    Answer(exchange, 404,
           Text({{"error", "unknown path '" + std::string(path) +
                               "'; this listener serves /_penstock/health, /_penstock/stats and /_penstock/reset"}}));
  }

 private:
  static void RefuseMethod(api::Exchange& exchange, const char* allow) {
    Answer(exchange, 405, Text({{"error", "method not allowed; use " + std::string(allow)}}));
    exchange.response.Add("Allow", allow);
  }

  void Reset(api::Exchange& exchange) {
    const Result<void> done = actions_.reset();
    if (!done.ok()) return Answer(exchange, 500, Text({{"error", done.error().ToString()}}));
    Answer(exchange, 200, Text({{"status", "reset"}}));
  }

  const AdminActions actions_;
};

}  // namespace

std::string StatsJson(const EmulatorStats& stats) {
  Json json;
  json["requests"] = Json::object();
  for (const auto& [operation, count] : stats.requests) json["requests"][operation] = count;
  json["statuses"] = Json::object();
  for (const auto& [status, count] : stats.statuses) json["statuses"][std::to_string(status)] = count;
  json["bytes_in"] = stats.bytes_in;
  json["bytes_out"] = stats.bytes_out;
  json["injected_failures"] = stats.injected_failures;
  return Text(json);
}

std::unique_ptr<api::Handler> MakeAdmin(AdminActions actions) { return std::make_unique<Admin>(std::move(actions)); }

}  // namespace penstock::emulator::server
