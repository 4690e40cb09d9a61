#include "emulator/server/control.h"

#include <array>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/server/json_fields.h"
#include "emulator/server/seeder.h"

namespace penstock::emulator::server {
namespace {

// "PSTK" and 16 characters of the alphabet that AWS's key ids use.
std::string NewAccessKeyId() {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::array<std::byte, 16> random;
  RandomBytes(random);
  std::string id = "PSTK";
  for (const std::byte byte : random) id += kAlphabet[std::to_integer<std::size_t>(byte) % kAlphabet.size()];
  return id;
}

std::string NewSecret() {
  std::array<std::byte, 30> random;
  RandomBytes(random);
  return Base64Encode(random);
}

// Users that an emulator is started with.
struct Given {
  std::string source;
  UsersDocument users;
};

}  // namespace

Result<std::unique_ptr<Control>> Control::Open(const EmulatorOptions& options, const Clock& machine, api::Handler& router) {
  // Read before anything is opened: a mistake in a file leaves no trace.
  std::vector<Given> given;
  given.push_back({"--access-key", UsersOfPairs(options.access_keys)});
  if (!options.users_path.empty()) {
    PENSTOCK_ASSIGN(UsersDocument users, ReadUsersFile(options.users_path));
    given.push_back({"users file '" + options.users_path + "'", std::move(users)});
  }
  if (!options.users_json.empty()) {
    auto users = ParseUsers(options.users_json);
    if (!users.ok()) return FieldError("users", users.error().message);
    given.push_back({"users", std::move(users).value()});
  }

  std::unique_ptr<Control> control(new Control(router, options.region));
  PENSTOCK_ASSIGN(control->spaces_,
                  Namespaces::Open({.directory = options.data_directory,
                                    .durability = options.durability == DurabilityMode::kStrict ? store::Durability::kStrict
                                                                                                : store::Durability::kRelaxed,
                                    .clock = &machine,
                                    .owners = &control->identities_}));
  api::Identity first = MakeIdentity("penstock");
  for (auto from = given.rbegin(); from != given.rend(); ++from) {
    if (!from->users.keys.empty()) first = from->users.keys.front().user.identity;
  }
  Namespaces* const spaces = control->spaces_.get();
  control->identities_.Attach(spaces->Default(),
                              {.find = [spaces](std::string_view name) { return spaces->Find(name); },
                               .find_or_create = [spaces](std::string_view name) { return spaces->FindOrCreate(name); }},
                              std::move(first));
  for (Given& from : given) {
    const auto added = control->identities_.Add(std::move(from.users));
    if (!added.ok()) return FieldError(added.error().kind, from.source, added.error().message);
  }
  return control;
}

Result<void> Control::ResetNamespace(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(name));
  return universe->Reset();
}

// One that a directory kept from an earlier run has no key any more: whoever makes it again gets one, of the same account.
Result<AccessKey> Control::CreateNamespace(const std::string& name) {
  const bool kept = name != kDefaultNamespace && !identities_.OwnerOf(name) && spaces_->Find(name).ok();
  if (!kept) PENSTOCK_TRY(spaces_->Create(name));
  const AccessKey pair{NewAccessKeyId(), NewSecret()};
  PENSTOCK_TRY(identities_.Add(UsersOfNamespace(name, pair)));
  return pair;
}

Result<void> Control::DeleteNamespace(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(name));
  PENSTOCK_TRY(spaces_->Delete(name));
  identities_.RemoveNamespace(*universe);
  return Ok();
}

Result<ClockState> Control::GetClock(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(name));
  return universe->clock().State();
}

Result<ClockState> Control::ChangeClock(const std::string& name, const ClockChange& change) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(name));
  PENSTOCK_TRY(universe->clock().Change(change));
  return universe->clock().State();
}

Result<ClockState> Control::RestoreClock(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(name));
  universe->clock().Restore();
  return universe->clock().State();
}

Result<SeedReport> Control::Seed(const SeedRequest& request) {
  PENSTOCK_ASSIGN(const std::shared_ptr<Universe> universe, spaces_->Find(request.name_space));
  api::Identity owner = identities_.DefaultIdentity();
  if (request.name_space != kDefaultNamespace) {
    owner = identities_.OwnerOf(request.name_space).value_or(IdentityOfNamespace(request.name_space));
  }
  const Seeder seeder{router_, universe->Current(), std::move(owner), region_, stop_seeding_};
  return seeder.Fill(request);
}

Result<void> Control::AddUsers(const std::string& json) {
  PENSTOCK_ASSIGN(UsersDocument users, ParseUsers(json));
  return identities_.Add(std::move(users));
}

}  // namespace penstock::emulator::server
