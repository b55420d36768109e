"""Running the rules, leaving some out, and never failing on what a template may hold."""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracluster_checks import Source, check_templates
from ultracluster_spec.findings import FindingsError

BUCKET = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete", "UpdateReplacePolicy": "Retain"}


def source(*, metadata: Any = None, **resources: Any) -> Source:
    bucket = BUCKET | ({} if metadata is None else {"Metadata": metadata})
    return Source(name="it.yaml", body={"Resources": {"Bucket": bucket, **resources}})


def codes(template: Source, **skip: str) -> set[str]:
    return {finding.code for finding in check_templates([template], skip=skip).findings}


def test_a_rule_is_left_out_everywhere_with_a_reason() -> None:
    report = check_templates([source(Other=BUCKET)], skip={"UC5201": "copies of what another account keeps"})

    assert "UC5201" not in {finding.code for finding in report.findings}
    assert [(each.finding.path, each.reason) for each in report.left_out] == [
        ("Bucket.DeletionPolicy", "copies of what another account keeps"),
        ("Other.DeletionPolicy", "copies of what another account keeps"),
    ]


def test_a_rule_is_left_out_at_one_resource_by_its_metadata() -> None:
    template = source(metadata={"ultracluster": {"skip": {"UC5201": "scratch"}}}, Other=BUCKET)
    report = check_templates([template])

    assert [each.finding.path for each in report.left_out] == ["Bucket.DeletionPolicy"]
    assert [finding.path for finding in report.findings if finding.code == "UC5201"] == [
        "Other.DeletionPolicy"
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [("UC4020", "we know better"), ("UC6409", "x"), ("UC0000", "x"), ("UC7010", "x"), ("UC5201", " ")],
)
def test_what_may_not_be_left_out_is_refused(code: str, reason: str) -> None:
    with pytest.raises(FindingsError, match=f"UC9509: {code}"):
        check_templates([source()], skip={code: reason})


@pytest.mark.parametrize(
    "skip",
    [
        {"UC6425": "we need it"},
        {"UC5201": ""},
        {"UC5201": {"Ref": "Why"}},
        {"UC1234": "x"},
        ["UC5201"],
        "UC5201",
    ],
)
def test_metadata_that_leaves_nothing_out_is_a_finding(skip: Any) -> None:
    found = codes(source(metadata={"ultracluster": {"skip": skip}}))

    assert {"UC9509", "UC5201"} <= found


def test_a_credential_is_found_even_if_metadata_suppresses_it() -> None:
    skip = {"ultracluster": {"skip": {"UC6409": "only a test"}}}
    variables = {"Environment": {"Variables": {"DB_PASSWORD": "correct horse"}}}
    function = {"Type": "AWS::Lambda::Function", "Properties": variables, "Metadata": skip}

    assert {"UC6409", "UC9509"} <= codes(source(Function=function))


def test_one_problem_is_said_once(foreign: dict[str, Source]) -> None:
    body = copy.deepcopy(dict(foreign["batch-efa"].body))
    body["Resources"]["Second"] = body["Resources"]["ComputeEnvironment"]
    body["Resources"]["NodeTemplate"]["Properties"]["LaunchTemplateData"]["MetadataOptions"] = {}
    found = [
        finding
        for finding in check_templates([Source(name="", body=body)]).findings
        if finding.code == "UC4207"
    ]

    assert len(found) == 1


def test_items_of_one_list_with_the_same_problem_are_one_finding(foreign: dict[str, Source]) -> None:
    body = copy.deepcopy(dict(foreign["block-nodes"].body))
    for item in body["Resources"]["NodeTemplate"]["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]:
        item["InterfaceType"] = "efa_only"
    found = [
        str(each) for each in check_templates([Source(name="", body=body)]).findings if each.code == "UC3207"
    ]

    assert len(found) == 1
    assert "(and 15 more like it)" in found[0]


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1.5, "", "x", "${", "/33", "::/0", [], {}, [[]], [None], {"Ref": "Vpc"}, {"Ref": None},
    {"Fn::Sub": ["${x}", {"x": {"Ref": "Nobody"}}]}, {"Fn::GetAtt": ["NodeTemplate", "Arn"]}, {"Fn::If": []},
    {"Fn::ImportValue": {"Ref": "AWS::StackName"}}, {"": 1}, {"Fn::Join": ["", [{"Ref": "Queue"}, "/"]]}, "\ud800",
)  # fmt: skip


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_nothing_that_a_template_holds_makes_a_rule_fail(
    foreign: dict[str, Source], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(foreign)))
    body = copy.deepcopy(dict(foreign[name].body))
    for _ in range(data.draw(st.integers(1, 4))):
        holder, keys = body, list(body)
        while True:
            key = data.draw(st.sampled_from(keys))
            inner = holder[key]
            keys = (
                list(inner)
                if isinstance(inner, dict)
                else list(range(len(inner)))
                if isinstance(inner, list)
                else []
            )
            if not keys or data.draw(st.integers(0, 5)) == 0:
                break
            holder = inner
        holder[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))

    for finding in check_templates([Source(name="it", body=body, region="us-east-2")]).findings:
        assert str(finding)
