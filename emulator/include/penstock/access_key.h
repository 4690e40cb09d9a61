// An access key of the emulator, and changes to it.
#ifndef PENSTOCK_ACCESS_KEY_H_
#define PENSTOCK_ACCESS_KEY_H_

#include <optional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

struct AccessKey {
  std::string id;
  std::string secret;
};

// Changes to one access key. Unset members stay unchanged.
struct AccessKeyChange {
  std::optional<bool> active = std::nullopt;
  std::optional<WallTime> expires = std::nullopt;
  std::optional<std::string> name_space = std::nullopt;
};

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_ACCESS_KEY_H_
