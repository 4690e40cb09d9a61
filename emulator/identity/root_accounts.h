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

#include "emulator/identity/kept_users.h"
#include "penstock/access_key.h"

namespace penstock::emulator::identity {

// Information about earlier runs with the data directory.
struct PreviousRoots {
  std::vector<RootAccount> roots;
  // Canonical ids in the default namespace, without duplicates, ordered by their oldest bucket.
  std::vector<std::string> bucket_owners;
  // Canonical ids of accounts that a users document describes.
  std::set<std::string, std::less<>> others;
  // Written by a version that did not store roots: unknown owners are treated as roots.
  bool guess = false;
};

struct RootPlan {
  std::vector<s3::Identity> identities;  // of the pairs, in their order
  std::vector<RootAccount> roots;        // to be stored
  std::vector<std::string> notices;
};

// Each key gets the first of these: the account that it had; the account derived from its name, if
// that owns buckets; in order, an account that owns buckets and has no key; the account derived
// from its name.
RootPlan AssignRootAccounts(const std::vector<AccessKey>& pairs, const PreviousRoots& earlier);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_ROOT_ACCOUNTS_H_
