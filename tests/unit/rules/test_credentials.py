"""Credentials are recognized, and words that training jobs use are not taken for one."""

import pytest

from ultracluster_rules.credentials import credential_kind, hide_credentials, names_credential


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("AKIAIOSFODNN7EXAMPLE", "an AWS access key id"),  # the example of AWS's documentation
        ("x=ASIAIOSFODNN7EXAMPLE;", "an AWS access key id"),
        ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ("-----BEGIN PRIVATE KEY-----", "a private key"),
        ("ghp_" + "a1" * 18, "a GitHub token"),
        ("hf_" + "a" * 34, "a Hugging Face token"),
        ("xoxb-1234567890-abc", "a Slack token"),
    ],
)
def test_recognizes_a_credential_and_hides_it(text: str, kind: str) -> None:
    assert credential_kind(text) == kind
    assert credential_kind(hide_credentials(text)) is None


@pytest.mark.parametrize(
    "text", ["AKIA", "MAKIAIOSFODNN7EXAMPLEX", "hf_model", "ghp_short", "cr-0123456789abcdef0", "train.py"]
)
def test_takes_other_text_for_what_it_is(text: str) -> None:
    assert credential_kind(text) is None
    assert hide_credentials(text) == text


def test_knows_names_whose_value_is_a_credential() -> None:
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "HF_TOKEN",
        "WANDB_API_KEY",
        "DB_PASSWORD",
        "api_key",
    ):
        assert names_credential(name), name
    for name in ("TOKENIZERS_PARALLELISM", "EOS_TOKEN", "MAX_TOKENS", "KEY", "SECRET_NAME", "AWS_REGION"):
        assert not names_credential(name), name
