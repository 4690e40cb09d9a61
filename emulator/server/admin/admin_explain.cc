#include <utility>

#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

// Parameters with a colon are condition keys. A key can be given several times.
Result<std::string> QuestionOf(const AdminCall& call) {
  JsonTree tree(EmptyObject(5));
  Json& question = tree.root();
  Json& context = question["context"] = EmptyObject(call.query.size());
  for (const auto& [name, value] : call.query) {
    if (name.find(':') != std::string::npos) {
      if (!context.contains(name)) context[name] = Json::array();
      context[name].push_back(value);
    } else {
      question[name] = value;
    }
  }
  if (context.empty()) question.erase("context");
  return JsonText(question);
}

Result<AdminReply> Explain(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::string question, QuestionOf(call));
  PENSTOCK_ASSIGN(std::string answer, emulator.Explain(call.space(), question));
  return AdminReply{std::move(answer) + "\n"};
}

constexpr AdminRoute kRoutes[] = {{"explain", "GET", Explain, 200, "*"},
                                  {"explain/", "GET", Explain, 200, "*"}};

}  // namespace

std::span<const AdminRoute> ExplainRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
