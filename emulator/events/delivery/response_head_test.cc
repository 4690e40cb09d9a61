#include "emulator/events/delivery/response_head.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::events {
namespace {

TEST(ResponseHeadTest, HasAStatus) {
  EXPECT_EQ(ParseResponseHead("HTTP/1.1 204 No Content")->status, 204);
  EXPECT_EQ(ParseResponseHead("HTTP/1.0 503")->status, 503);
  for (const char* text :
       {"", "HTTP/1.1", "HTTP/1.1 20", "HTTP/2 200", "HTTP/1.1  200 OK", "HTTP/1.1 +20 OK",
        "HTTP/1.1 099 OK", "HTTP/1.1 2000 OK", "\x16\x03\x01 200 OK 200"})
    EXPECT_FALSE(ParseResponseHead(text)) << text;
}

// Anything else than a plain response with a short body ends the connection.
TEST(ResponseHeadTest, SaysWhetherTheConnectionCanBeUsedAgain) {
  const struct {
    const char* headers;
    std::optional<std::size_t> length;
  } kCases[] = {
      {"200 OK\r\nContent-Length: 2", 2},
      {"200 OK\r\ncontent-length:0", 0},
      {"204 No Content", 0},
      {"200 OK\r\nConnection: keep-alive\r\nContent-Length: 65536", 65536},
      {"200 OK\r\nConnection: close\r\nContent-Length: 2", std::nullopt},
      {"200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2", std::nullopt},
      {"200 OK\r\nContent-Length: 65537", std::nullopt},
      {"200 OK\r\nContent-Length: 2x", std::nullopt},
      {"200 OK\r\nContent-Length: -2", std::nullopt},
      {"200 OK\r\nContent-Length:", std::nullopt},
      {"200 OK\r\nContent-Length: 99999999999999999999", std::nullopt},
      {"200 OK\r\nContent-Length: 2\r\nContent-Length: 2", std::nullopt},
      {"200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2", std::nullopt},
      {"200 OK", std::nullopt},
  };
  for (const auto& one : kCases) {
    const auto head = ParseResponseHead(std::string("HTTP/1.1 ") + one.headers);
    ASSERT_TRUE(head) << one.headers;
    EXPECT_EQ(head->reusable_after, one.length) << one.headers;
  }
  EXPECT_FALSE(ParseResponseHead("HTTP/1.0 200 OK\r\nContent-Length: 2")->reusable_after);
}

}  // namespace
}  // namespace penstock::emulator::events
