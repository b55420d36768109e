"""Roles and policies that IAM refuses, and AWS's own policies."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

TRUST = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
ALLOW = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
SSM = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


@pytest.fixture
def iam(local_aws: LocalAws) -> Any:
    client = local_aws.client("iam")
    client.create_role(RoleName="r", AssumeRolePolicyDocument=policy(TRUST))
    return client


def policy(*statements: dict[str, Any], **more: str) -> str:
    return json.dumps({"Version": "2012-10-17", **more, "Statement": list(statements)})


@pytest.mark.parametrize(
    ("trust", "words"),
    [
        ("{", "This policy contains invalid Json"),
        (policy(TRUST | {"Resource": "*"}), "Has prohibited field Resource"),
        (policy({key: value for key, value in TRUST.items() if key != "Action"}), "Missing required field Action"),
        (policy({key: value for key, value in TRUST.items() if key != "Principal"}), "Missing required field Principal"),
        (policy(TRUST | {"Principal": {"Service": []}}), "a statement with no principals!"),
        (policy(TRUST | {"Principal": {"Service": "ec2"}}), 'Invalid principal in policy: "SERVICE":"ec2"'),
        (policy(TRUST | {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:role/absent"}}), "role/absent"),
        (policy(TRUST | {"Action": "s3:GetObject"}), "may only specify STS AssumeRole actions."),
        (policy(*[TRUST] * 40), "Cannot exceed quota for ACLSizePerRole: 2048"),
    ],
)  # fmt: skip
def test_a_trust_policy_decides_who_may_assume_the_role(iam: Any, trust: str, words: str) -> None:
    created = refusal(iam.create_role, RoleName="new", AssumeRolePolicyDocument=trust)
    updated = refusal(iam.update_assume_role_policy, RoleName="r", PolicyDocument=trust)

    assert created == updated
    assert words in created[1]
    assert "new" not in [role["RoleName"] for role in iam.list_roles()["Roles"]]


def test_white_space_does_not_count_for_the_length_of_a_trust_policy(iam: Any) -> None:
    iam.update_assume_role_policy(RoleName="r", PolicyDocument=policy(TRUST) + " " * 2048)


def test_a_policy_of_a_role_names_no_principal(iam: Any) -> None:
    named = policy(ALLOW | {"Principal": "*"})

    for call, given in (
        (iam.put_role_policy, {"RoleName": "r", "PolicyName": "p", "PolicyDocument": named}),
        (iam.create_policy, {"PolicyName": "p", "PolicyDocument": named}),
    ):
        assert refusal(call, **given) == (
            "MalformedPolicyDocument",
            "Policy document should not specify a principal.",
        )


def test_policies_have_a_longest_size(iam: Any) -> None:
    resources = [f"arn:aws:s3:::bucket-{number:04}/*" for number in range(220)]
    long = policy(ALLOW | {"Resource": resources})
    assert 6144 < len(long) < 10_240

    assert "PolicySize: 6144" in refusal(iam.create_policy, PolicyName="p", PolicyDocument=long)[1]
    iam.put_role_policy(RoleName="r", PolicyName="one", PolicyDocument=long)
    iam.put_role_policy(RoleName="r", PolicyName="one", PolicyDocument=long)  # in place of itself
    second = refusal(iam.put_role_policy, RoleName="r", PolicyName="two", PolicyDocument=long)
    assert second == ("LimitExceeded", "Maximum policy size of 10240 bytes exceeded for role r")


def test_a_policy_of_aws_exists_when_it_is_first_named(iam: Any) -> None:
    iam.attach_role_policy(RoleName="r", PolicyArn=SSM)

    assert iam.list_attached_role_policies(RoleName="r")["AttachedPolicies"][0]["PolicyArn"] == SSM
    batch = "arn:aws:iam::aws:policy/service-role/AWSBatchServiceRole"
    assert iam.get_policy(PolicyArn=batch)["Policy"]["Arn"] == batch


def test_a_policy_that_aws_does_not_have_is_not_found(iam: Any) -> None:
    for arn in ("arn:aws:iam::aws:policy/Absent", "arn:aws:iam::aws:policy/AWSBatchServiceRole"):
        assert refusal(iam.get_policy, PolicyArn=arn)[0] == "NoSuchEntity"


@pytest.mark.parametrize(
    ("arn", "words"), [("arn:aws:s3:::bucket-of-mine", "is not valid."), ("A" * 20, "Could not be parsed!")]
)
def test_an_attached_policy_is_named_by_its_arn(iam: Any, arn: str, words: str) -> None:
    code, message = refusal(iam.attach_role_policy, RoleName="r", PolicyArn=arn)

    assert (code, message.endswith(words)) == ("ValidationError", True)


def test_few_services_take_a_suffix_of_their_role(iam: Any) -> None:
    given = {"AWSServiceName": "batch.amazonaws.com", "CustomSuffix": "mine"}

    assert refusal(iam.create_service_linked_role, **given)[0] == "InvalidInput"
    iam.create_service_linked_role(AWSServiceName="autoscaling.amazonaws.com", CustomSuffix="mine")


@pytest.mark.parametrize(
    ("operation", "names", "words"),
    [
        # aws/aws-cli#6139 (2021-05-03) and ansible/ansible#45593 (2018-09-13)
        (
            "delete_role_policy",
            {"RoleName": "r", "PolicyName": "none"},
            "The role policy with name none cannot be found.",
        ),
        ("get_user", {"UserName": "none"}, "The user with name none cannot be found."),
    ],
)
def test_what_is_absent_is_named(iam: Any, operation: str, names: dict[str, str], words: str) -> None:
    code, message = refusal(getattr(iam, operation), **names)

    assert (code, message) == ("NoSuchEntity", words)


def test_ids_say_what_they_are_of(iam: Any) -> None:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-prefixes"""
    ids = [
        iam.create_role(RoleName="i", AssumeRolePolicyDocument=policy(TRUST))["Role"]["RoleId"],
        iam.create_user(UserName="i")["User"]["UserId"],
        iam.create_group(GroupName="i")["Group"]["GroupId"],
        iam.create_policy(PolicyName="i", PolicyDocument=policy(ALLOW))["Policy"]["PolicyId"],
        iam.create_instance_profile(InstanceProfileName="i")["InstanceProfile"]["InstanceProfileId"],
    ]

    assert [one[:4] for one in ids] == ["AROA", "AIDA", "AGPA", "ANPA", "AIPA"]
    assert {len(one) for one in ids} == {21}
    assert iam.get_user(UserName="i")["User"]["UserId"] == ids[1]


def test_a_policy_that_bounds_a_role_is_counted_and_stays(iam: Any) -> None:
    arn = iam.create_policy(PolicyName="limit", PolicyDocument=policy(ALLOW))["Policy"]["Arn"]

    def counted() -> tuple[int, int]:
        found = iam.get_policy(PolicyArn=arn)["Policy"]
        return found["AttachmentCount"], found["PermissionsBoundaryUsageCount"]

    assert counted() == (0, 0)
    iam.put_role_permissions_boundary(RoleName="r", PermissionsBoundary=arn)
    assert counted() == (0, 1)
    assert refusal(iam.delete_policy, PolicyArn=arn) == (
        "DeleteConflict",
        "Cannot delete a policy attached to entities.",
    )

    iam.delete_role_permissions_boundary(RoleName="r")
    assert counted() == (0, 0)
    iam.delete_policy(PolicyArn=arn)


@pytest.mark.parametrize(
    ("call", "given", "code", "words"),
    [
        ("create_user", {"UserName": "u"}, "EntityAlreadyExists", "User with name u already exists."),
        ("delete_user", {"UserName": "u"}, "DeleteConflict", "Cannot delete entity, must remove users from group first."),
        ("delete_user", {"UserName": "keyed"}, "DeleteConflict", "Cannot delete entity, must delete access keys first."),
        ("delete_group", {"GroupName": "g"}, "DeleteConflict", "Cannot delete entity, must remove users from group first."),
        ("delete_role", {"RoleName": "AWSServiceRoleForBatch"}, "UnmodifiableEntity", "Cannot perform the operation on the protected role 'AWSServiceRoleForBatch' - this role is only modifiable by AWS"),
        ("put_user_permissions_boundary", {"UserName": "u", "PermissionsBoundary": "arn:aws:iam::123456789012:policy/none"}, "NoSuchEntity", "Scope ARN: arn:aws:iam::123456789012:policy/none does not exist or is not attachable."),
        ("get_policy_version", {"PolicyArn": "arn:aws:iam::123456789012:policy/p", "VersionId": "v9"}, "NoSuchEntity", "Policy arn:aws:iam::123456789012:policy/p version v9 does not exist or is not attachable."),
        ("delete_policy", {"PolicyArn": "arn:aws:iam::123456789012:policy/p"}, "DeleteConflict", "This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy."),
        ("create_user", {"UserName": "x", "Path": "/aws-service-role/x/"}, "ValidationError", "Paths beginning with '/aws-service-role' are reserved for AWS Service Linked Roles"),
    ],
)  # fmt: skip
def test_what_still_has_or_lacks_something_is_refused(
    local_aws: LocalAws, call: str, given: dict[str, str], code: str, words: str
) -> None:
    iam = local_aws.client("iam")
    for name in ("u", "keyed"):
        iam.create_user(UserName=name)
    iam.create_access_key(UserName="keyed")
    iam.create_group(GroupName="g")
    iam.add_user_to_group(GroupName="g", UserName="u")
    iam.create_service_linked_role(AWSServiceName="batch.amazonaws.com")
    text = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}'
    iam.create_policy(PolicyName="p", PolicyDocument=text)
    iam.create_policy_version(PolicyArn="arn:aws:iam::123456789012:policy/p", PolicyDocument=text)

    assert refusal(getattr(iam, call), **given) == (code, words)


def test_a_user_has_a_boundary_until_it_is_taken_away(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam")
    iam.create_user(UserName="u")
    arn = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    iam.put_user_permissions_boundary(UserName="u", PermissionsBoundary=arn)
    assert iam.get_user(UserName="u")["User"]["PermissionsBoundary"]["PermissionsBoundaryArn"] == arn

    iam.delete_user_permissions_boundary(UserName="u")
    assert "PermissionsBoundary" not in iam.get_user(UserName="u")["User"]


def test_a_session_is_as_long_as_its_role_allows(local_aws: LocalAws) -> None:
    trust = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}'
    role = local_aws.client("iam").create_role(RoleName="s", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    assume = local_aws.client("sts").assume_role

    assert assume(RoleArn=role, RoleSessionName="one", DurationSeconds=3600)["Credentials"]
    words = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
    assert refusal(assume, RoleArn=role, RoleSessionName="one", DurationSeconds=3601) == (
        "ValidationError",
        words,
    )
