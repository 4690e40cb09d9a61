// Assigns accounts to the access keys from the command line: a key's own account, or one that an
// earlier key has left.
//
// Buckets belong to accounts. If the access key of an emulator with a data directory is replaced,
// the new key gets the old key's account and its buckets.
#ifndef PENSTOCK_EMULATOR_IDENTITY_ROOT_ACCOUNTS_H_
#define PENSTOCK_EMULATOR_IDENTITY_ROOT_ACCOUNTS_H_

#include <set>
#include <string>
#include <vector>

#include "emulator/identity/user_database.h"
#include "penstock/access_key.h"

namespace penstock::emulator::identity {

// Information about earlier runs with the data directory.
struct PreviousRoots {
  std::vector<RootAccount> roots;
  // Canonical ids in the default namespace, without duplicates, ordered by their oldest bucket.
  std::vector<std::string> bucket_owners;
  // Canonical ids of accounts that a users document describes.
  std::set<std::string, std::less<>> documented_accounts;
  // The data directory is from a version that did not store roots: AssignRootAccounts treats
  // unknown owners of buckets as roots.
  bool owners_may_be_roots = false;
};

struct RootPlan {
  std::vector<s3::Identity> identities;  // one for each key, in the same order
  std::vector<RootAccount> roots;        // to be stored
  std::vector<std::string> notices;
};

// Assigns to each key the first of these accounts that exists:
// 1. the account that the key had in the last run;
// 2. the account derived from the key's name, if it is a root or owns buckets;
// 3. the next account, in the order of `previous`, that owns buckets and has no key;
// 4. a new account, derived from the key's name.
RootPlan AssignRootAccounts(const std::vector<AccessKey>& keys, const PreviousRoots& previous);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_ROOT_ACCOUNTS_H_
