"""Made-up secrets in files of all kinds, built from parts, so that no file of the repository looks like a secret."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator

_LETTERS = string.ascii_letters
_ANY = _LETTERS + string.digits
_HEX = "0123456789abcdef"


def _draw(source: random.Random, count: int, letters: str = _ANY) -> str:
    """Draw characters; at least one of them is a digit, as in nearly all that issuers draw."""
    drawn = [source.choice(letters) for _ in range(count)]
    if not set(drawn) & set(string.digits) and set(letters) & set(string.digits):
        drawn[count // 2] = "7"
    return "".join(drawn)


def _coded(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


_Make = Callable[[random.Random], str]

# Texts that issuers made for one purpose, so that they are known wherever they stand.
ISSUED: dict[str, _Make] = {
    "AWS access key": lambda r: "AK" + "IA" + _draw(r, 16, string.ascii_uppercase + "234567"),
    "AWS temporary key": lambda r: "AS" + "IA" + _draw(r, 16, string.ascii_uppercase + "234567"),
    "Amazon Bedrock": lambda r: (
        "AB" + "SK" + base64.b64encode(b"BedrockAPIKey-" + _draw(r, 80).encode()).decode()
    ),
    "OpenAI project": lambda r: "sk" + "-proj-" + _draw(r, 74) + "T3Blbk" + "FJ" + _draw(r, 74),
    "OpenAI": lambda r: "sk" + "-" + _draw(r, 20) + "T3Blbk" + "FJ" + _draw(r, 20),
    "OpenAI service account": lambda r: "sk" + "-svcacct-" + _draw(r, 58) + "T3Blbk" + "FJ" + _draw(r, 58),
    "Anthropic": lambda r: "sk-" + "ant-api03-" + _draw(r, 93) + "AA",
    "OpenRouter": lambda r: "sk-" + "or-v1-" + _draw(r, 64, _HEX),
    "Hugging Face": lambda r: "hf" + "_" + _draw(r, 34, _LETTERS),
    "wandb": lambda r: "wandb" + "_v1_" + _draw(r, 77),
    "GitHub": lambda r: "gh" + "p_" + _draw(r, 36),
    "GitHub app": lambda r: "gh" + "s_" + _draw(r, 36),
    "GitHub fine-grained": lambda r: "github" + "_pat_" + _draw(r, 22) + "_" + _draw(r, 59),
    "GitLab": lambda r: "gl" + "pat-" + _draw(r, 20),
    "GitLab deploy": lambda r: "gl" + "dt-" + _draw(r, 20),
    "PyPI": lambda r: "pypi-" + "AgEIcHlwaS5vcmc" + _draw(r, 150),
    "npm": lambda r: "npm" + "_" + _draw(r, 36),
    "Stripe": lambda r: "sk" + "_live_" + _draw(r, 24),
    "Stripe test": lambda r: "sk" + "_test_" + _draw(r, 24),
    "Stripe restricted": lambda r: "rk" + "_live_" + _draw(r, 48),
    "Google API": lambda r: "AI" + "za" + _draw(r, 35),
    "Google OAuth secret": lambda r: "GOC" + "SPX-" + _draw(r, 28),
    "Slack bot": lambda r: (
        "xox" + "b-" + "-".join((_draw(r, 12, "123456789"), _draw(r, 12, "123456789"), _draw(r, 24)))
    ),
    "Slack app": lambda r: (
        "xapp"
        "-1-A"
        + _draw(r, 10, string.ascii_uppercase)
        + "-"
        + _draw(r, 13, "123456789")
        + "-"
        + _draw(r, 64, _HEX)
    ),
    "Slack web hook": lambda r: (
        "https://hooks."
        "slack.com/services/T"
        + _draw(r, 8, string.ascii_uppercase)
        + "/B"
        + _draw(r, 8, string.ascii_uppercase)
        + "/"
        + _draw(r, 24)
    ),
    "Discord web hook": lambda r: (
        "https://discord" + ".com/api/webhooks/" + _draw(r, 18, "123456789") + "/" + _draw(r, 68)
    ),
    "JWT": lambda r: ".".join(
        (
            _coded({"alg": "HS256", "typ": "JWT"}),
            _coded({"sub": _draw(r, 8), "iat": 1_700_000_000}),
            _draw(r, 43),
        )
    ),
    "PEM": lambda r: (
        "-----BEGIN " + "RSA PRIVATE KEY-----\n" + _draw(r, 64) + "\n-----END RSA " + "PRIVATE KEY-----"
    ),
    "OpenSSH": lambda r: "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + _draw(r, 64),
    "PKCS 8": lambda r: "-----BEGIN " + "PRIVATE KEY-----\n" + _draw(r, 64),
    "PKCS 8 with a password": lambda r: "-----BEGIN ENCRYPTED " + "PRIVATE KEY-----\n" + _draw(r, 64),
    "PGP": lambda r: "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n" + _draw(r, 64),
    "PuTTY": lambda r: "PuTTY-User-Key-" + "File-3: ssh-ed25519\nEncryption: none\n" + _draw(r, 64),
    "age": lambda r: "AGE-SECRET-" + "KEY-1" + _draw(r, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "SendGrid": lambda r: "SG" + "." + _draw(r, 22) + "." + _draw(r, 43),
    "Twilio": lambda r: "twilio_token = '" + "SK" + _draw(r, 32, _HEX) + "'",
    "DigitalOcean": lambda r: "dop" + "_v1_" + _draw(r, 64, _HEX),
    "Databricks": lambda r: "dapi" + _draw(r, 32, _HEX),
    "Docker": lambda r: "dckr" + "_pat_" + _draw(r, 27),
    "Replicate": lambda r: "r8" + "_" + _draw(r, 37),
    "Groq": lambda r: "gsk" + "_" + _draw(r, 52),
    "NVIDIA": lambda r: "nvapi" + "-" + _draw(r, 64),
    "xAI": lambda r: "xai" + "-" + _draw(r, 80),
    "Perplexity": lambda r: "pplx" + "-" + _draw(r, 48),
    "Fireworks": lambda r: "fw" + "_" + _draw(r, 24),
    "Tailscale": lambda r: "tskey" + "-auth-" + _draw(r, 12) + "CNTRL-" + _draw(r, 32),
    "Vault": lambda r: "hvs" + "." + _draw(r, 95),
    "Grafana": lambda r: "glsa" + "_" + _draw(r, 32) + "_" + _draw(r, 8, _HEX),
    "Linear": lambda r: "lin" + "_api_" + _draw(r, 40),
    "Notion": lambda r: "ntn" + "_" + _draw(r, 46),
    "Terraform Cloud": lambda r: _draw(r, 14) + ".atlas" + "v1." + _draw(r, 67),
    "Shopify": lambda r: "shpat" + "_" + _draw(r, 32, _HEX),
    "Pulumi": lambda r: "pul" + "-" + _draw(r, 40, _HEX),
    "Sentry": lambda r: (
        "sntrys" + "_" + _coded({"iat": 1_700_000_000.0, "url": "https://sentry.io"}) + "_" + _draw(r, 43)
    ),
    "New Relic": lambda r: "NR" + "AK-" + _draw(r, 27, string.ascii_uppercase + string.digits),
    "Postman": lambda r: "PM" + "AK-" + _draw(r, 24, _HEX) + "-" + _draw(r, 34, _HEX),
    "Atlassian": lambda r: "ATA" + "TT3xFfGF0" + _draw(r, 175) + "=" + _draw(r, 8, "0123456789ABCDEF"),
    "Azure storage": lambda r: (
        "DefaultEndpointsProtocol=https;AccountName=data;Account"
        "Key=" + _draw(r, 86) + "==;EndpointSuffix=core"
    ),
    "password in a URL": lambda r: "postgres" + "ql://train:" + _draw(r, 12) + "@db.internal:5432/runs",
    "password of a Redis": lambda r: "redis" + "://:" + _draw(r, 16) + "@cache.internal:6379/0",
    "password of a MongoDB": lambda r: "mongodb" + "+srv://app:" + _draw(r, 14) + "@c.abc12.mongodb.net",
    "user in a Git URL": lambda r: "https" + "://ci:" + _draw(r, 20) + "@github.com/acme/train.git",
    "bearer": lambda r: "Author" + "ization: Bearer " + _draw(r, 40),
    "basic": lambda r: (
        "Author" + "ization: Basic " + base64.b64encode(("ci:" + _draw(r, 15)).encode()).decode()
    ),
    "Azure shared access": lambda r: (
        "https://data.blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sr=c&sp=r&si"
        "g=" + _draw(r, 43) + "%3D"
    ),
}

# Names under which a text is a secret whatever its form is.
NAMED: dict[str, _Make] = {
    "AWS_SECRET_ACCESS_KEY": lambda r: _draw(r, 40, _ANY + "+/"),
    "AWS_SESSION_TOKEN": lambda r: _draw(r, 300, _ANY + "+/"),
    "WANDB_API_KEY": lambda r: _draw(r, 40, _HEX),
    "DB_PASSWORD": lambda r: "Tr41n" + _draw(r, 8),
    "DB_PASS": lambda r: _draw(r, 12),
    "MY_TOKEN": lambda r: _draw(r, 32),
    "client_secret": lambda r: _draw(r, 34),
    "COMET_API_KEY": lambda r: _draw(r, 25),
    "NEPTUNE_API_TOKEN": lambda r: _coded({"api_address": "https://app.neptune.ai", "api_key": _draw(r, 36)}),
    "secret_key": lambda r: _draw(r, 50, _ANY + "!#%*"),
    "MLFLOW_TRACKING_PASSWORD": lambda r: "ml!" + _draw(r, 9),
    "private_key": lambda r: "0x" + _draw(r, 64, _HEX),
    "ssh_passphrase": lambda r: "Correct-" + _draw(r, 6) + "-horse",
    "encryption_key": lambda r: _draw(r, 44),
    "apiKey": lambda r: _draw(r, 32, _HEX),
    "accessToken": lambda r: _draw(r, 40),
    "AZURE_CLIENT_SECRET": lambda r: _draw(r, 3) + "8Q~" + _draw(r, 34),
    "DD_API_KEY": lambda r: _draw(r, 32, _HEX),
    "auth_token": lambda r: _draw(r, 36),
    "redis_password": lambda r: "r3dis" + _draw(r, 10),
}


def _notebook(source: list[str], output: list[str]) -> str:
    cell = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source}
    shown = [{"output_type": "stream", "name": "stdout", "text": output}]
    return json.dumps({"cells": [cell | {"outputs": shown}], "nbformat": 4, "metadata": {}}, indent=1)


_FILLER = "step 100 loss 2.31 tokens per second 41250\n"

_ANYWHERE: dict[str, Callable[[str], bytes]] = {
    "train.py": lambda text: f'import torch\n\nTHING = """{text}"""\n'.encode(),
    "README.md": lambda text: f"# Train\n\nUse this:\n\n    {text}\n".encode(),
    "explore.ipynb": lambda text: _notebook(["import os\n", f'x = """{text}"""'], ["ok\n"]).encode(),
    "shown.ipynb": lambda text: _notebook(["show()"], ["ok\n", f"{text}\n"]).encode(),
    "run.log": lambda text: (_FILLER * 30_000 + text + "\n").encode(),
    "settings.ps1": lambda text: f"$thing = '{text}'\r\n".encode("utf-16"),
    "notes.txt": lambda text: f"{_FILLER}{text}\n".encode("utf-16-be"),
    "job.yaml": lambda text: f"args:\n  - |\n    {text}\n".encode(),
    "wide.csv": lambda text: f"id,note\n1,{text}\n".encode("utf-32"),
}

_ASSIGNED: dict[str, Callable[[str, str], bytes]] = {
    "train.py": lambda name, value: f'import os\n\nos.environ["{name}"] = "{value}"\n'.encode(),
    "config.py": lambda name, value: f"{name} = '{value}'\n".encode(),
    "client.py": lambda name, value: f'connect(host="db", {name}="{value}", port=5432)\n'.encode(),
    "defaults.py": lambda name, value: f'x = os.getenv("{name}", "{value}")\n'.encode(),
    "explore.ipynb": lambda name, value: _notebook(
        [f'os.environ["{name}"] = "{value}"\n'], ["ok\n"]
    ).encode(),
    "magic.ipynb": lambda name, value: _notebook([f"%env {name}={value}\n"], ["ok\n"]).encode(),
    "shown.ipynb": lambda name, value: _notebook(["show()"], [f"{name}={value}\n"]).encode(),
    "settings.txt": lambda name, value: f"# settings\n{name}={value}\n".encode(),
    "values.yaml": lambda name, value: f"training:\n  {name}: {value}\n".encode(),
    "list.yaml": lambda name, value: f"env:\n  - name: {name}\n    value: {value}\n".encode(),
    "config.json": lambda name, value: json.dumps({"a": {name: value}}, indent=2).encode(),
    "pairs.json": lambda name, value: json.dumps([{"name": name, "value": value}]).encode(),
    "pyproject.toml": lambda name, value: f'[tool.train]\n{name} = "{value}"\n'.encode(),
    "setup.cfg": lambda name, value: f"[train]\n{name} = {value}\n".encode(),
    "run.sh": lambda name, value: f"#!/bin/sh\nexport {name}={value}\npython3 train.py\n".encode(),
    "job.sbatch": lambda name, value: f"#SBATCH -N 4\n{name}={value} srun python3 train.py\n".encode(),
    "Dockerfile": lambda name, value: f"FROM python:3.11\nENV {name} {value}\n".encode(),
    "main.tf": lambda name, value: f'variable "x" {{\n  {name} = "{value}"\n}}\n'.encode(),
    "settings.ps1": lambda name, value: f'$env:{name} = "{value}"\r\n'.encode("utf-16"),
    "app.properties": lambda name, value: f"train.{name}={value}\n".encode(),
    "index.js": lambda name, value: f"const options = {{ {name}: '{value}' }};\n".encode(),
    "config.xml": lambda name, value: f"<train><{name}>{value}</{name}></train>\n".encode(),
    "notes.md": lambda name, value: f"Log in with `{name}={value}`.\n".encode(),
    "Makefile": lambda name, value: f"run:\n\t{name}={value} python3 train.py\n".encode(),
    "submit.sh": lambda name, value: (
        f"train --{name.replace('_', '-').lower()} {value} --steps 10\n".encode()
    ),
}


def made_up_secrets(seed: int) -> Iterator[tuple[str, str, bytes, str]]:
    """Return what each is, the name of its file, the content of that file, and the secret itself."""
    source = random.Random(seed)  # noqa: S311 - not for secrets that anyone uses
    for index, (what, make) in enumerate(ISSUED.items()):
        for step in (0, 4):
            name, write = list(_ANYWHERE.items())[(index + step) % len(_ANYWHERE)]
            secret = make(source)
            yield f"{what} in {name}", name, write(secret), secret
    for index, (what, make) in enumerate(NAMED.items()):
        for step in range(7):
            name, write = list(_ASSIGNED.items())[(7 * index + step) % len(_ASSIGNED)]
            secret = make(source)
            yield f"{what} in {name}", name, write(what, secret), secret
