"""Every command that a page shows runs on the local AWS, in the state that the page describes.

It ends with exit code 0, and prints what the page shows behind a `$`. test_tutorials.py runs the commands behind a `$` of README.md
and of the tutorials, in processes. `make check-deep` reads all pages, and `make test` those of `READ_ALWAYS`. not_run.yaml lists what cannot run here; each of those commands is tried, and has to fail.
"""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, partial
from pathlib import Path

import pytest
import yaml
from tests.integration.page_account import IMAGE, REGION, Account, eventually
from tests.integration.page_programs import AwsCli, on_path, python
from tests.integration.page_shell import PageShell, Program
from tests.unit.docs.pages import ROOT, Block, code_blocks, is_shown
from tests.unit.runtime.purchasing.ledger_table import TABLE
from tests.unit.scripts.torch_neuronx_stub import write_stub_of_torch_neuronx

from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_cli.main import main
from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

NOT_RUN: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("not_run.yaml").read_text("utf-8")
)
"""Reasons by page and command."""


# States that pages describe


def nothing(account: Account) -> None:
    """An account that is bootstrapped and otherwise empty."""
    del account


def keep_in_git(account: Account) -> None:
    """Make the folder a Git repository without what the tests link into it, which leads out of the folder."""
    subprocess.run(["git", "init", "-q"], cwd=account.folder, check=True)
    (account.folder / ".gitignore").write_text(
        ".github\n.ultracluster\napp.py\ndocs\nexamples\nnode_modules\nstacks\n"
    )


def a_deployed_cluster(account: Account) -> None:
    """A cluster runs in its block. Two teams share it; one of its jobs has gates."""
    account.write_rollout(
        queue={"shares": {"research": 4, "evaluation": 1}},
        jobs=[
            {
                "name": "pretrain",
                "nodes": 2,
                "image": IMAGE,
                "launcher": "raw",
                "command": ["train.py"],
                "gates": {"fabric": True, "smoke": True},
            },
            {
                "name": "precompile",
                "kind": "precompile",
                "phase": "compile",
                "image": IMAGE,
                "command": ["train.py"],
            },
        ],
    )
    account.export_ledger()
    account.seed()
    account.deploy()
    account.run_jobs()
    (account.folder / "train.py").write_text("print('step 1')")
    keep_in_git(account)


def a_model_with_an_fft(account: Account) -> None:
    """A cluster has a support check, in whose image torch-neuronx finds that the compiler lacks the FFT."""
    check = {"name": "check", "kind": "support-check", "image": IMAGE, "command": ["model.py", "build"]}
    account.write_rollout(jobs=[check])
    account.seed()
    account.deploy()
    programs = account.folder / "programs"
    write_stub_of_torch_neuronx(programs)
    account.run_jobs(programs)


def a_bucket_as_a_folder(account: Account) -> None:
    """A cluster has a job that mounts S3 Files."""
    system = account.client("s3files").create_file_system(
        bucket="arn:aws:s3:::corpus", roleArn="arn:aws:iam::123456789012:role/S3Files"
    )
    mount = {"source": system["fileSystemArn"], "path": "/corpus", "read_only": True}
    job = {"name": "tokenize", "kind": "single-node", "image": IMAGE, "launcher": "raw", "mounts": [mount]}
    account.write_rollout(jobs=[job | {"command": ["ls", "/corpus"]}])
    account.seed()
    account.deploy()
    account.run_jobs()


def an_order(account: Account) -> None:
    """Nothing is bought yet: the rollout names an order."""
    account.write_rollout(capacity={"order": "december"})
    account.use_ledger()
    account.seed()


def an_exported_ledger(account: Account) -> None:
    account.write_rollout(capacity={"order": "december"})
    account.export_ledger()
    account.seed()


def a_block(account: Account) -> None:
    account.write_rollout()
    account.seed()
    account.use_ledger()


def two_waves(account: Account) -> None:
    account.write_rollout(nodes=2, jobs=[])
    rollout = yaml.safe_load(account.rollout.read_text())
    (canary,) = rollout["waves"][0]["clusters"]
    second = "cr-0123456789abcdef1"
    production = canary | {"name": "pretrain", "capacity": {"reservation_id": second}}
    rollout["waves"] = [
        {"name": "canary", "clusters": [canary]},
        {"name": "production", "clusters": [production]},
    ]
    account.rollout.write_text(yaml.safe_dump(json.loads(json.dumps(rollout)), sort_keys=False))  # no aliases
    account.seed()
    account.seed(reservation_id=second)


def an_order_for_production(account: Account) -> None:
    two_waves(account)
    text = account.rollout.read_text()
    account.rollout.write_text(text.replace("reservation_id: cr-0123456789abcdef1", "order: december"))
    account.export_ledger()


def two_buckets(account: Account) -> None:
    account.write_rollout(name="training-a")
    account.seed()
    place = {"LocationConstraint": REGION}
    for bucket in ("my-code-us-east-2", "my-templates"):
        account.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=place)


def an_organization(account: Account) -> None:
    account.client("organizations", "us-east-1").create_organization(FeatureSet="ALL")


def templates(account: Account) -> None:
    """Templates of another project, and an assembly of the CDK."""
    for name in ("network", "cluster"):
        (account.folder / f"{name}.yaml").write_text("Resources: {Topic: {Type: AWS::SNS::Topic}}")
    account.write_rollout()
    account.synthesize("cdk.out")


def a_program(account: Account) -> None:
    """A rollout file and a program, and nothing deployed."""
    account.write_rollout()
    shutil.copy(ROOT / "examples/hello-trainium/train.py", account.folder)
    keep_in_git(account)


def two_apps(account: Account) -> None:
    """A platform's cluster is deployed, and the jobs of the example name its resources."""
    account.write_rollout(jobs=[])
    account.seed()
    account.deploy()


def an_image(account: Account) -> None:
    """The image of a job is in its repository."""
    account.seed()


STATES: Sequence[tuple[Callable[[Account], None], str]] = (
    (
        nothing,
        """
        README.md how-to/install.md tutorials/first-cluster.md evidence/live-checks.md how-to/choose-a-file-system.md
        """,
    ),
    (a_block, "index.md how-to/see-the-plan.md"),
    (templates, "localaws/README.md reference/check.md how-to/check-with-others.md"),
    (an_order, "how-to/bake-an-ami.md concepts/images.md"),
    (an_order, "how-to/buy-a-block.md"),
    (an_order, "how-to/wait-for-capacity.md"),
    (an_exported_ledger, "how-to/rehearsal.md"),
    (a_block, "runbook/extension.md"),
    (an_order_for_production, "concepts/regions.md"),
    (two_waves, "reference/preflight.md how-to/raise-quotas.md how-to/deploy-from-ci.md concepts/rollout.md"),
    (two_waves, "reference/plan.md"),
    (two_buckets, "how-to/export.md"),
    (a_program, "how-to/test-on-this-machine.md"),
    (a_program, "reference/local-aws.md"),
    (an_organization, "reference/capacity-security.md how-to/sagemaker.md"),
    (two_apps, "how-to/use-a-cluster-from-another-app.md reference/cost.md"),
    (an_image, "tutorials/first-block.md"),
    (
        a_deployed_cluster,
        """
        how-to/share-a-queue.md how-to/compile-before-the-block.md how-to/open-a-shell.md how-to/watch-a-run.md how-to/advice.md how-to/report.md
        how-to/dashboard.md runbook/block-ends.md runbook/job-runnable.md runbook/job-failed.md concepts/capacity-lifecycle.md runbook/node-broken.md
        runbook/efa-slow.md runbook/loss-differs.md how-to/run-a-program.md how-to/submit-with-other-tools.md how-to/resume-a-job.md how-to/replace-a-sick-node.md reference/jobs.md gallery/examples.md
        runbook/node-refused.md runbook/destroy-fails.md
        """,
    ),
    (a_model_with_an_fft, "how-to/check-before-porting.md"),
    (a_bucket_as_a_folder, "how-to/mount-a-bucket.md"),
    (a_deployed_cluster, "how-to/tear-down.md concepts/storage.md runbook/billed.md"),
)
"""States, and pages that are read one after the other in an account of this state."""

READ_ALWAYS = {
    "how-to/see-the-plan.md",
    "how-to/buy-a-block.md",
    "how-to/test-on-this-machine.md",
    "how-to/wait-for-capacity.md",
}
"""Pages that `make test` reads with those of the same account."""


# Between the commands of a page


def bake_nodes(account: Account) -> None:
    assert account.run("ami", "bake", "nodes", "rollout.yaml") == 0


def deploy_example_jobs(account: Account) -> None:
    """Deploy the jobs of an example for the queue of the cluster."""
    app = account.folder / "my-jobs/app.py"
    placeholder = "arn:aws:batch:us-east-2:123456789012:job-queue/train"
    text = app.read_text()
    assert placeholder in text
    app.write_text(text.replace(placeholder, account.queue_arn()))
    account.deploy("python3 my-jobs/app.py")


def deploy_sagemaker_queue(account: Account) -> None:
    account.deploy("python3 examples/sagemaker-queue/app.py")


_OWN_PROGRAM = "import time; print('step 1', flush=True); time.sleep(600)"


def name_ledger(account: Account) -> None:
    """Write the table that the deployment of the ledger printed into the project."""
    (stack,) = account.client("cloudformation").describe_stacks(StackName="Capacity")["Stacks"]
    (table,) = [one["OutputValue"] for one in stack["Outputs"] if one["OutputKey"] == "LedgerTableName"]
    path = account.folder / "my-cluster/cdk.json"
    project = json.loads(path.read_text())
    project["context"]["ledger"] = {"table": table, "region": REGION}
    path.write_text(json.dumps(project))


def let_payment_clear(account: Account) -> None:
    account.local.clock.advance(timedelta(hours=13))


def start_the_block(account: Account) -> None:
    """Move the clock to the start of the block that was bought, in which the job runs."""
    account.run_jobs()
    blocks = account.client("ec2").describe_capacity_reservations()["CapacityReservations"]
    (start,) = [block["StartDate"] for block in blocks if block["State"] == "scheduled"]
    account.local.clock.advance(start + timedelta(minutes=1) - account.local.clock.now())
    eventually(lambda: bool(account.job_ids("RUNNING", "FAILED", name="pretrain")))
    eventually(lambda: "step 1" in account.type("jobs", "logs", "pretrain")[1])


def name_order_and_job(account: Account) -> None:
    """Name an order and the job of a tutorial in the rollout file of its project."""
    (block,) = [block for block in code_blocks("yaml") if block.page == "tutorials/first-block.md"]
    path = account.folder / "my-cluster/rollout.yaml"
    rollout = yaml.safe_load(path.read_text())
    (job,) = yaml.safe_load(block.text)["jobs"]
    job |= {"launcher": "raw", "command": ["python3", "-c", _OWN_PROGRAM]}  # the image has no other here
    del job["gates"]
    rollout["waves"][0]["clusters"][0] |= {"capacity": {"order": "december"}, "jobs": [job]}
    path.write_text(yaml.safe_dump(rollout, sort_keys=False))


def report_figures(account: Account) -> None:
    """Report the speed of both candidates of a bake-off."""
    for candidate in ("trn2", "p5"):
        path = f"BakeOff/BakeOff/{candidate}"
        figure = {
            "MetricName": "tokens_per_second",
            "Dimensions": [{"Name": CANDIDATE_DIMENSION, "Value": path}],
            "Value": 400_000,
        }
        account.client("cloudwatch").put_metric_data(Namespace=BAKE_OFF_NAMESPACE, MetricData=[figure])


def write_tests(account: Account) -> None:
    """Write the tests that the page of the local AWS shows, beside the assembly that they deploy."""
    (tests,) = [
        block
        for block in code_blocks("python")
        if block.page == "localaws/README.md" and "def test_" in block.text
    ]
    (account.folder / "test_stacks.py").write_text(tests.text)


def save_assembly(account: Account) -> None:
    account.synthesize("saved")


BEFORE: Mapping[str, Mapping[str, Callable[[Account], object]]] = {
    "how-to/buy-a-block.md": {"capacity verify": Account.run_in_block},
    "concepts/regions.md": {"capacity resolve": Account.buy},
    "concepts/rollout.md": {"--resume": Account.fail_rollout, "--restart": Account.fail_rollout},
    "how-to/advice.md": {"--cluster": Account.report_metric},
    "how-to/dashboard.md": {"--picture run.html": Account.report_metric},
    "how-to/rehearsal.md": {"capacity buy": Account.approve},
    "how-to/run-a-program.md": {"--nodes 4": Account.end_jobs},
    "how-to/sagemaker.md": {"submit.py": deploy_sagemaker_queue},
    "how-to/use-a-cluster-from-another-app.md": {"jobs submit": deploy_example_jobs},
    "how-to/watch-a-run.md": {"dashboard": Account.report_metric},
    "localaws/README.md": {"pip install": write_tests},
    "reference/cost.md": {"bake-off": report_figures},
    "reference/plan.md": {"--against saved": save_assembly},
    "runbook/billed.md": {"capacity history": Account.buy},
    "runbook/block-ends.md": {"status": Account.end_gates},
    "runbook/destroy-fails.md": {"destroy": Account.end_all_jobs, "--delete-data": Account.deploy},
    "runbook/efa-slow.md": {"advise": Account.report_metric},
    "runbook/node-refused.md": {"ami resolve": bake_nodes},
    "tutorials/first-block.md": {
        "ami bake": name_ledger,
        "cost": name_order_and_job,
        "capacity reconcile": let_payment_clear,
        "jobs why": start_the_block,
    },
}
"""What happens before a command of a page that contains these words."""


# Reading a page


NAMES = {
    "ACCOUNT-OR-OU": "123456789012",
    "CLUSTER": "quickstart",
    "CODE": "L-64569A79",
    "ORDER": "december",
    "ROLLOUT": "rollout.yaml",
    "STACK": "quickstart-us-east-2-Cluster",
    "TABLE": TABLE,
    "VALUE": "1536",
}
"""What readers write in the place of a word."""

IDS: Mapping[str, Callable[[Account], str]] = {
    "DEFINITION_ARN": Account.definition_arn,
    "ENVIRONMENT": Account.environment_name,
    "JOB": Account.job,
    "NODE": Account.node,
    "PERMISSION": Account.permission,
    "QUEUE_ARN": Account.queue_arn,
    "TOKEN": Account.token,
    "fs-0123456789abcdef0": Account.file_system_id,
    "p-EXAMPLE": Account.policy,
    "sg-0123456789abcdef0": lambda account: account.network_id("SecurityGroup"),
    "subnet-0123456789abcdef0": lambda account: account.network_id("Subnet"),
    "vpc-0123456789abcdef0": lambda account: account.network_id("Vpc"),
}
"""What readers look up in their account when they run a command with this word."""

OTHER_IDS: Mapping[str, Mapping[str, Callable[[Account], str]]] = {
    "how-to/check-before-porting.md": {"JOB": Account.failed_job},
    "runbook/job-runnable.md": {"JOB": Account.waiting_job},
}
"""What they look up for a page instead."""

WRITTEN_ON = date(2026, 11, 23)
"""Later dates in the pages' commands are to come, so they move with today."""

INTERRUPTED = 130
ENDLESS = {"--follow", "--watch"}
"""Options of commands that people end with Ctrl-C."""


def filled(text: str) -> str:
    """Return a text of a page with the names of the account, and with dates that are to come."""

    def moved(day: re.Match[str]) -> str:
        shown = date.fromisoformat(day[0])
        return str(shown + (date.today() - WRITTEN_ON) * (shown > WRITTEN_ON))  # noqa: DTZ011 - of days

    text = re.sub(r"\b2\d{3}-\d\d-\d\d\b(?!T)", moved, text)
    return re.sub(rf"\b({'|'.join(NAMES)})\b", lambda word: NAMES[word[0]], text)


class Reading:
    """A page whose commands run in an account."""

    def __init__(self, page: str, account: Account) -> None:
        self.page = page
        self.account = account
        self.ids: dict[str, str] = {}
        """What was looked up for a word."""
        self.not_run = {shlex.join(shlex.split(filled(shown))): shown for shown in NOT_RUN.get(page, {})}
        """Commands that have not failed yet as they are expected to, with how the page shows them."""
        programs: Mapping[str, Program] = {
            **dict.fromkeys(("ultracluster", ".venv/bin/ultracluster"), lambda words: main(list(words))),
            "aws": AwsCli(account.local),
            "cdk": account.cdk,
            "python3": python,
            "cfn-lint": partial(on_path, "cfn-lint"),
            **dict.fromkeys(("checkov", "docker", "make", "pip", ".venv/bin/pip", "uv"), lambda _: 127),
        }
        self.shell = PageShell(
            account.folder,
            {name: partial(self.call, name, program) for name, program in programs.items()},
            dict(account.environment),
        )

    def call(self, name: str, program: Program, words: Sequence[str]) -> int:
        """Run a command, and return 0 if it ends as expected."""
        command = shlex.join([name, *words])
        for part, action in BEFORE.get(self.page, {}).items():
            if part in command:
                action(self.account)
        look_ups = {**IDS, **OTHER_IDS.get(self.page, {})}
        for word in look_ups.keys() & set(words) - self.ids.keys():
            self.ids[word] = look_ups[word](self.account)
        code = program([self.ids.get(word, word) for word in words])
        if command in self.not_run:
            assert code, f"{command} runs: take it out of not_run.yaml"
            del self.not_run[command]
            return 0
        return 0 if code == INTERRUPTED and ENDLESS & set(words) else code

    def run(self, block: Block) -> None:
        """Run the commands of a block, and compare their output with what it shows; or write the rollout file that it shows."""
        if block.language == "yaml":
            self.account.rollout.write_text(block.text)
            return
        # Pages show tables as they are when piped; all other output has to fit a small terminal.
        self.shell.environment["COLUMNS"] = "160" if block.shows_output else "80"
        for command, shown in block.steps:
            code, output = self.shell.run(filled(command))
            assert code == 0, (block.name, self.shell.calls[-1:], output[-3000:])
            expected = filled(shown)
            for word, value in self.ids.items():
                expected = expected.replace(word, value)
            assert is_shown(output, expected), (block.name, command, output)


@cache
def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page that run here: commands, and whole rollout files for the commands after them."""
    return [
        block
        for block in code_blocks("bash", "console", "yaml")
        if block.page == page
        and not (block.shows_output and block.in_tutorial)
        and not (block.language == "yaml" and not block.text.startswith("version:"))
    ]


@pytest.fixture
def account(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account(local_aws, tmp_path, cache=tmp_path.parent / "assemblies")
    account.replace_surroundings(monkeypatch)
    yield account
    local_aws.run_jobs(None)


@pytest.mark.parametrize(
    ("state", "pages"),
    [
        pytest.param(*row, id=last, marks=() if last in READ_ALWAYS else pytest.mark.deep)
        for row in STATES
        for last in row[1].split()[-1:]
    ],
)
def test_every_command_runs(account: Account, state: Callable[[Account], None], pages: str) -> None:
    state(account)
    for page in pages.split():
        reading = Reading(page, account)
        for block in blocks_of(page):
            reading.run(block)
        assert not reading.not_run, f"not_run.yaml lists commands that {page} does not show"


def test_every_page_with_commands_is_read() -> None:
    read = [page for _, pages in STATES for page in pages.split()]
    with_commands = {
        block.page
        for block in code_blocks("bash", "console")
        if not (block.shows_output and block.in_tutorial)
    }
    assert sorted(read) == sorted(with_commands)
    assert NOT_RUN.keys() | BEFORE.keys() <= set(read)
