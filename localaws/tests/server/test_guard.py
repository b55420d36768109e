"""Requests that a web page in the user's browser can send, with or without DNS rebinding, are refused."""

import http.client
import http.server
import json
import logging
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import new_key

REGION = "us-east-1"
CREATE_STACK = (
    "Action=CreateStack&Version=2010-05-15&StackName=evil&TemplateBody=%7B%22Resources%22%3A%7B%7D%7D"
)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PAGE = {"Origin": "http://evil.example", "Referer": "http://evil.example/", "Sec-Fetch-Site": "cross-site"}


def authorization(key: str, service: str = "cloudformation") -> dict[str, str]:
    scope = f"Credential={key}/20261122/{REGION}/{service}/aws4_request"
    return {"Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0"}


def send(  # noqa: PLR0917 - in the order of a request
    local: LocalAws,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: str = "",
    host: str | None = None,
) -> tuple[int, dict[str, str], str]:
    """Send exactly these headers, as no SDK does."""
    port = int(local.endpoint.rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": f"localhost:{port}" if host is None else host, **headers}.items():
        if value:
            connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode())
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def stacks(local: LocalAws) -> list[str]:
    return [stack["StackName"] for stack in local.client("cloudformation").describe_stacks()["Stacks"]]


def test_a_request_with_the_key_is_answered(local_aws: LocalAws) -> None:
    for name in ("localhost", "127.0.0.1", "LOCALHOST"):
        host = f"{name}:{local_aws.endpoint.rpartition(':')[2]}"
        status, headers, _ = send(
            local_aws, "POST", "/", FORM | authorization(local_aws.key), "Action=ListStacks", host=host
        )
        assert status == 200
        assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["/moto-api/reset", "/_ultracluster/reset"])
def test_with_the_key_either_reset_empties_what_moto_keeps_and_what_we_keep(
    local_aws: LocalAws, path: str
) -> None:
    local_aws.client("s3").create_bucket(Bucket="mine")
    local_aws.client("ec2").create_placement_group(GroupName="mine")
    local_aws.capacity_market().block_quota_vcpus = 0

    assert send(local_aws, "POST", path, authorization(local_aws.key), "{}")[0] == 200

    assert [one["Name"] for one in local_aws.client("s3").list_buckets()["Buckets"]] == [
        "cdk-hnb659fds-assets-123456789012-us-east-1"
    ]
    assert local_aws.client("ec2").describe_placement_groups()["PlacementGroups"] == []
    assert local_aws.capacity_market().block_quota_vcpus is None


# What a page can send: a form or fetch without preflight, the preflight of anything else, an image, a WebSocket.
FROM_A_PAGE = {
    "preflight": ("OPTIONS", "/", {"Access-Control-Request-Method": "POST"}, ""),
    "preflight with headers": (
        "OPTIONS",
        "/",
        {"Access-Control-Request-Headers": "authorization,x-amz-target"},
        "",
    ),
    "form": ("POST", "/", FORM, CREATE_STACK),
    "text": ("POST", "/", {"Content-Type": "text/plain"}, CREATE_STACK),
    "guessed signature": ("POST", "/", FORM | authorization("test"), CREATE_STACK),
    "reset": ("POST", "/_ultracluster/reset", {}, ""),
    "reset of moto": ("POST", "/moto-api/reset", {}, ""),
    "seed": ("POST", "/_ultracluster/seed", {"Content-Type": "text/plain"}, json.dumps({"regions": []})),
    "state": ("GET", "/moto-api/data.json", {}, ""),
    "dashboard": ("GET", "/moto-api/", {}, ""),
    "image": ("GET", "/bucket/key", {}, ""),
    "upload": ("POST", "/bucket", {"Content-Type": "multipart/form-data; boundary=x"}, "--x--"),
    "websocket": ("GET", "/", {"Upgrade": "websocket", "Connection": "Upgrade"}, ""),
}


@pytest.mark.parametrize("request_", FROM_A_PAGE.values(), ids=FROM_A_PAGE)
@pytest.mark.parametrize(
    "origin", [PAGE, {"Origin": "null"}, {}], ids=["page", "sandboxed page", "no origin"]
)
def test_a_page_can_neither_change_nor_read_anything(
    local_aws: LocalAws, request_: Any, origin: Mapping[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    local_aws.client("s3").create_bucket(Bucket="mine")
    method, path, headers, body = request_
    status, answered, text = send(local_aws, method, path, {**headers, **origin}, body)

    assert status == 403
    assert not [name for name in answered if name.startswith("access-control-")]
    assert "mine" not in text
    (line,) = caplog.messages
    assert line.startswith(f"refused '{method} {path}': it")
    assert stacks(local_aws) == []
    assert "mine" in [bucket["Name"] for bucket in local_aws.client("s3").list_buckets()["Buckets"]]


def test_a_page_is_refused_even_with_the_key(local_aws: LocalAws, caplog: pytest.LogCaptureFixture) -> None:
    headers = FORM | authorization(local_aws.key) | PAGE
    assert send(local_aws, "POST", "/", headers, CREATE_STACK)[0] == 403
    assert caplog.messages == ["refused 'POST /': it comes from a web page (Origin 'http://evil.example')"]
    assert stacks(local_aws) == []


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "evil.example",
        "localhost",
        "localhost:1",
        "localhost:{port}.evil.example",
        "localhost.evil.example:{port}",
        "evil.example@localhost:{port}",
        "127.0.0.1.nip.io:{port}",
        "0.0.0.0:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "localhost:{port}, evil.example:{port}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/_ultracluster/reset", "/moto-api/data.json"])
def test_a_rebound_name_is_refused_even_with_the_key(
    local_aws: LocalAws, host: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    rebound = host.format(port=local_aws.endpoint.rpartition(":")[2])
    headers = FORM | authorization(local_aws.key)
    status, _, text = send(local_aws, "POST", path, headers, CREATE_STACK, host=rebound)

    assert status in {400, 403}
    assert "<StackId>" not in text
    assert [line for line in caplog.messages if f"its Host is {rebound!r}" in line]
    assert stacks(local_aws) == []


def test_a_line_of_the_log_cannot_be_forged(local_aws: LocalAws, caplog: pytest.LogCaptureFixture) -> None:
    send(local_aws, "GET", "/%0arefused%20nothing%1b[2J", {"Origin": "http://x\x1b[2J"})
    (line,) = caplog.messages
    assert line.isprintable()


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_a_presigned_url_carries_the_key(local_aws: LocalAws, version: str) -> None:
    s3 = boto3.client(
        "s3",
        region_name=REGION,
        endpoint_url=local_aws.endpoint,
        aws_access_key_id=local_aws.key,
        aws_secret_access_key="x",
        config=Config(signature_version=version, proxies={}),
    )
    s3.create_bucket(Bucket="mine")
    s3.put_object(Bucket="mine", Key="object", Body=b"content")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "mine", "Key": "object"})
    path = url.removeprefix(local_aws.endpoint)

    assert send(local_aws, "GET", path, {})[::2] == (200, "content")
    for other in (path.replace(local_aws.key, new_key()), path.partition("?")[0]):
        status, _, text = send(local_aws, "GET", other, {})
        assert status == 403
        assert "its access key" in text or "no access key" in text


def test_clients_with_an_old_key_hear_how_to_get_the_new_one(local_aws: LocalAws) -> None:
    for service in ("cloudformation", "s3", "dynamodb", "ec2", "batch"):
        client = boto3.client(
            service,
            region_name=REGION,
            endpoint_url=local_aws.endpoint,
            aws_access_key_id=new_key(),
            aws_secret_access_key="x",
        )
        call = {"cloudformation": "list_stacks", "s3": "list_buckets", "dynamodb": "list_tables"}.get(
            service, ""
        )
        call = call or {"ec2": "describe_vpcs", "batch": "describe_job_queues"}[service]
        with pytest.raises(
            client.exceptions.ClientError, match=r"\(AccessDenied\).*run `ultracluster local env`"
        ):
            getattr(client, call)()


def test_keys_that_it_issued_are_accepted_until_it_is_reset(local_aws: LocalAws) -> None:
    role = "arn:aws:iam::123456789012:role/deploy"
    issued = local_aws.client("sts").assume_role(RoleArn=role, RoleSessionName="cdk")["Credentials"]
    headers = FORM | authorization(issued["AccessKeyId"])

    assert send(local_aws, "POST", "/", headers, "Action=ListStacks")[0] == 200
    local_aws.reset()
    assert send(local_aws, "POST", "/", headers, "Action=ListStacks")[0] == 403


def test_keys_are_random(local_aws: LocalAws) -> None:
    assert len({new_key() for _ in range(100)} | {local_aws.key}) == 101
    assert len(local_aws.key) >= 32


@pytest.fixture(autouse=True)
def _warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="ultracluster_local")


BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
EVIL = """<!doctype html><title>evil</title><iframe name="hidden"></iframe><script>
const local = "http://localhost:PORT";
const form = "application/x-www-form-urlencoded";
const send = (path, options) => fetch(local + path, {method: "POST", ...options}).then(
  answer => answer.text()).then(text => "read " + text, error => "nothing");
const forged = document.createElement("form");
forged.action = local + "/"; forged.method = "POST"; forged.target = "hidden";
for (const pair of new URLSearchParams("CREATE")) {
  const field = document.createElement("input");
  [field.name, field.value] = pair;
  forged.append(field);
}
document.body.append(forged);
forged.submit();
Promise.all([
  send("/", {mode: "no-cors", headers: {"Content-Type": form}, body: "CREATE"}),
  send("/", {headers: {"Content-Type": form, "Authorization": "AWS4-HMAC-SHA256 Credential=test/1/us-east-1/s3/aws4_request"}, body: "CREATE"}),
  send("/_ultracluster/reset", {mode: "no-cors"}),
  send("/moto-api/reset", {}),
  send("/moto-api/data.json", {method: "GET"}),
]).then(read => document.body.append("done: " + read.join("; ")));
</script>"""


def browse(url: str, profile: Path) -> str:
    """Open a page in a headless browser, in which evil.example is this machine; return its text in the end."""
    assert BROWSER is not None
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        f"--user-data-dir={profile}",
        rules,
    ]
    opened = subprocess.run(
        [BROWSER, *quiet, "--virtual-time-budget=10000", "--dump-dom", url],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return opened.stdout


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")
def test_a_page_in_a_real_browser_is_refused(
    local_aws: LocalAws, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    local_aws.client("s3").create_bucket(Bucket="mine")
    page = (
        EVIL.replace("PORT", local_aws.endpoint.rpartition(":")[2]).replace("CREATE", CREATE_STACK).encode()
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        shown = browse(f"http://evil.example:{server.server_port}/", tmp_path)
        server.shutdown()

    assert "done: read ; nothing; read ; nothing; nothing" in shown  # what a page may not read is empty to it
    refused = [
        line for line in caplog.messages if "it comes from a web page (Origin 'http://evil.example:" in line
    ]
    assert len(refused) >= 6
    assert [line for line in refused if line.startswith("refused 'OPTIONS /'")]
    assert [line for line in refused if line.startswith("refused 'POST /_ultracluster/reset'")]
    assert len(refused) == len(caplog.messages)
    assert stacks(local_aws) == []
    assert "mine" in [bucket["Name"] for bucket in local_aws.client("s3").list_buckets()["Buckets"]]


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")
def test_a_rebound_name_in_a_real_browser_is_refused(
    local_aws: LocalAws, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    host = f"evil.example:{local_aws.endpoint.rpartition(':')[2]}"
    shown = browse(f"http://{host}/moto-api/data.json", tmp_path)

    assert "The local AWS refused the request: its Host is" in shown
    assert caplog.messages[0] == (
        f"refused 'GET /moto-api/data.json': its Host is '{host}', not the address of this local AWS"
    )
