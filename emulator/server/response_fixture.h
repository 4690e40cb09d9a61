// Reads one HTTP response from a connection and checks its format. Test support only.
#ifndef PENSTOCK_EMULATOR_SERVER_RESPONSE_FIXTURE_H_
#define PENSTOCK_EMULATOR_SERVER_RESPONSE_FIXTURE_H_

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {

struct ParsedResponse {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;     // without chunk framing; may be incomplete
  bool whole = false;   // false: the connection ended before the end of the response
  std::string mistake;  // error in the format; empty: none

  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
  // Content of an element of the error document; empty if there is none.
  std::string Element(const std::string& name) const {
    const std::size_t at = body.find("<" + name + ">");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 2;
    return body.substr(begin, body.find("</" + name + ">", begin) - begin);
  }
};

// Reads one response to a request other than HEAD.
class ResponseReader {
 public:
  explicit ResponseReader(const Wire& wire) : wire_(wire) {}

  ParsedResponse Read() {
    ParsedResponse response;
    if (ReadHead(response) && response.mistake.empty()) ReadBody(response);
    if (response.whole && !text_.empty())
      response.mistake = "bytes after the response: " + text_.substr(0, 100);
    return response;
  }

 private:
  bool More() {
    const std::string some = wire_.ReceiveSome();
    text_ += some;
    return !some.empty();
  }
  // Returns the text before `mark` and removes both; nullopt if the connection ended before `mark`.
  std::optional<std::string> Until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = text_.find(mark)) == std::string::npos) {
      if (!More()) return std::nullopt;
    }
    std::string found = text_.substr(0, at);
    text_.erase(0, at + mark.size());
    return found;
  }
  // Moves `count` bytes to `body`. Returns false if the connection ended before that.
  bool Take(std::size_t count, std::string& body) {
    while (text_.size() < count) {
      if (More()) continue;
      body += text_;
      return false;
    }
    body += text_.substr(0, count);
    text_.erase(0, count);
    return true;
  }

  bool ReadHead(ParsedResponse& response) {
    const auto head = Until("\r\n\r\n");
    if (!head) return false;
    std::string_view rest = *head;
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    const bool right = line.starts_with("HTTP/1.1 ") && line.size() > 13 && line[12] == ' ';
    if (right) response.status = std::atoi(std::string(line.substr(9, 3)).c_str());
    if (!right || response.status < 200 || response.status > 599)
      response.mistake = "status line '" + std::string(line) + "'";
    while (rest.size() > line.size() && rest.find("\r\n") != std::string_view::npos) {
      rest.remove_prefix(rest.find("\r\n") + 2);
      const std::string_view header = rest.substr(0, rest.find("\r\n"));
      const std::size_t colon = header.find(": ");
      if (colon == std::string_view::npos) {
        response.mistake = "header '" + std::string(header) + "'";
      } else if (!response.headers.emplace(header.substr(0, colon), header.substr(colon + 2))
                      .second) {
        response.mistake = "header twice: '" + std::string(header) + "'";
      }
    }
    return true;
  }

  void ReadBody(ParsedResponse& response) {
    const std::string length = response.Header("Content-Length");
    const bool chunked = response.Header("Transfer-Encoding") == "chunked";
    if (chunked == !length.empty() && response.status != 204) {
      response.mistake = "neither or both of Content-Length and Transfer-Encoding, status " +
                         std::to_string(response.status);
    } else if (chunked) {
      ReadChunks(response);
    } else {
      response.whole = Take(static_cast<std::size_t>(std::atoll(length.c_str())), response.body);
    }
  }

  void ReadChunks(ParsedResponse& response) {
    for (;;) {
      const auto line = Until("\r\n");
      if (!line) return;
      std::size_t size = 0;
      const auto [end, error] =
          std::from_chars(line->data(), line->data() + line->size(), size, 16);
      if (error != std::errc() || end != line->data() + line->size()) {
        response.mistake = "chunk of size '" + *line + "'";
        return;
      }
      if (size > 0 && !Take(size, response.body)) return;
      std::string end_of_chunk;
      if (!Take(2, end_of_chunk)) return;
      if (end_of_chunk != "\r\n") {
        response.mistake = "chunk without its end";
        return;
      }
      response.whole = size == 0;
      if (response.whole) return;
    }
  }

  const Wire& wire_;
  std::string text_;  // received and not parsed yet
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_RESPONSE_FIXTURE_H_
