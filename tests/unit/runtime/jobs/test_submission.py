"""Arguments of SubmitJob, validated against botocore's model, and refused submissions."""

from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE
from ultracluster_runtime.jobs.submission import submission
from ultracluster_spec.findings import FindingsError

LAUNCHER = ["python3", "/run/ultracluster/launch", "torchrun"]
DEFINITION: dict[str, Any] = {
    "jobDefinitionArn": "arn:aws:batch:us-east-2:123456789012:job-definition/Pretrain:1",
    "nodeProperties": {
        "numNodes": 4,
        "mainNode": 0,
        "nodeRangeProperties": [
            {"targetNodes": "0:", "container": {"image": "x", "command": [*LAUNCHER, "train.py"]}}
        ],
    },
}
FIXED: dict[str, Any] = {
    **DEFINITION,
    "nodeProperties": {**DEFINITION["nodeProperties"], "nodeRangeProperties": [{"targetNodes": "0:3"}]},
}
ONE_CONTAINER: dict[str, Any] = {
    "jobDefinitionArn": DEFINITION["jobDefinitionArn"],
    "containerProperties": {"image": "x", "command": ["evaluate.py"]},
}


def submit(definition: dict[str, Any] = DEFINITION, **options: Any) -> dict[str, Any]:
    arguments = submission(
        **{
            "name": "pretrain",
            "queue": "training",
            "definition": definition,
            "fair_share": True,
            "most_nodes": 4,
            **options,
        }
    )
    model = botocore.session.get_session().get_service_model("batch").operation_model("SubmitJob")
    report = ParamValidator().validate(arguments, model.input_shape)
    assert not report.has_errors(), report.generate_report()
    return arguments


def test_submission_uses_the_definition_and_the_required_share() -> None:
    assert submit() == {
        "jobName": "pretrain",
        "jobQueue": "training",
        "jobDefinition": DEFINITION["jobDefinitionArn"],
        "shareIdentifier": DEFAULT_SHARE,
        # Without one from somewhere AWS Batch refuses the job: nextflow-io/nextflow#3505.
        "schedulingPriorityOverride": 0,
    }


def test_the_priority_of_the_definition_is_left_to_it() -> None:
    assert "schedulingPriorityOverride" not in submit(DEFINITION | {"schedulingPriority": 0})


def test_queue_without_fair_share_policy_gets_neither_share_nor_priority() -> None:
    assert not {"shareIdentifier", "schedulingPriorityOverride"} & submit(fair_share=False).keys()


@pytest.mark.parametrize(
    ("definition", "options"),
    [(DEFINITION, {"priority": 0}), (DEFINITION | {"schedulingPriority": 0}, {})],
)
def test_refuses_a_priority_on_a_queue_without_fair_share_policy(
    definition: dict[str, Any], options: dict[str, Any]
) -> None:
    with pytest.raises(FindingsError, match="UC6204"):
        submit(definition, fair_share=False, **options)


def test_node_count_alone_needs_no_container_overrides() -> None:
    assert submit(nodes=2)["nodeOverrides"] == {"numNodes": 2}


def test_overrides_name_the_range_of_the_definition_and_keep_the_launcher() -> None:
    overrides = submit(environment={"B": "2", "A": "1"}, command=["other.py", "--fast", "two words"])[
        "nodeOverrides"
    ]

    assert overrides == {
        "nodePropertyOverrides": [
            {
                "targetNodes": "0:",
                "containerOverrides": {
                    "environment": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                    "command": [*LAUNCHER, "other.py", "--fast", "base64:dHdvIHdvcmRz"],
                },
            }
        ]
    }


def test_single_container_job_gets_container_overrides() -> None:
    arguments = submit(ONE_CONTAINER, command=["other.py"])

    assert arguments["containerOverrides"] == {"command": ["other.py"]}
    assert "nodeOverrides" not in arguments


def test_priority_and_timeout_are_those_of_the_run() -> None:
    arguments = submit(priority=9_999, timeout_seconds=60)

    assert arguments["schedulingPriorityOverride"] == 9_999
    assert arguments["timeout"] == {"attemptDurationSeconds": 60}
    assert submit(priority=0)["schedulingPriorityOverride"] == 0


def test_command_override_keeps_the_launcher_of_a_precompile_job() -> None:
    precompile = {
        **ONE_CONTAINER,
        "containerProperties": {"command": ["neuron_parallel_compile", *LAUNCHER, "train.py"]},
    }
    assert submit(precompile, command=["other.py"])["containerOverrides"] == {
        "command": ["neuron_parallel_compile", *LAUNCHER, "other.py"]
    }


def test_job_depends_on_the_named_jobs() -> None:
    assert submit(after=["a", "b"])["dependsOn"] == [{"jobId": "a"}, {"jobId": "b"}]
    assert len(submit(after=[str(number) for number in range(20)])["dependsOn"]) == 20
    assert "dependsOn" not in submit()


def test_an_array_has_the_size_of_its_definition_or_of_the_run() -> None:
    array = {**ONE_CONTAINER, "tags": {"ultracluster:array-size": "8"}}
    assert submit(array)["arrayProperties"] == {"size": 8}
    assert submit(array, array_size=10_000)["arrayProperties"] == {"size": 10_000}
    assert submit(ONE_CONTAINER, array_size=2)["arrayProperties"] == {"size": 2}
    assert "arrayProperties" not in submit(ONE_CONTAINER)


@pytest.mark.parametrize(
    ("definition", "options", "code"),
    [
        (ONE_CONTAINER, {"array_size": 1}, "UC6111"),
        (ONE_CONTAINER, {"array_size": 10_001}, "UC6111"),
        (DEFINITION, {"array_size": 2}, "UC6111"),
        (DEFINITION, {"after": [str(number) for number in range(21)]}, "UC6113"),
        (DEFINITION, {"resume": -1}, "UC6117"),
        (DEFINITION, {"resume": 101}, "UC6117"),
        (ONE_CONTAINER, {"resume": 1, "array_size": 2}, "UC6117"),
        (DEFINITION, {"nodes": 5}, "UC6101"),
        (DEFINITION, {"nodes": 0}, "UC6101"),
        (FIXED, {"nodes": 2}, "UC6204"),
        (DEFINITION, {"command": ["for Ref::steps steps"]}, "UC6143"),
        (ONE_CONTAINER, {"nodes": 2}, "UC6204"),
        (DEFINITION, {"share": "team-a"}, "UC6204"),
        (DEFINITION, {"share": "a" * 256}, "UC6204"),
        (DEFINITION, {"share": "a", "fair_share": False}, "UC6204"),
        (DEFINITION, {"priority": -1}, "UC6204"),
        (DEFINITION, {"priority": 10_000}, "UC6204"),
        (DEFINITION, {"timeout_seconds": 59}, "UC6204"),
        (DEFINITION, {"name": "a name"}, "UC6204"),
        (DEFINITION, {"name": "a" * 129}, "UC6204"),
        (DEFINITION, {"environment": {"AWS_BATCH_JOB_ID": "1"}}, "UC6109"),
        (DEFINITION, {"environment": {"UC_PROCESSES_PER_NODE": "1"}}, "UC6109"),
        (DEFINITION, {"environment": {"1A": "1"}}, "UC6109"),
        (DEFINITION, {"environment": {"NEURON_CC_FLAGS": "--cache_dir=/x"}}, "UC6010"),
    ],
)
def test_refuses_submissions_that_batch_would_reject_or_never_start(
    definition: dict[str, Any], options: dict[str, Any], code: str
) -> None:
    with pytest.raises(FindingsError) as caught:
        submit(definition, **options)

    assert [finding.code for finding in caught.value.findings] == [code]


@pytest.mark.parametrize("definition", [DEFINITION, ONE_CONTAINER])
def test_overrides_are_as_long_as_ecs_takes_and_no_longer(definition: dict[str, Any]) -> None:
    around = len('{"containerOverrides":[{"environment":[{"name":"TEXT","value":""}]}]}')
    longest = {"TEXT": "x" * (8_192 - around)}

    assert submit(definition, environment=longest)
    with pytest.raises(FindingsError, match=r"UC6211: COMMAND: got 8,193 characters.*up to 8,192"):
        submit(definition, environment={"TEXT": longest["TEXT"] + "x"})


def test_the_resumes_of_the_run_are_a_tag_of_the_job() -> None:
    assert "tags" not in submit()
    assert submit(resume=0)["tags"] == {"ultracluster:resume": "0"}
    assert submit(resume=100)["tags"] == {"ultracluster:resume": "100"}
    assert submit(ONE_CONTAINER, resume=0, array_size=2)["tags"] == {"ultracluster:resume": "0"}


def test_accepts_boundary_values() -> None:
    submit(nodes=4, share="a" * 255, name="a" * 128, environment={"NEURON_CC_FLAGS": "--lnc=2"})
    submit(nodes=400, most_nodes=None)


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(FindingsError) as caught:
        submit(nodes=9, share="-", priority=-1, environment={"AWS_BATCH_X": "1"})

    assert sorted(finding.code for finding in caught.value.findings) == [
        "UC6101",
        "UC6109",
        "UC6204",
        "UC6204",
    ]
