// Which account each access key of the command line is the root of: its own, or one that an earlier
// key leaves behind.
//
// Buckets belong to accounts. Whoever changes the key of an emulator with a data directory changes
// the key, not the account: the new key finds what the old one made.
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITY_ROOT_ACCOUNTS_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITY_ROOT_ACCOUNTS_H_

#include <set>
#include <string>
#include <vector>

#include "emulator/server/identity/kept_users.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// What is known of earlier runs on the data directory.
struct PreviousRoots {
  std::vector<RootAccount> roots;
  // canonical ids in the default namespace, each once, the oldest bucket's first
  std::vector<std::string> bucket_owners;
  // canonical ids of accounts that somebody else describes
  std::set<std::string, std::less<>> others;
  // Written by a version that did not remember roots: an owner that nobody knows is one.
  bool guess = false;
};

struct RootPlan {
  std::vector<s3::Identity> identities;  // of the pairs, in their order
  std::vector<RootAccount> roots;        // to be remembered
  std::vector<std::string> notices;
};

// A key keeps the account it had; one that is new, the account that its name makes where that owns
// something; else it takes over, in order, accounts that own buckets and have no key any more; else
// it gets the account that its name makes.
RootPlan AssignRootAccounts(const std::vector<AccessKey>& pairs, const PreviousRoots& earlier);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITY_ROOT_ACCOUNTS_H_
