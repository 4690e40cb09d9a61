#include "emulator/message/response.h"

#include "base/ascii.h"

namespace penstock::emulator::message {

Delivery& Response::Delivering() {
  if (!delivery) delivery = std::make_unique<Delivery>();
  return *delivery;
}

void Response::Add(std::string name, std::string value) {
  headers.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> Response::Find(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (EqualsIgnoreCase(header, name)) return value;
  }
  return std::nullopt;
}

std::uint64_t BodySize(const Response& response) {
  if (const auto* const text = std::get_if<std::string>(&response.body)) return text->size();
  const auto* const content = std::get_if<Content>(&response.body);
  return content != nullptr ? content->size() : 0;
}

}  // namespace penstock::emulator::message
