#include "emulator/console/console.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::emulator::console {
namespace {

constexpr unsigned char kPage[] = {0x1f, 0x8b, 1};
constexpr unsigned char kScript[] = {0x1f, 0x8b, 0, 2};
constexpr Asset kAssets[] = {
    {"assets/index-C0FFEE12.js", "text/javascript", "\"js\"", kScript},
    {"index.html", "text/html", "\"page\"", kPage},
};

// A request to the console, and its response or refusal.
struct Served {
  explicit Served(const std::string& target, std::vector<message::HeaderView> headers = {},
                  std::string_view method = "GET", std::span<const Asset> assets = kAssets)
      : head{.method = method, .target = target, .headers = std::move(headers)},
        exchange(head, connection),
        refusal(Serve(exchange, assets)) {}

  int status() const { return refusal ? refusal->status : exchange.response.status; }
  std::string body() const {
    const auto* const text = std::get_if<std::string>(&exchange.response.body);
    return text != nullptr ? *text : std::string();
  }
  std::string Header(std::string_view name) const {
    return std::string(exchange.response.Find(name).value_or(std::string_view()));
  }

  message::RequestHead head;
  message::Connection connection;
  message::Exchange exchange;
  const std::optional<Refusal> refusal;
};

TEST(ConsoleTest, RecognizesItsTargets) {
  for (const char* target : {"/console", "/console/", "/console?x", "/console/assets/a.js"})
    EXPECT_TRUE(IsConsoleTarget(target)) << target;
  for (const char* target : {"/", "/consoles", "/_penstock/console", "console", "//console"})
    EXPECT_FALSE(IsConsoleTarget(target)) << target;
}

TEST(ConsoleTest, SendsThePageThatBrowsersRevalidate) {
  const Served page("/console/?from=docs");
  EXPECT_EQ(page.status(), 200);
  EXPECT_EQ(page.body(), std::string("\x1f\x8b\x01"));
  EXPECT_EQ(page.Header("Content-Type"), "text/html");
  EXPECT_EQ(page.Header("Content-Encoding"), "gzip");
  EXPECT_EQ(page.Header("Cache-Control"), "no-cache");
  EXPECT_EQ(page.Header("ETag"), "\"page\"");
  EXPECT_EQ(page.Header("Vary"), "Accept-Encoding");
  EXPECT_EQ(Served("/console").status(), 308);
}

TEST(ConsoleTest, SendsFilesThatBrowsersKeep) {
  const Served script("/console/assets/index-C0FFEE12.js");
  EXPECT_EQ(script.status(), 200);
  EXPECT_EQ(script.body().size(), 4u) << "NUL bytes are kept";
  EXPECT_EQ(script.Header("Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(ConsoleTest, RespondsToHeadAndConditions) {
  const Served head("/console/", {}, "HEAD");
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.body(), "");
  EXPECT_EQ(head.exchange.response.content_length, 3u);
  for (const char* known : {"\"page\"", "\"old\", \"page\"", "W/\"page\"", "*"}) {
    const Served unchanged("/console/", {{"If-None-Match", known}});
    EXPECT_EQ(unchanged.status(), 304) << known;
    EXPECT_EQ(unchanged.body(), "");
    EXPECT_EQ(unchanged.Header("ETag"), "\"page\"");
  }
  EXPECT_EQ(Served("/console/", {{"If-None-Match", "\"old\""}}).status(), 200);
}

TEST(ConsoleTest, RefusesClientsThatDoNotDecompress) {
  for (const char* accepted : {"gzip", "br, GZIP", "gzip;q=0.1", "*", "deflate, gzip;q=1.0"})
    EXPECT_EQ(Served("/console/", {{"Accept-Encoding", accepted}}).status(), 200) << accepted;
  for (const char* refused : {"identity", "", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip-like"})
    EXPECT_EQ(Served("/console/", {{"Accept-Encoding", refused}}).status(), 406) << refused;
}

TEST(ConsoleTest, HasNoOtherFiles) {
  for (const char* target :
       {"/console/index.html", "/console/assets/", "/console/assets/index-C0FFEE12.js/",
        "/console/assets/../assets/index-C0FFEE12.js", "/console//", "/console/%61ssets"})
    EXPECT_EQ(Served(target).status(), 404) << target;
  EXPECT_EQ(Served("/console/", {}, "POST").status(), 405);
}

TEST(ConsoleTest, SaysHowToBuildTheConsole) {
  const Served page("/console/", {{"Accept-Encoding", "identity"}}, "GET", {});
  EXPECT_EQ(page.status(), 503);
  EXPECT_NE(page.body().find("./dev console"), std::string::npos);
  EXPECT_EQ(page.Header("Content-Encoding"), "");
  EXPECT_EQ(page.Header("Cache-Control"), "no-store");
}

TEST(ConsoleTest, EmbeddedFilesIncludeThePage) {
  const auto assets = EmbeddedAssets();
  if (assets.empty()) return;  // the console was not built
  EXPECT_TRUE(std::any_of(assets.begin(), assets.end(), [](const Asset& asset) {
    return asset.path == "index.html" && asset.content_type.starts_with("text/html");
  }));
  for (const Asset& asset : assets) {
    ASSERT_GT(asset.gzip.size(), 2u) << asset.path;
    EXPECT_EQ(asset.gzip[0], 0x1f) << asset.path;
  }
}

}  // namespace
}  // namespace penstock::emulator::console
