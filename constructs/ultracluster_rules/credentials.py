"""Detect and redact credentials in places where they do not belong."""

import re
from typing import Final

from ultracluster_rules.findings import Finding, quote

# Documented or well-known formats of each issuer, as public secret scanners use them.
_KINDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("an AWS access key id", re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("a GitHub token", re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,})")),
    ("a Hugging Face token", re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z]{30,}")),
    ("a Slack token", re.compile(r"(?<![A-Za-z0-9])xox[abprs]-[A-Za-z0-9-]{10,}")),
)

# Names whose value is a credential by definition. Not every name with TOKEN in it: training jobs set
# TOKENIZERS_PARALLELISM and EOS_TOKEN.
_NAMES: Final = re.compile(
    r"(?:^AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)"
    r"|^(?:HF|HUGGING_FACE_HUB|HUGGINGFACE|GITHUB|GH|WANDB|SLACK|OPENAI|ANTHROPIC)_(?:TOKEN|API_KEY)"
    r"|(?:^|_)(?:PASSWORD|PASSWD|SECRET|SECRET_KEY|API_KEY|PRIVATE_KEY))$",
    re.IGNORECASE,
)


def credential_kind(text: str) -> str | None:
    """Return the kind of credential in a text, such as ``an AWS access key id``; None if there is none."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), None)


def names_credential(name: str) -> bool:
    """Whether the name of an environment variable implies that its value is a credential."""
    return _NAMES.search(name) is not None


def hide_credentials(text: str) -> str:
    """Redact every credential in a text."""
    for kind, pattern in _KINDS:
        text = pattern.sub(f"({kind}, not shown)", text)
    return text


def shown(value: object) -> str:
    """Format a user's value in at most 80 ASCII characters, with credentials hidden."""
    if isinstance(value, str):
        return quote(hide_credentials(value))
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return quote(value)


def credential(problem: str) -> Finding:
    """Return the finding of a credential in a file, described without its value."""
    remedy = "Remove it from the file, rotate it, and let the job read it from AWS Secrets Manager"
    return Finding("UC2108", problem, allowed="no credentials", remedy=remedy)
