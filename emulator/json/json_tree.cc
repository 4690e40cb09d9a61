#include "emulator/json/json_tree.h"

#include <algorithm>
#include <vector>

#include "penstock/base/check.h"

namespace penstock::emulator {
namespace {

// Recurses as deep as the value. Values of ParseJson have at most kMaxJsonDepth levels.
void RemoveNested(Json& json) noexcept {
  if (auto* const list = json.get_ptr<Json::array_t*>()) {
    for (Json& value : *list) RemoveNested(value);
    list->clear();
  } else if (auto* const object = json.get_ptr<Json::object_t*>()) {
    for (auto& [name, value] : *object) RemoveNested(value);
    object->clear();
  }
}

// Reserves capacity for another member. The library's own growth would copy nested values, because
// its keys are const.
void MakeRoom(Json::object_t& object) {
  if (object.size() < object.capacity()) return;
  Json::object_t larger;
  larger.reserve(std::max<std::size_t>(4, 2 * object.size()));
  for (const auto& [name, value] : object) larger.emplace_back(name, nullptr);
  auto from = object.begin();
  for (auto& [name, value] : larger) value.swap((from++)->second);  // no exceptions from here on
  object.swap(larger);
}

// Builds a value in `root`. Every value is stored in its final place before its members are read,
// so that an exception leaves no nested value outside `root`.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(Json& root) : root_(root) {}

  bool null() override { return Put(Json(nullptr)); }
  bool boolean(bool value) override { return Put(Json(value)); }
  bool number_integer(number_integer_t value) override { return Put(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Put(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return Put(Json(value)); }
  bool string(string_t& value) override { return Put(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    auto& object = open_.back()->get_ref<Json::object_t&>();
    MakeRoom(object);
    place_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Put(Json value) {
    if (!open_.empty() && open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      place_ = &open_.back()->back();
    } else {
      *place_ = std::move(value);
    }
    return true;
  }
  bool Open(Json empty) {
    Put(std::move(empty));
    open_.push_back(place_);
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  Json* place_ = &root_;     // for the next value, unless a list is open
  std::vector<Json*> open_;  // outermost first
};

}  // namespace

JsonTree::~JsonTree() { RemoveNested(root_); }

Json EmptyObject(std::size_t members) {
  Json json = Json::object();
  json.get_ref<Json::object_t&>().reserve(members);
  return json;
}

Result<JsonTree> ParseJsonTree(std::string_view text) {
  PENSTOCK_TRY(CheckJsonText(text));
  JsonTree tree;
  Builder builder(tree.root());
  const bool built = Json::sax_parse(text, &builder);
  PENSTOCK_CHECK(built);  // the text was checked before
  return tree;
}

std::string JsonObjectText(std::initializer_list<std::pair<std::string_view, Json>> members) {
  std::string text = "{";
  for (const auto& [name, value] : members) {
    text.append(text.size() > 1 ? ",\"" : "\"").append(name).append("\":");
    text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text += "}";
}

}  // namespace penstock::emulator
