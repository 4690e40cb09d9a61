// Who sends a request, and the authorization of `--authorization off`: the account that owns a
// bucket may do everything in it, other accounts nothing. A directory bucket session is valid for
// that bucket only. Policies and ACLs are evaluated in emulator/s3/authorization, signatures
// verified in emulator/auth.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_

#include <optional>
#include <string>
#include <string_view>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Returns 403 AccessDenied if `who` may not use `bucket`: another account, an unsigned request, or
// a session for another bucket.
Result<void> Authorize(const Identity& who, const store::BucketRecord& bucket);

// For operations on an account (ListBuckets, CreateBucket): returns 403 AccessDenied for unsigned
// requests.
Result<void> RequireAccount(const Identity& who);

// Returns the requester for the evaluation of policies. Refers to `who`.
policy::Principal PrincipalOf(const Identity& who);

// Returns the value of "aws:" and `name`, in lower case, if it is about the requester: of
// aws:PrincipalArn, aws:PrincipalTag/KEY, aws:username, aws:TokenIssueTime and others (IAM User
// Guide, "AWS global condition context keys").
std::optional<policy::Context::Values> FindPrincipalKey(const Identity& who, std::string_view name);

// Returns the address of "127.0.0.1:54321" or "[::1]:54321", for aws:SourceIp. An IPv4 address on
// an IPv6 socket is returned as IPv4.
std::string AddressOf(std::string_view peer);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
