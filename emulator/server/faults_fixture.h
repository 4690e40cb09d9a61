// Shared by the tests of faults: an emulator without signatures, one object, and a client that sees
// how a connection ends.
#ifndef PENSTOCK_EMULATOR_SERVER_FAULTS_FIXTURE_H_
#define PENSTOCK_EMULATOR_SERVER_FAULTS_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

struct ReceivedResponse {
  std::string text;
  bool reset = false;  // the connection ended with RST
  int status() const { return text.starts_with("HTTP/1.1 ") ? std::atoi(text.c_str() + 9) : 0; }
};

// Replaces dates and ids, which differ between responses, with "*".
inline std::string Scrubbed(const std::string& text) {
  static const std::regex headers("(x-amz-id-2|x-amz-request-id|Date|Last-Modified): [^\r]*");
  static const std::regex elements("<(RequestId|HostId)>[^<]*<");
  return std::regex_replace(std::regex_replace(text, headers, "$1: *"), elements, "<$1>*<");
}

class FaultsTest : public testing::Test {
 protected:
  explicit FaultsTest(EmulatorOptions options = {.auth = AuthMode::kOff})
      : emulator_(Emulator::Start(std::move(options)).value()) {
    SendRequest("PUT", "/bucket");
    SendRequest("PUT", "/bucket/key", "0123456789");
  }

  // 10 s without a byte count as an orderly close.
  ReceivedResponse Send(const std::string& bytes) {
    const Wire wire(emulator_->endpoint());
    wire.Send(bytes);
    ReceivedResponse response;
    response.text = wire.Receive(std::string::npos, &response.reset);
    return response;
  }
  ReceivedResponse SendRequest(const std::string& method, const std::string& target,
                               const std::string& body = {}, const std::string& headers = {}) {
    return Send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // Deletes the keys "a", "b" and "key" in one request.
  ReceivedResponse DeleteThree() {
    // python3: base64.b64encode(hashlib.md5(document).digest())
    return SendRequest("POST", "/bucket?delete",
                       "<Delete><Object><Key>a</Key></Object><Object><Key>b</Key></"
                       "Object><Object><Key>key</Key></Object></Delete>",
                       "Content-MD5: cyR88Gu6Ji0m7uxFUvnzFg==\r\n");
  }
  ReceivedResponse Get(const std::string& headers = {}) {
    return SendRequest("GET", "/bucket/key", {}, headers);
  }

  void Set(const std::string& json) {
    const auto set = emulator_->SetFaults("default", json);
    ASSERT_TRUE(set.ok()) << set.error().message << " in " << json;
  }
  // Sets a scenario of one rule with one action.
  void SetAction(const std::string& action) { Set(R"([{"id": "rule", "do": )" + action + "}]"); }
  nlohmann::json Account() const {
    return nlohmann::json::parse(emulator_->FaultAccount("default").value());
  }
  std::uint64_t Fired() const { return Account().at("fired"); }

  const std::unique_ptr<Emulator> emulator_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_FAULTS_FIXTURE_H_
