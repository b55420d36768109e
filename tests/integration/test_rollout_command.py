"""`ultracluster rollout --local` in two Regions and waves: a failed gate, kill -9 in a wave, and a rollback."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.app_project import write_project
from tests.processes import descendants, eventually, wait_until_gone

from ultracluster_local.instance.clients import Clients
from ultracluster_local.server.daemon import status

pytestmark = pytest.mark.slow

CANARY, PRETRAIN = "canary-us-east-1", "pretrain-us-east-2"
REGIONS = {CANARY: "us-east-1", PRETRAIN: "us-east-2"}
Events = dict[str, Counter[tuple[str, str]]]


@dataclass
class Project:
    """A project in a folder of its own, with a local AWS in the background."""

    folder: Path
    stderr: list[str] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        program = "import sys; from ultracluster_cli.main import main; sys.exit(main())"
        return [sys.executable, "-c", program, *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def client(self, service: str, region: str) -> Any:
        running = status(self.folder / ".ultracluster" / "local")
        assert running is not None
        return Clients(endpoint=running.endpoint, key=running.key).get(service, region)

    def events(self) -> Events:
        """How often each resource of each stack came to each status; stacks that are not there are left out."""
        found: Events = {}
        for cluster, region in REGIONS.items():
            cloudformation = self.client("cloudformation", region)
            for stack in (f"{cluster}-{part}" for part in ("Network", "Storage", "Cluster")):
                try:
                    events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
                except cloudformation.exceptions.ClientError:
                    continue
                found[stack] = Counter((one["LogicalResourceId"], one["ResourceStatus"]) for one in events)
        return found

    def alarm(self, state: str) -> None:
        """Move the alarms of the canary, which exist since its stacks do."""
        cloudwatch = self.client("cloudwatch", REGIONS[CANARY])
        for alarm in cloudwatch.describe_alarms()["MetricAlarms"]:
            cloudwatch.set_alarm_state(
                AlarmName=alarm["AlarmName"], StateValue=state, StateReason="set by a test"
            )


@dataclass
class Story:
    """What was seen at each turn."""

    project: Project
    canary_failed: subprocess.CompletedProcess[str]
    after_canary: Events
    refused: subprocess.CompletedProcess[str]
    killed: list[int]
    at_death: Events
    resumed: dict[str, Any]
    said: str
    at_the_end: Events


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Project]:
    root = request.config.rootpath
    folder = tmp_path_factory.mktemp("rollout")
    # Several clusters of a wave: tests/unit/cli/rollout.
    waves, third, _ = (
        (root / "stacks/rollouts/two-waves.yaml").read_text().partition("      - name: finetune\n")
    )
    assert third
    write_project(folder, waves)
    project = Project(folder)
    up = project.run("local", "up")
    assert up.returncode == 0, up.stderr
    try:
        yield project
    finally:
        project.run("local", "down")


@pytest.fixture(scope="module")
def story(project: Project) -> Story:
    """The canary's alarm is heard; repaired, resumed, killed in the second wave, and resumed again."""
    with project.start("rollout", "--local", "--bake", "0.05") as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(f"{CANARY}: alarms started"):
                project.alarm("ALARM")
        stdout = process.communicate()[0]
    canary_failed = subprocess.CompletedProcess(process.args, process.returncode, stdout, "".join(said))
    after_canary = project.events()
    refused = project.run("rollout", "--local")
    project.alarm("OK")

    with project.start("rollout", "--local", "--resume") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(f"{PRETRAIN}: deploy started"):
                break
        else:
            pytest.fail("production was never deployed")
        # In the middle: the first stack of a cluster is being made, the others are not there yet.
        eventually(lambda: f"{PRETRAIN}-Network" in project.events(), pause=0.02)
        children = descendants(process.pid)
        process.kill()
    at_death = project.events()

    resumed = project.run("rollout", "--local", "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    return Story(
        project=project,
        canary_failed=canary_failed,
        after_canary=after_canary,
        refused=refused,
        killed=children,
        at_death=at_death,
        resumed=json.loads(resumed.stdout),
        said=resumed.stderr,
        at_the_end=project.events(),
    )


def test_a_canary_with_an_alarm_stops_the_rollout_and_production_is_untouched(story: Story) -> None:
    assert story.canary_failed.returncode == 4
    assert f"error: {CANARY}: alarms: alarm" in story.canary_failed.stderr
    assert "set by a test" in story.canary_failed.stderr
    assert "Not started: production." in story.canary_failed.stderr
    assert set(story.after_canary) == {f"{CANARY}-{part}" for part in ("Network", "Storage", "Cluster")}


def test_another_rollout_is_rejected_until_this_one_is_resumed_or_restarted(story: Story) -> None:
    assert story.refused.returncode == 2
    assert "Continue with --resume" in story.refused.stderr


def test_kill_9_in_the_middle_of_a_wave_leaves_it_unfinished(story: Story) -> None:
    assert f"{PRETRAIN}-Network" in story.at_death
    assert f"{PRETRAIN}-Cluster" not in story.at_death


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds child processes in /proc")
def test_kill_9_leaves_no_process(story: Story) -> None:
    assert len(story.killed) >= 2
    assert wait_until_gone(story.killed) == []


def test_resuming_finishes_every_cluster(story: Story) -> None:
    assert story.resumed["ended"] == "finished"
    assert story.resumed["calls"]["cloudformation:DescribeStacks"] >= 1
    assert [(one["cluster"], one["state"]) for one in story.resumed["clusters"]] == [
        (CANARY, "done"),
        (PRETRAIN, "done"),
    ]
    assert f"{PRETRAIN}: deploy restarted after an interruption" in story.said


def test_resuming_repeats_nothing(story: Story) -> None:
    assert CANARY not in story.said
    assert len(story.at_the_end) == 6
    for stack, counts in story.at_the_end.items():
        assert counts[stack, "CREATE_COMPLETE"] == 1, stack
        assert {status for _, status in counts if not status.startswith("CREATE_")} <= {
            "REVIEW_IN_PROGRESS"
        }, stack
        repeated = {one: n for one, n in counts.items() if one[1] == "CREATE_COMPLETE" and n != 1}
        assert repeated == {}, stack
    for part in ("Network", "Storage", "Cluster"):
        name = f"{CANARY}-{part}"
        assert story.at_the_end[name] == story.after_canary[name]


@pytest.mark.deep
def test_a_wave_rolls_back_to_its_earlier_deployment(story: Story) -> None:
    project = story.project
    cloudformation = project.client("cloudformation", REGIONS[CANARY])

    def templates() -> list[Any]:
        return [
            cloudformation.get_template(StackName=f"{CANARY}-{part}")["TemplateBody"]
            for part in ("Network", "Storage", "Cluster")
        ]

    before = templates()
    rollout = project.folder / "rollout.yaml"
    rollout.write_text(rollout.read_text().replace('[train.py, --steps, "10"]', '[train.py, --steps, "11"]'))
    forward = project.run("rollout", "--local", "--bake", "0", "--wave", "canary")
    assert forward.returncode == 0, forward.stderr
    between = templates()

    back = project.run("rollout", "--local", "--rollback", "canary", "--json")

    assert back.returncode == 0, back.stderr
    assert between != before
    assert templates() == before
    assert [one["cluster"] for one in json.loads(back.stdout)["clusters"]] == [CANARY]
