"""Secrets and permissions of jobs in a rollout file."""

from collections.abc import Callable

import pytest

_JOB = "waves[0].clusters[0].jobs[0]"


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "image: 1",
            "secrets: {HF_TOKEN: hf-token}\n            image: 1",
            "UC6122",
            f"{_JOB}.secrets.HF_TOKEN",
            "the ARN of a secret",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: ['s3:Get*'], resources: ['*']}]}\n            image: 1",
            "UC6121",
            f"{_JOB}.permissions.statements[0].actions[0]",
            "without a wildcard",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [], resources: ['*']}]}\n            image: 1",
            "UC6121",
            f"{_JOB}.permissions.statements[0].actions",
            "at least one item",
        ),
        (
            "image: 1",
            "permissions: {managed_policy_arns: [ReadOnly]}\n            image: 1",
            "UC6122",
            f"{_JOB}.permissions.managed_policy_arns[0]",
            "the ARN of a managed policy",
        ),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)
