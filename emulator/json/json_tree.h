// JSON values whose destruction needs no memory.
//
// The destructor of nlohmann::json moves nested values into a vector first. Where that vector finds
// no memory, the exception leaves a destructor and ends the process. A JsonTree removes nested
// values itself, from the leaves up.
#ifndef PENSTOCK_EMULATOR_JSON_JSON_TREE_H_
#define PENSTOCK_EMULATOR_JSON_JSON_TREE_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator {

// Owns a value. Build nested values in place (`Json& list = root["list"] = Json::array()`) and in
// objects with room (EmptyObject): a nested value outside of a tree has the library's destructor,
// and so have the temporaries of `Json{{"a", 1}}` and the members of an object that grows.
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

// With room for so many members.
Json EmptyObject(std::size_t members);

// What ParseJson refuses.
Result<void> CheckJsonText(std::string_view text);

// ParseJson for texts from outside: also while it builds the value, and when the value goes, it
// needs no memory to give memory back.
Result<JsonTree> ParseJsonTree(std::string_view text);

// {"name":value,...} in one line, without a tree. Names are plain ASCII. Bytes that are not UTF-8
// are replaced.
std::string JsonObjectText(std::initializer_list<std::pair<std::string_view, Json>> members);

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_JSON_JSON_TREE_H_
