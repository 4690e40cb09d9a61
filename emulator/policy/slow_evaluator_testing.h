// Test only: a second evaluation of policies, written from AWS's documentation without the code of
// this module. It reads policies as JSON in every request, and favours short rules over speed.
#ifndef PENSTOCK_EMULATOR_POLICY_SLOW_EVALUATOR_TESTING_H_
#define PENSTOCK_EMULATOR_POLICY_SLOW_EVALUATOR_TESTING_H_

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace penstock::emulator::policy::slow {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

struct Question {
  std::string type;  // "anonymous", "root", "user", "session".
  std::string account, canonical, arn, role, id;
  bool limited = false;  // Has `identity`, `boundary` and `session`.
  std::vector<Json> identity;
  Json boundary, session;  // Null: none.
  std::string action, resource;
  bool same_account = false;
  Json bucket_policy;  // Null: none.
  bool bucket_policy_may_allow = true;
  std::string acl;  // "", "account", "group", "initiator".
  bool root_always = false;
  std::map<std::string, Texts> context;  // Keys in lower case.
};

inline std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

inline Texts List(const Json& json) {
  Texts all;
  if (!json.is_array()) return {json.is_string() ? json.get<std::string>() : json.dump()};
  for (const Json& one : json) all.push_back(List(one).front());
  return all;
}

// A pattern as a list of tokens: "*", "?", or a literal with the mark '='.
inline std::optional<Texts> Tokens(const std::string& text, const Question& question,
                                   bool variables, bool wildcards) {
  Texts tokens;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('}', at);
    if (variables && text.compare(at, 2, "${") == 0 && end != std::string::npos) {
      const std::string inside = text.substr(at + 2, end - at - 2);
      at = end + 1;
      if (inside == "*" || inside == "?" || inside == "$") {
        tokens.push_back("=" + inside);
        continue;
      }
      const auto quote = inside.find(", '");
      const auto found = question.context.find(Lower(inside.substr(0, quote)));
      std::string value;
      if (found != question.context.end() && found->second.size() == 1) {
        value = found->second[0];
      } else if (quote != std::string::npos) {
        value = inside.substr(quote + 3, inside.size() - quote - 4);
      } else {
        return std::nullopt;
      }
      for (const char c : value) tokens.push_back(std::string("=") + c);
      continue;
    }
    const bool wild = wildcards && (text[at] == '*' || text[at] == '?');
    tokens.push_back((wild ? "" : "=") + text.substr(at, 1));
    ++at;
  }
  return tokens;
}

// reachable[i]: the first i tokens match a prefix of the text.
inline bool Like(const Texts& tokens, const std::string& text) {
  std::vector<bool> row(text.size() + 1, false);
  row[0] = true;
  for (const std::string& token : tokens) {
    std::vector<bool> next(text.size() + 1, false);
    for (std::size_t t = 0; t <= text.size(); ++t) {
      if (token == "*") {
        next[t] = row[t] || (t > 0 && next[t - 1]);
      } else if (t > 0 && row[t - 1]) {
        next[t] = token == "?" || token[1] == text[t - 1];
      }
    }
    row = next;
  }
  return row[text.size()];
}

inline bool LikeText(const std::string& pattern, const std::string& text, const Question& question,
                     bool variables, bool wildcards = true) {
  const auto tokens = Tokens(pattern, question, variables, wildcards);
  return tokens && Like(*tokens, text);
}

inline std::optional<double> AsNumber(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

inline std::optional<double> AsDate(const std::string& text) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  const int read = std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d", &y, &mo, &d, &h, &mi, &s);
  if (read < 3) return AsNumber(text);
  // Days since 1970 of the Gregorian calendar.
  const int a = (14 - mo) / 12;
  const long year = y + 4800 - a;
  const long month = mo + 12 * a - 3;
  const long days =
      d + (153 * month + 2) / 5 + 365 * year + year / 4 - year / 100 + year / 400 - 32045 - 2440588;
  return days * 86400.0 + h * 3600 + mi * 60 + s;
}

// IPv4 only: 32 characters '0' and '1', and the length of the range.
inline std::string Bits(const std::string& text, std::size_t& length) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  unsigned range = 32;
  if (std::sscanf(text.c_str(), "%u.%u.%u.%u/%u", &a, &b, &c, &d, &range) < 4) return {};
  length = range;
  std::string bits;
  for (const unsigned byte : {a, b, c, d}) {
    for (int bit = 7; bit >= 0; --bit) bits += (byte >> bit & 1) != 0 ? '1' : '0';
  }
  return bits;
}

inline Texts Split(const std::string& text) {
  Texts parts;
  std::istringstream stream(text);
  std::string part;
  while (parts.size() < 5 && std::getline(stream, part, ':')) parts.push_back(part);
  std::getline(stream, part, '\0');
  parts.push_back(part);
  return parts;
}

inline bool Compare(const std::string& op, const std::string& value, const std::string& wanted,
                    const Question& question, bool variables) {
  if (op == "stringequals") return LikeText(wanted, value, question, variables, false);
  if (op == "stringequalsignorecase")
    return LikeText(Lower(wanted), Lower(value), question, variables, false);
  if (op == "stringlike") return LikeText(wanted, value, question, variables);
  if (op == "bool") return Lower(value) == Lower(wanted);
  if (op == "binaryequals") return value == wanted;
  if (op == "ipaddress") {
    std::size_t length = 0, unused = 0;
    const std::string range = Bits(wanted, length);
    const std::string address = Bits(value, unused);
    return !range.empty() && !address.empty() &&
           range.substr(0, length) == address.substr(0, length);
  }
  if (op == "arnequals" || op == "arnlike") {
    const Texts a = Split(wanted);
    const Texts b = Split(value);
    if (a.size() != 6 || b.size() != 6) return false;
    for (int i = 0; i < 6; ++i) {
      if (!LikeText(a[i], b[i], question, variables)) return false;
    }
    return true;
  }
  const bool dates = op.rfind("date", 0) == 0;
  const auto a = dates ? AsDate(value) : AsNumber(value);
  const auto b = dates ? AsDate(wanted) : AsNumber(wanted);
  if (!a || !b) return false;
  const std::string how = op.substr(dates ? 4 : 7);
  return how == "equals"              ? *a == *b
         : how == "lessthan"          ? *a < *b
         : how == "lessthanequals"    ? *a <= *b
         : how == "greaterthan"       ? *a > *b
         : how == "greaterthanequals" ? *a >= *b
                                      : false;
}

inline bool TestHolds(std::string op, const std::string& key, const Json& wanted,
                      const Question& question, bool variables) {
  op = Lower(op);
  const auto found = question.context.find(Lower(key));
  const bool present = found != question.context.end() && !found->second.empty();
  if (op == "null") {
    for (const std::string& one : List(wanted)) {
      if ((Lower(one) == "true") == !present) return true;
    }
    return false;
  }
  std::string set;
  if (const auto colon = op.find(':'); colon != std::string::npos) {
    set = op.substr(0, colon);
    op = op.substr(colon + 1);
  }
  const bool if_exists = op.size() > 8 && op.substr(op.size() - 8) == "ifexists";
  if (if_exists) op = op.substr(0, op.size() - 8);
  bool negated = false;
  if (const auto word = op.find("not"); word != std::string::npos) {
    negated = true;
    op.erase(word, 3);
  }
  if (!present) {
    if (if_exists || set == "forallvalues") return true;
    return negated && set.empty();
  }
  std::size_t good = 0;
  for (const std::string& value : found->second) {
    bool equal = false;
    for (const std::string& one : List(wanted))
      equal = equal || Compare(op, value, one, question, variables);
    good += equal != negated ? 1 : 0;
  }
  const bool all = set == "forallvalues" || (set.empty() && negated);
  return all ? good == found->second.size() : good > 0;
}

// The forms of the principal that a policy can name, and what each is.
inline std::map<std::string, std::string> Forms(const Question& question) {
  std::map<std::string, std::string> forms;
  if (question.type == "anonymous") return forms;
  const std::string own = question.type == "root" ? "self" : "account";
  forms[question.account] = own;
  forms["arn:aws:iam::" + question.account + ":root"] = own;
  if (question.type == "root") return forms;
  forms[question.arn] = "self";
  if (!question.id.empty()) forms[question.id] = "self";
  if (question.type == "session") {
    forms[question.role] = "role";
    forms[question.id.substr(0, question.id.find(':'))] = "role";
  }
  return forms;
}

// Which of "self", "role", "account" and "everyone" the statement names.
inline std::set<std::string> Names(const Json& principal, const Question& question) {
  if (principal == "*") return {"everyone"};
  std::set<std::string> names;
  const auto forms = Forms(question);
  if (principal.contains("AWS")) {
    for (const std::string& name : List(principal["AWS"])) {
      if (name == "*") names.insert("everyone");
      if (forms.contains(name)) names.insert(forms.at(name));
    }
  }
  if (principal.contains("CanonicalUser") && question.type != "anonymous") {
    for (const std::string& name : List(principal["CanonicalUser"])) {
      if (name == question.canonical) names.insert(question.type == "root" ? "self" : "account");
    }
  }
  return names;
}

inline bool NamesPrincipal(const Json& statement, const Question& question) {
  if (statement.contains("Principal")) return !Names(statement["Principal"], question).empty();
  if (!statement.contains("NotPrincipal")) return true;  // An identity policy.
  const auto names = Names(statement["NotPrincipal"], question);
  if (names.contains("everyone")) return false;
  std::set<std::string> needed = {"self"};
  if (question.type != "root") needed.insert("account");
  if (question.type == "session") needed.insert("role");
  for (const std::string& need : needed) {
    if (!names.contains(need)) return true;
  }
  return false;
}

inline bool Covers(const Json& policy, const Json& statement, const Question& question) {
  const bool variables = policy.value("Version", "") == "2012-10-17";
  const auto matches = [&](const char* element, const std::string& text, bool with_variables) {
    for (const std::string& pattern : List(statement[element])) {
      if (LikeText(pattern, text, question, with_variables)) return true;
    }
    return false;
  };
  Json lower = statement;
  for (const char* element : {"Action", "NotAction"}) {
    if (!statement.contains(element)) continue;
    bool any = false;
    for (const std::string& pattern : List(statement[element]))
      any = any || LikeText(Lower(pattern), Lower(question.action), question, false);
    if (any != (std::string(element) == "Action")) return false;
  }
  if (statement.contains("Resource") && !matches("Resource", question.resource, variables))
    return false;
  if (statement.contains("NotResource") && matches("NotResource", question.resource, variables))
    return false;
  if (!statement.contains("Condition")) return true;
  for (const auto& [op, block] : statement["Condition"].items()) {
    for (const auto& [key, wanted] : block.items()) {
      if (!TestHolds(op, key, wanted, question, variables)) return false;
    }
  }
  return true;
}

inline bool Says(const Json& policy, const char* effect, const Question& question) {
  if (policy.is_null()) return false;
  for (const Json& statement : policy["Statement"]) {
    if (statement["Effect"] == effect && NamesPrincipal(statement, question) &&
        Covers(policy, statement, question))
      return true;
  }
  return false;
}

inline bool IsAllowed(const Question& question) {
  const bool repairs = question.root_always && question.same_account && question.type == "root";
  if (!repairs && Says(question.bucket_policy, "Deny", question)) return false;
  bool identity = !question.limited;
  bool within = true;  // The boundary and the session policy.
  bool within_session = true;
  if (question.limited) {
    std::vector<Json> own = question.identity;
    for (const Json& policy : own) {
      if (Says(policy, "Deny", question)) return false;
      identity = identity || Says(policy, "Allow", question);
    }
    for (const Json* limit : {&question.boundary, &question.session}) {
      if (Says(*limit, "Deny", question)) return false;
      if (!limit->is_null() && !Says(*limit, "Allow", question)) within = false;
    }
    within_session = question.session.is_null() || Says(question.session, "Allow", question);
  }
  std::set<std::string> granted;
  if (question.bucket_policy_may_allow && !question.bucket_policy.is_null()) {
    for (const Json& statement : question.bucket_policy["Statement"]) {
      if (statement["Effect"] != "Allow" || !statement.contains("Principal")) continue;
      if (!Covers(question.bucket_policy, statement, question)) continue;
      granted.merge(Names(statement["Principal"], question));
    }
  }
  const bool own_rights = identity && within;
  if (question.acl == "initiator" && within) return true;
  if (!question.same_account) {
    if (granted.empty() && question.acl.empty()) return false;
    return question.type == "anonymous" || own_rights;
  }
  if (!question.limited) return true;
  // A statement that names the principal itself is preferred to those that name more.
  const bool itself = granted.contains("self");
  if (itself && (question.type == "session" || within_session)) return true;
  if (!itself && within && (granted.contains("role") || granted.contains("everyone"))) return true;
  if (question.acl == "group" && within) return true;
  return own_rights;
}

}  // namespace penstock::emulator::policy::slow

#endif  // PENSTOCK_EMULATOR_POLICY_SLOW_EVALUATOR_TESTING_H_
