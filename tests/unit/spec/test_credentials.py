"""Credentials are recognized, and words that training jobs use are not taken for one."""

import os
import random
import subprocess
import sys
from typing import Final

import pytest
from tests.unit.spec.made_up_secrets import ISSUED, NAMED, made_up_secrets

from ultracluster_spec.credentials import (
    command_credential,
    credential_kind,
    find_credentials,
    hide_credentials,
    is_secret_file,
    names_credential,
    variable_credential,
)

_ENOUGH: Final = 0.98


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


@pytest.mark.slow
def test_finds_made_up_secrets_in_files_of_all_kinds_and_names_the_line_but_not_the_secret() -> None:
    cases, missed = 0, []
    for what, name, content, secret in made_up_secrets(1):
        cases += 1
        found = find_credentials(name, content)
        lines = (
            content.replace(b"\0", b"").decode("latin-1").splitlines()
        )  # of each encoding, the ASCII characters
        places = {index for index, line in enumerate(lines, 1) if secret.splitlines()[0] in line}
        if not places & {line for line, _ in found}:
            missed.append(what)
        assert not any(secret in kind for _, kind in found), what
    assert cases >= 200
    assert len(missed) <= cases * (1 - _ENOUGH), missed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", 'tokenizer.pad_token = "<|finetune_right_pad_id|>"\neos_token = "</s>"\n'),
        ("train.py", 'parser.add_argument("--hub_token", type=str, help="The token to use")\n'),
        ("train.py", 'api_key = os.environ["WANDB_API_KEY"]\npassword = getpass()\nkey = f"{name}_key1"\n'),
        ("train.py", "token = tokens2\nsecret = settings.secret1\n"),
        ("train.py", 'for key in ("layer1", "layer2"): assert key in state  # keys, tokens and secrets\n'),
        (
            "README.md",
            "Set `HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` and pass `labels` to the model.\n",
        ),
        ("README.md", "git clone https://user:password@host/repository.git, or with ${TOKEN}\n"),
        ("config.yaml", "max_tokens: 4096\nkey: model.layers.0.weight\napi_key: your-api-key-1\n"),
        ("run.sh", "export WANDB_API_KEY=$(cat /run/key1)\nTOKEN=${TOKEN1}\n"),
        ("launch.sh", "gantry run --env-secret R2_ENDPOINT_URL=R2_ENDPOINT_URL \\\n  -- train.py\n"),
        ("model.json", '{"revision": "0123456789abcdef0123456789abcdef01234567", "tokenizer": "v2"}\n'),
        ("uv.lock", "sha256:0a30ef8f5322a4173720ae6712dc9a5e58f5a19868f3f167b4b5778db066c2b5\n"),
    ],
)
def test_raises_no_alarm_over_what_training_code_looks_like(name: str, text: str) -> None:
    assert find_credentials(name, text.encode()) == []


def test_knows_files_of_secrets_by_name_without_regard_to_case() -> None:
    for name in [
        ".ENV",
        ".env.local",
        "prod/.Env",
        ".envrc",
        ".netrc",
        "_NETRC",
        "ID_RSA",
        "id_ecdsa",
        "id_ed25519",
        "server.PEM",
        "a.P8",
        "b.jks",
        "c.ppk",
        "d.Key",
        ".pypirc",
        ".npmrc",
        ".docker/config.json",
        ".dockercfg",
        ".kube/config",
        "kubeconfig",
        ".pgpass",
        ".vault-token",
        ".bash_history",
        ".zsh_history",
        ".python_history",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
        "secrets.yaml",
        "SECRETS.yml",
        "secrets.toml",
        "pip.conf",
        "pip.ini",
        "credentials",
        ".aws/credentials",
        ".aws/config",
        ".ssh/work",
        ".gnupg/ring",
        "client_secret_1.json",
        "service-account.json",
        ".git-credentials",
        ".databrickscfg",
        "kaggle.json",
        ".env.bak",
        "id_rsa.old",
        ".env~",
    ]:
        assert is_secret_file(name), name
    for name in [
        "train.py",
        ".env.example",
        ".env.template",
        "secrets.py",
        "token.py",
        "key.py",
        "service_accounts.tf",
        "history.py",
        "tokens.json",
        "credentials.py",
        "docker/config.json",
        "config.json",
        "environment.yaml",
        "identity.py",
        "requirements.txt",
        "README.md",
    ]:
        assert not is_secret_file(name), name


@pytest.mark.parametrize(
    ("name", "content", "is_secret"),
    [
        (".npmrc", b"audit=false\nignore-scripts=true\n", False),
        ("web/.npmrc", b"//registry.npmjs.org/:_authToken=x\n", True),
        (".npmrc", b"_password=x\n", True),
        (".npmrc", "_auth=x".encode("utf-16"), True),
        (".yarnrc", b"registry https://registry.example.com\n", False),
        ("pip.conf", b"[global]\nindex-url = https://pypi.example.com/simple\n", False),
        ("pip.conf", b"[global]\nindex-url = https://me:x@pypi.example.com/simple\n", True),
        ("id_rsa", b"", True),
        ("train.py", b"token = 1", False),
    ],
)
def test_settings_of_package_managers_are_secret_if_they_say_so(
    name: str, content: bytes, *, is_secret: bool
) -> None:
    assert is_secret_file(name, lambda: content) == is_secret


def test_judges_a_variable_by_its_name_and_value() -> None:
    drawn = NAMED["MY_TOKEN"]
    url = ISSUED["password in a URL"]
    source = random.Random(5)  # noqa: S311 - not for secrets that anyone uses
    for name, value in {
        "DB_PASS": "Tr41n-2026",
        "DB_PASSWORD": "abc",
        "MY_TOKEN": drawn(source),
        "DATABASE_URL": url(source),
        "PLAIN": ISSUED["Anthropic"](source),
        "GCP": ISSUED["PEM"](source),
    }.items():
        said = variable_credential(name, value)
        assert said, name
        assert value not in said
    for name, value in {
        "EOS_TOKEN": "<|im_end|>",
        "MAX_TOKENS": "4096",
        "FORWARD_PASS": "2",
        "CACHE_KEY": "llama2-7b",
        "SECRET_ARN": "arn:aws:secretsmanager:us-east-2:123456789012:secret:a-AbCdEf",
        "DATABASE_URL": "postgres://db.internal:5432/runs",
        "AWS_REGION": "us-east-2",
        "MODEL": "meta-llama/Llama-3.1-8B-Instruct",
        "PUBLIC_KEY": "ssh-ed25519",
    }.items():
        assert variable_credential(name, value) is None, name


def test_finds_the_password_of_an_option_in_a_command() -> None:
    assert command_credential(["train.py", "--db-password", "Tr41n-2026x", "--steps", "10"])
    assert command_credential(["train.py", "--api_key=0123abcd4567efab89"])
    assert command_credential(["train.py", "--tokenizer", "llama-3.1", "--max-tokens=4096"]) is None


def test_loads_no_scanner_before_a_text_needs_one() -> None:
    code = "import sys, ultracluster_spec.credentials as c; c.variable_credential('LR', '1e-4'); print('kingfisher_sdk' in sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, check=True, capture_output=True, text=True
    )
    assert shown.stdout == "False\n"
