#include "emulator/s3/core/exchange.h"

#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {

std::optional<std::string_view> RequestHead::Find(std::string_view name) const {
  for (const HeaderView& header : headers) {
    if (header.name.size() == name.size() && EqualsIgnoreCase(header.name, name))
      return header.value;
  }
  return std::nullopt;
}

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

}  // namespace penstock::emulator::s3
