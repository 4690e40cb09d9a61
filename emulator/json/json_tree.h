// JSON values whose destruction needs no memory.
//
// The destructor of nlohmann::json first moves nested values into a vector. If that allocation
// fails, the exception leaves a destructor and terminates the process. A JsonTree removes nested
// values itself, from the leaves up.
#ifndef PENSTOCK_EMULATOR_JSON_JSON_TREE_H_
#define PENSTOCK_EMULATOR_JSON_JSON_TREE_H_

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator {

// Owns a value. Build nested values in place (`Json& list = root["list"] = Json::array()`) and in
// objects with reserved capacity (EmptyObject). Nested values outside a tree use the library's
// destructor. This includes temporaries of `Json{{"a", 1}}` and members of an object that grows.
class JsonTree {
 public:
  explicit JsonTree(Json root = {}) : root_(std::move(root)) {}
  ~JsonTree();
  JsonTree(JsonTree&&) noexcept = default;  // leaves null
  JsonTree& operator=(JsonTree&&) = delete;
  Json& root() { return root_; }
  const Json& root() const { return root_; }

 private:
  Json root_;
};

// Returns an object with capacity for `members` members.
Json EmptyObject(std::size_t members);

// A span of time as the members that end in _s have it.
inline double InSeconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

// Returns the errors of ParseJson without building the value.
Result<void> CheckJsonText(std::string_view text);

// ParseJson for untrusted texts. If memory runs out while the value is built or destroyed, no
// further allocation is needed to free it.
Result<JsonTree> ParseJsonTree(std::string_view text);

// Formats {"name":value,...} on one line without a tree. Names must be plain ASCII. Invalid UTF-8
// is replaced.
std::string JsonObjectText(std::initializer_list<std::pair<std::string_view, Json>> members);

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_JSON_JSON_TREE_H_
