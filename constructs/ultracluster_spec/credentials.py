"""Detect and redact credentials in places where they do not belong.

One detector for what `ultracluster run` uploads, for rollout files and for the environments of jobs. It knows the forms of
issuers, the names whose value is a secret, and, with Kingfisher (docs/decisions/0028), several hundred further forms.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

from ultracluster_spec.findings import Finding, quote
from ultracluster_spec.record import RuleRecord

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

# Forms of issuers, as they document them and as public scanners use them: without their checksums, because a token
# with a wrong one is still somebody's token. Each is searched only where its first text is found, which is fast.
_KINDS: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = tuple(
    (kind, tuple(texts.split()), re.compile(pattern))
    for kind, texts, pattern in (
        ("an AWS access key id", "AKIA ASIA", r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])"),
        ("an Amazon Bedrock key", "ABSK bedrock-api-key-", r"\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60,}"),
        ("a private key", "PRIVATE", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"),
        ("a private key", "PuTTY-User-Key-File", r"PuTTY-User-Key-File-\d: "),
        ("a private key", "AGE-SECRET-KEY-", r"\bAGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}"),
        ("a GitHub token", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,}"),
        ("a GitHub token", "github_pat_", r"(?<![A-Za-z0-9])github_pat_\w{60,}"),
        ("a GitLab token", "gl", r"(?<![A-Za-z0-9])gl(?:pat|dt|ft|rt|cbt|ptt|imt|soat|agent|rtr|oas)-[\w-]{20,}"),
        ("a Hugging Face token", "hf_ api_org_", r"(?<![A-Za-z0-9])(?:hf|api_org)_[A-Za-z]{30,}"),
        ("an OpenAI or Anthropic key", "sk-", r"(?<![A-Za-z0-9-])sk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{20,}"),
        ("an OpenAI key", "T3BlbkFJ", r"\bsk-[\w-]*T3BlbkFJ[\w-]{10,}"),
        ("a wandb key", "wandb_v", r"\bwandb_v\d_[\w-]{40,}"),
        ("a PyPI token", "pypi-", r"\bpypi-Ag[\w-]{50,}"),
        ("an npm token", "npm_", r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}"),
        ("a Stripe key", "_live_ _test_", r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{20,}"),
        ("a Google key", "AIza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
        ("a Google secret", "GOCSPX-", r"\bGOCSPX-[\w-]{28}"),
        ("a Slack token", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a Slack token", "xapp-", r"(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{20,}"),
        ("a web hook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]+/\w+/\w+"),
        ("a web hook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{30,}"),
        ("a web hook", "webhook.office.com", r"\.webhook\.office\.com/webhookb2/[\w-]+@[\w-]+/\w+/\w+"),
        ("a JSON Web Token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}"),
        ("an AI service's key", "nvapi- pplx- xai-", r"(?<![\w-])(?:nvapi|pplx|xai)-[\w-]{40,}"),
        ("an AI service's key", "gsk_ r8_ fw_ tgp_v1_ csk-", r"(?<![\w-])(?:(?:gsk|r8|tgp_v1)_|csk-)\w{30,}|(?<![\w-])fw_[A-Za-z0-9]{22,}"),
        ("a service's token", "dop_v1_ doo_v1_ dor_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}"),
        ("a Databricks token", "dapi", r"(?<![\w-])dapi[a-f0-9]{32}"),
        ("a Docker token", "dckr_", r"\bdckr_[op]at_[\w-]{20,}"),
        ("a Tailscale key", "tskey-", r"\btskey-[a-z]+-[\w-]{16,}"),
        ("a Vault token", "hvs. hvb. hvr.", r"(?<![\w.])hv[sbr]\.[\w-]{20,}"),
        ("a Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}"),
        ("a service's token", "glsa_ lin_api_ ntn_ sntrys_ sntryu_ shpat_", r"(?<![\w-])(?:glsa|lin_api|ntn|sntry[su]|shpat)_[A-Za-z0-9_=.-]{28,}"),
        ("a service's token", "NRAK- PMAK- pul- SG. ATATT3", r"(?<![\w-])(?:NRAK-[A-Z0-9]{27}|PMAK-[a-f0-9-]{40,}|pul-[a-f0-9]{40}|SG\.[\w-]{16,}\.[\w-]{30,}|ATATT3[\w=-]{50,})"),
        ("a Twilio key", "SK", r"(?<![\w-])SK[a-f0-9]{32}(?!\w)"),
        ("an Azure key", "AccountKey= SharedAccessKey=", r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}"),
        ("a password hash", "$6$ $2a$ $2b$ $apr1$", r"\$(?:6|2[ab]|apr1)\$[./A-Za-z0-9]{2,16}\$[./A-Za-z0-9]{20,}"),
        ("a signed URL", "sig=", r"[?&;]sig=[A-Za-z0-9%+/]{40,}"),
    )
)  # fmt: skip
_MASKED: Final = re.compile(r"[xX*]{6}|\.{3}")
_URL: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,30}://(?P<user>[^\s:/@\"'<>{}$%]{0,80}):(?P<value>[^\s@\"'<>/]{3,200})@(?=[\w\[])"
)
_TOKEN_IN_URL: Final = re.compile(r"://(?P<value>[\w-]{20,200})@[\w.-]+[:/]")
_COMMAND: Final = re.compile(
    r"(?i)(?:\bwandb login|\bsshpass -p|\bdocker login .{0,80}?-p|\bmysql .{0,80}?-p|\bidentified by|\bwith password|\brequirepass)\s*[\"'=]?(?P<value>[^\s\"';]{6,200})"
)
_COMMAND_WORDS: Final = (
    "wandb login",
    "sshpass",
    "docker login",
    "mysql",
    "identified by",
    "Identified by",
    "IDENTIFIED BY",
    "ith password",
    "ITH PASSWORD",
    "requirepass",
)
_HEADER: Final = re.compile(r"(?i)\b(?:bearer|basic|token)\s+(?P<value>[A-Za-z0-9+/=._~-]{16,})")

# The last words of a name, in lower case with _ between them. Not every name with TOKEN in it: training jobs set
# TOKENIZERS_PARALLELISM and EOS_TOKEN, and programs have keys of dictionaries.
_SECRET_NAME: Final = re.compile(
    r"(?:(?:password|passwd|passphrase|apikey)s?|(?:^|_)(?:pwd|secrets?|(?:api|access|secret|private|account|encryption|signing|master|client"
    r"|service|shared|storage|license|ssh|deploy|auth)_?key(?:_id)?|client_?secret|(?:aws_)?session_token"
    r"|(?:hf|hugging_?face(?:_hub)?|github|gh|gitlab|wandb|slack|openai|anthropic)_(?:token|key)|client_key_data|credentials?))"
    r"(?:_?(?:\d+|prod|dev|staging|value|b64|base64))?$"
)
_PERHAPS_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:tokens?|pass|auth|pat|key|_authtoken|authtoken|[a-z0-9]+_key|cred|cookie|bearer|sas|webhook(?:_url)?)(?:_?\d+)?$"
)
_TOKENIZER: Final = re.compile(
    r"(?:^|_)(?:[a-z]*os|pad|unk|sep|cls|mask|stop|special|image|video|audio|prefix|suffix|page|next|count|max|min)_tokens?$|(?:s3|object|sort|target|public)_key$"
)
_PUBLIC: Final = re.compile(r"(?:^|_)public_key$|secret_access_key_id$|(?:^|_)kms_(?:\w+_)?key_(?:id|arn)$")

# What stands for a secret in documents, tests and templates.
_PLACEHOLDER: Final = re.compile(
    r"(?i)your|example|placeholder|change.?me|dummy|fake|mock|x{4,}|\.\.\.|\*\*\*|redacted|insert|replace|sample|todo"
    r"|pass(?:word|wd)?\d*$|secret$|token$|^key|key$|none$|null$|true$|false$|optional|required|default|env(?:ironment)?[._:]"
    r"|[<>{}]|^\$|\$[(A-Z]|^%|^[a-z]+://|^arn:|^(?:s3|file|env|op|vault|ssm):|abc123|123456|(?:^|[-_.])test(?:[-_.]|$)|/[\w.-]+\.\w{2,5}$|^([A-Z_]\w*)=\1$|^(.)\2*$"
)
_LOWER: Final = {
    ord(letter): letter.lower() for letter in ascii_uppercase
}  # unlike lower(), it moves no character
_WORDS: Final = re.compile(r"pass|pwd|secret|token|key|auth|cred|pat(?![a-z])|cookie|bearer|webhook|sas")
_NAME_BEFORE: Final = re.compile(r"(?:--?)?[A-Za-z0-9_.-]*\Z")
_CALL: Final = re.compile(r"(?i)(?:env\w*|get|default|set\w*|define|add)\(\s*\\?[\"']$")
_ASSIGNED: Final = re.compile(
    r"""(?P<flag>--?)?(?P<name>[A-Za-z0-9_.-]{1,120})
        \\?["'`]?\]?
        (?:\s*:\s*[A-Z]?[\w\[\]|., ]{1,40}(?==))?
        (?P<by>\s*(?::=|=>|=|:)\s*(?:[>|][+-]?\s*\n\s*|\(\s*)?|\s*,(?:[^\n=]{0,60}\bdefault\s*=)?\s*(?=\\?["'])|>|\s+)
        (?:
            (?:[rbfu]{1,2}(?=["']))?(?P<quote>\\?(?:\"{3}|'{3}|["'`]))(?P<quoted>[^"'`\\\n]{4,2000})(?=\\?["'`])
            |(?P<plain>[^\s"'`\\,;<>(){}\[\]]{4,2000})
        )""",
    re.VERBOSE,
)
_PAIR: Final = re.compile(
    r"""(?i)\b(?:name|key)\\?["']?\s*[:=]\s*\\?["']?(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,80})\\?["']?[\s,]+
        \\?["']?value\\?["']?\s*[:=]\s*\\?["']?(?P<value>[^\s"'`\\,{}]{4,2000})""",
    re.VERBOSE,
)
# In source code, only a text in quotes is a value; a word is the name of a variable.
_CODE: Final = re.compile(
    r"\.(?:[chmr]|cc|cpp|cs|cuh?|cxx|go|hpp|java|jl|[jt]sx?|kt|mjs|php|pyi?|pyx|rb|rs|scala|swift)$"
)
_SETTINGS: Final = re.compile(r"\.(?:cfg|conf|env|ini|properties|toml|ya?ml)$")

_SHORTEST: Final = 6  # of a password; shorter texts are words or numbers

_SECRET_FILE: Final = re.compile(
    r"/(?:\.env(?:rc|\..+)?|[._]netrc|\.(?:pypirc|npmrc|yarnrc|boto|s3cfg|htpasswd|dockercfg|dockerconfigjson|vault-token"
    r"|git-credentials|terraformrc|databrickscfg|dbshell)|\.?pgpass(?:\.conf)?|\.(?:my|mylogin)\.cnf|kubeconfig|terraform\.rc"
    r"|\.?\w*history|(?:.*[._-])?credentials(?:\.(?:json|toml|ya?ml|tfrc\.json))?|accesstokens\.json|pip\.(?:conf|ini)"
    r"|rclone\.conf|kaggle\.json|token|auth\.json|secrets?\.(?:ya?ml|json|toml|env)|id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?"
    r"|(?:client_secret|service[-_]account).*\.json|identity|\.aws/config|\.docker/config\.json|\.kube/config|\.oci/config"
    r"|\.ngc/config|gh/hosts\.yml|\.snowsql/config|(?:\.ssh|\.gnupg|\.azure|gcloud)/.+"
    r"|.+\.(?:pem|key|p8|p12|pfx|pkcs12|jks|jceks|keystore|bks|ppk|kdbx?|keytab|ovpn|agekey|tfstate|tfvars(?:\.json)?|gpg|asc"
    r"|pgp|mobileprovision))$"
)
# Settings of package managers are seldom secret: a file of these names is one if it says so.
_SETTINGS_FILE: Final = re.compile(r"/(?:\.npmrc|\.yarnrc|pip\.(?:conf|ini))$")
_SETS_SECRET: Final = re.compile(rb"(?i)auth|passw|token|certfile|^key|://[^/\s]*@|\0", re.MULTILINE)
_KEPT_BEFORE: Final = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|swp|copy|txt|tmp|\d+))+$")
_TEMPLATE: Final = re.compile(r"\.(?:example|sample|template|dist|tmpl|tpl)$")


@lru_cache(maxsize=4_096)  # templates repeat most of their texts
def credential_kind(text: str) -> str | None:
    """Return the kind of credential in a text, such as ``an AWS access key id``; None if there is none."""
    return next((kind for _, kind in _issued(text)), None)


def _issued(text: str) -> Iterator[tuple[int, str]]:
    """Return where credentials of a known form are, and their kinds."""
    for kind, starts, pattern in _KINDS:
        if any(start in text for start in starts):
            yield from (
                (found.start(), kind) for found in pattern.finditer(text) if not _MASKED.search(found[0])
            )
    yield from _spelled(text)


def _spelled(text: str) -> Iterator[tuple[int, str]]:
    """Return where passwords are by what stands around them: in URLs, commands and headers."""
    for found in _URL.finditer(text) if "://" in text and "@" in text else ():
        value, user = found["value"], found["user"].lower()
        if not _PLACEHOLDER.search(value) and value.lower() not in ("pass", "guest", user):
            yield found.start(), "a password in a URL"
    for found in _TOKEN_IN_URL.finditer(text):
        if _is_drawn(found["value"], least=20):
            yield found.start(), "a token in a URL"
    for found in _COMMAND.finditer(text) if any(word in text for word in _COMMAND_WORDS) else ():
        if re.search(r"\d", found["value"]) and not _PLACEHOLDER.search(found["value"]):
            yield found.start(), "a password in a command"
    for found in _HEADER.finditer(text) if any(word in text for word in ("earer ", "asic ", "oken ")) else ():
        if _is_drawn(found["value"], least=16) and not _PLACEHOLDER.search(found["value"]):
            yield found.start(), "the credentials of a header"


def _words(name: str) -> str:
    """Return a name in lower case with _ between its words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-.]+", "_", name).lower().strip("_")


@lru_cache(maxsize=4_096)  # templates repeat most of their names
def names_credential(name: str) -> bool:
    """Whether the name of an environment variable implies that its value is a credential."""
    words = _words(name)
    return _SECRET_NAME.search(words) is not None and not _PUBLIC.search(words)


def assigns_credential(name: str, value: str) -> bool:
    """Whether a name with a value, written somewhere in a file, looks like a credential."""
    words = _words(name)
    if _PLACEHOLDER.search(value) or _TOKENIZER.search(words) or _words(value) in words:
        return False
    if re.search(r"\s", value):  # in quotes; most are sentences
        return names_credential(name) and _is_drawn(re.sub(r"\s", "", value), least=12)
    is_word = re.search(r"pass|pwd", words) and re.fullmatch(r"[a-z]{6,}\d{0,4}", value)
    if names_credential(name) or words.split("_")[-1] == "pass":
        return bool(is_word) or _is_password(value)
    return _PERHAPS_SECRET_NAME.search(words) is not None and _is_drawn(value, least=16)


def variable_credential(name: str, value: str) -> str | None:
    """Return why an environment variable is a credential; None if it is not."""
    if kind := credential_kind(value):
        return f"this looks like {kind}"
    if names_credential(name) or _perhaps_assigns(name, value):
        return f"the value of {shown(name)} is a credential"
    # Loading the scanner takes a third of a second, so ask it only about values that look random.
    if _is_drawn(value, least=20) and (found := _scanned("variables.env", f"{name}={value}".encode())):
        return f"this looks like {found[0][1]}"
    return None


def _perhaps_assigns(name: str, value: str) -> bool:
    words = _words(name)
    if not _PERHAPS_SECRET_NAME.search(words) or _TOKENIZER.search(words) or _PLACEHOLDER.search(value):
        return False
    return _is_drawn(value, least=16) or (words.endswith(("token", "pass")) and _is_password(value))


def command_credential(words: Iterable[str]) -> str | None:
    """Return why a command contains a credential; None if it does not."""
    found = next(_assigned(" ".join(words), ""), None)
    return f"this looks like {found[1]}" if found else None


def find_credentials(name: str, content: bytes) -> list[tuple[int, str]]:
    """Return the lines of the credentials in a file, and their kinds, in order."""
    # Without the zeros, the ASCII characters of UTF-16 and UTF-32 are themselves, with or without a byte order mark.
    text = content.replace(b"\0", b"").decode("utf-8", "replace")
    places = (*_assigned(text, name.lower()), *_issued(text))
    found = {text.count("\n", 0, at) + 1: kind for at, kind in places}
    for line, kind in _scanned(name, content):
        found.setdefault(line, kind)
    return sorted(found.items())


def _assigned(text: str, file: str) -> Iterator[tuple[int, str]]:
    """Return where names with values that look like credentials are."""
    end = 0
    for word in _WORDS.finditer(text.translate(_LOWER)):
        if word.start() < end:
            continue
        before = max(end, word.start() - 80)
        if not (start := _NAME_BEFORE.search(text, before, word.start())):
            continue
        found = _ASSIGNED.match(text, start.start())
        end = found.end("name") if found else word.end()
        if not found or (found["plain"] and not _is_plain_value(found, file)):
            continue
        if assigns_credential(found["name"], found["quoted"] or found["plain"]) and _is_assigned(found):
            yield found.start(), f"the value of {quote(found['name'][-60:])}, which is a credential"
    if "value" in text or "Value" in text:
        for found in _PAIR.finditer(text):
            if assigns_credential(found["name"], found["value"]):
                yield found.start("value"), f"the value of {quote(found['name'])}, which is a credential"


def _is_assigned(found: re.Match[str]) -> bool:
    """Whether a name and the text behind it are one setting, not neighbours in a list or a sentence."""
    by = found["by"].strip()
    if by == ",":
        before = found.string[max(0, found.start() - 40) : found.start()]
        return _CALL.search(before) is not None or _is_drawn(found["quoted"], least=20)
    return bool(by or found["flag"] or found["plain"])


def _is_plain_value(found: re.Match[str], file: str) -> bool:
    """Whether a text without quotes is a value: not in source code, where it is a variable, nor the next word of prose."""
    if _CODE.search(file):
        return False
    if _SETTINGS.search(file):
        return bool(found["by"].strip())
    if not re.search(r"\d", found["plain"]):
        return False
    between = bool(found["by"].strip() or found["flag"])
    return between or found["name"].lower() == "password" or _is_drawn(found["plain"], least=16)


def _is_password(value: str) -> bool:
    """Whether a text could be a password: not a word, a name or a number."""
    return (
        len(value) >= _SHORTEST
        and re.search(r"[A-Za-z]", value) is not None
        and (
            re.search(r"\d", value) is not None
            or len(re.findall(r"[a-z][A-Z]|[A-Z]{2}[a-z]", value)) > len(value) // 6
        )
        and (
            _is_drawn(value, least=12)
            or not re.fullmatch(r"[A-Za-z_]*[A-Za-z]{3}_?-?\d{0,2}|[\w-]+(?:[./][\w-]+)+", value)
        )
    )


def _is_drawn(value: str, *, least: int) -> bool:
    """Whether a text looks drawn at random: long, and with few neighbours of one class of characters.

    Of two random characters about half differ in class (small, large, digit); in names and paths, few do.
    """
    if (
        len(value) < least
        or not re.fullmatch(r"[A-Za-z0-9+/=_.~!#%*^&:-]+", value)
        or not re.search(r"\d", value)
    ):
        return False
    pairs = len(re.findall(r"(?=[A-Za-z0-9]{2})", value))
    changes = len(re.findall(r"(?=[a-z][A-Z0-9]|[A-Z][a-z0-9]|[0-9][A-Za-z])", value))
    words = sum(map(len, re.findall(r"[A-Z][a-z]{3,}", value)))
    return (
        pairs >= least // 2
        and words < len(value) // 2
        and changes >= 0.3 * pairs
        and len(set(value)) > min(len(value) // 4, 12)
    )


def is_secret_file(name: str, read: Callable[[], bytes] | None = None) -> bool:
    """Whether a file holds secrets by its name, without regard to case or to a suffix of a backup.

    Args:
        name: Name of the file in its folder.
        read: Returns what is in it, which decides for settings of package managers. Default: the name decides.
    """
    path = _KEPT_BEFORE.sub("", "/" + name.lower())
    if _TEMPLATE.search(path) or _SECRET_FILE.search(path) is None:
        return False
    return read is None or not _SETTINGS_FILE.search(path) or _SETS_SECRET.search(read()) is not None


@cache
def _scanner() -> "Scanner":
    from kingfisher_sdk import Scanner  # noqa: PLC0415 - a third of a second, which only who needs it should pay

    return Scanner()


def _scanned(name: str, content: bytes) -> list[tuple[int, str]]:
    """Return the lines and kinds of what Kingfisher finds; it asks no service about it."""
    from kingfisher_sdk import ScanInput  # noqa: PLC0415 - as above

    found = _scanner().scan_input(ScanInput(ascii(name)[1:-1], content))
    return [
        (each.location["line"], f"a credential ({each.rule_name})")
        for each in found
        if each.visible
        and not (
            each.rule_id.endswith("-uri")
            and (_PLACEHOLDER.search(each.secret) or each.secret.casefold() == "guest")
        )
    ]


def hide_credentials(text: str) -> str:
    """Redact every credential in a text."""
    for kind, _, pattern in _KINDS:
        text = pattern.sub(f"({kind}, not shown)", text)
    return text


def shown(value: object) -> str:
    """Format a user's value in at most 76 ASCII characters, with credentials hidden."""
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


def job_credential(problem: str, path: str) -> Finding:
    """Return the finding of a credential in a job, which everyone reads who may describe the job."""
    remedy = (
        "Pass it as one of `secrets` of the job, from AWS Secrets Manager or a parameter of Systems Manager"
    )
    return Finding("UC2253", problem, allowed="no credentials", remedy=remedy, path=path)


RECORDS: Final = (
    RuleRecord(
        "UC2108",
        "The rollout file contains no credentials.",
        remedy="Remove the credential from the file, rotate it, because it was written down, and let the job read it from AWS Secrets Manager with its role.",
        source="AWS Batch user guide: a job definition and its environment are plain text for everybody who may describe it.",
    ),
    RuleRecord(
        "UC2253",
        "The environment and the command of a job contain no credentials.",
        remedy="Let the program read it from AWS Secrets Manager, grant the role of the job permission to read it, and rotate it, because it was written down.",
        source="AWS Batch user guide: a job definition and its environment are plain text for everybody who may describe it.",
    ),
)
