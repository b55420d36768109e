"""Live tests: asked of a real account by `make live`, and of the local AWS by every other run of pytest.

On the local AWS each test runs twice: as it is, and with the fault of `tests.live.stand_ins` that must make it fail for its
own reason.
"""

import contextlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from moto.ec2.responses import EC2Response
from tests.live.asking import LATER, NOT_SHOWN, ask, obstacle, remove_what_no_test_needs
from tests.live.journal import SHOWN
from tests.live.plan import questions
from tests.live.question import Question, cost_in_order, ordered
from tests.live.session import LIVE_RUN, BudgetError, NotYetError, Run, Where
from tests.live.stand_ins import StandIn

from ultracluster_local import LocalAws

HOLDS, FAILS = "holds", "fails"
RUN_ID, SPARE_RUN_ID = "261122ab12", "261122fa11"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what `make live` runs; the same tests are those of the local AWS otherwise."""
    if _question(item):
        item.add_marker("live" if _is_live(item.config) else "deploy")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on the local AWS as it is, and with its fault."""
    question = getattr(metafunc.function, "live_question", None)
    if question and not _is_live(metafunc.config):
        ways = (
            [] if question.local else [FAILS, HOLDS] if question.stands or question.buys else [HOLDS, FAILS]
        )
        metafunc.parametrize("live", ways, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order live tests by tier, phase and cost, each after those that it needs."""
    places = [place for place, item in enumerate(items) if _question(item)]
    if any("NOTSET" in items[place].name for place in places):
        items[:] = [item for item in items if not (_question(item) and "NOTSET" in item.name)]
        places = [place for place, item in enumerate(items) if _question(item)]
    order = {question.id: position for position, question in enumerate(ordered(questions().values()))}
    for file in {_file(items[place], config) for place in places}:
        mine = [place for place in places if _file(items[place], config) == file]
        found = sorted((items[place] for place in mine), key=lambda item: order[_question(item).id])
        for place, item in zip(mine, found, strict=True):
            items[place] = item


def _file(item: pytest.Item, config: pytest.Config) -> str:
    return "" if _is_live(config) else str(item.path)


def _question(item: pytest.Item) -> Any:
    return getattr(getattr(item, "function", None), "live_question", None)


def _is_live(config: pytest.Config) -> bool:
    return config.option.markexpr == "live"


@pytest.fixture
def live(request: pytest.FixtureRequest) -> Run:
    """The run that asks; the hook below gives the test what it may ask of it."""
    if _is_live(request.config):
        run = request.config.stash.get(LIVE_RUN, None)
        if run is None:
            pytest.skip("run with: make live UNTIL=0 ACCOUNT=...")
        return run
    return request.getfixturevalue("local_run")


SPENT: list[tuple[str, int]] = []
"""Purchases and launches that reached the local AWS, with the number of instances of a launch."""


@pytest.fixture(scope="module")
def wire(local_aws_server: LocalAws) -> Iterator[None]:  # noqa: ARG001 - its calls exist once it runs
    """Count purchases and launches where they arrive, whoever sends them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("purchase_capacity_block", "purchase_capacity_block_extension", "run_instances"):
            answer = getattr(EC2Response, name)

            def count(response: Any, name: str = name, answer: Any = answer) -> Any:
                given = response._get_params()
                if str(given.get("DryRun", "")).lower() != "true":
                    SPENT.append((name, int(given.get("MaxCount", 1))))
                return answer(response)

            patch.setattr(EC2Response, name, count)
        yield


@pytest.fixture(scope="module")
def local_run(
    local_aws_server: LocalAws,
    tmp_path_factory: pytest.TempPathFactory,
    wire: None,  # noqa: ARG001 - counts what this run spends
) -> Iterator[Run]:
    """A run on the local AWS, which the tests of a file share as those of a real run do."""
    local_aws_server.reset()
    # Blocks begin at 11:30. At a fixed hour the bill comes before the net removes what is left, whenever the tests run.
    now = local_aws_server.clock.now()
    local_aws_server.clock.set(now.replace(hour=20, minute=0) + timedelta(days=now.hour >= 20))
    run = _run(RUN_ID, local_aws_server, tmp_path_factory)
    yield run
    run.journal.close()
    local_aws_server.reset()


@pytest.fixture
def spare_run(local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Another run beside it, for the fault of a test that leaves something standing or buys."""
    run = _run(SPARE_RUN_ID, local_aws_server, tmp_path_factory)
    yield run
    run.remove()
    run.journal.close()


def _run(run_id: str, local: LocalAws, folders: pytest.TempPathFactory) -> Run:
    where = Where(endpoint=local.endpoint, key=local.key, sleep=lambda _: None, now=local.clock.now)
    for region in (*where.regions, "us-east-2"):
        local.client("ec2", region)
    worst = {question.id: usd for question, usd in cost_in_order(ordered(questions().values()))}
    run = Run(run_id, where, folders.mktemp("live"), budget=Decimal(10**6), worst=worst)
    run.stand_in = StandIn(run, local)
    return run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Ask the question of a test."""
    question = _question(pyfuncitem)
    if question is None:
        return None
    run: Run = pyfuncitem.funcargs["live"]
    if _is_live(pyfuncitem.config):
        if why := obstacle(run, question):
            pytest.skip(why)
        part = run.stand_in.plays(question.id, fails=False) if run.stand_in else contextlib.nullcontext()
        try:
            with part:
                ask(run, question, pyfuncitem.obj)
        except NotYetError as error:
            pytest.skip(str(error))
        except BudgetError as error:
            pytest.exit(str(error), returncode=1)
        finally:
            later = [_question(item) for item in pyfuncitem.session.items]
            waiting = [
                each for each in later if each and each.id != question.id and not obstacle_for_good(run, each)
            ]
            remove_what_no_test_needs(run, waiting, questions())
        return True
    fails = pyfuncitem.callspec.params["live"] == FAILS
    if fails and question.stands:
        run = pyfuncitem._request.getfixturevalue("spare_run")
    _show_needs(run, question)
    if question.phase == "after":  # a real run has removed all that stood when the block ended
        assert run.remove() == []
    with run.stand_in.plays(question.id, fails=fails) as reason:
        if reason is None:
            SPENT.clear()
            ask(run, question, pyfuncitem.obj)
            bought = sum(name != "run_instances" for name, _ in SPENT)
            launched = sum(count for name, count in SPENT if name == "run_instances")
            assert (bought, launched) == (question.buys, question.nodes), (
                f"the plan says otherwise than the wire: {SPENT}"
            )
        else:
            with pytest.raises(Exception, match=reason):
                ask(run, question, pyfuncitem.obj)
            assert run.journal.verdict(question.id) == NOT_SHOWN
    return True


def obstacle_for_good(run: Run, question: Question) -> bool:
    """Return whether a question will not be asked in this run, so that it needs nothing to stand."""
    return run.journal.verdict(question.id) not in {"", LATER} or any(
        run.journal.verdict(need) not in {"", LATER, SHOWN} for need in question.needs
    )


def _show_needs(run: Run, question: Question) -> None:
    for need in question.needs:
        verdicts = {event["verdict"] for event in run.journal.of("end", need)}
        if verdicts and SHOWN not in verdicts:
            pytest.fail(f"{question.id} needs {need}, which was not shown")
        if not verdicts:
            needed = questions()[need]
            _show_needs(run, needed)
            with run.stand_in.plays(need, fails=False):
                ask(run, needed, _test(needed))


def _test(question: Question) -> Any:
    return getattr(__import__(question.module, fromlist=["_"]), question.test)


@pytest.fixture
def calls_of_tier(local_run: Run) -> Callable[[int], set[str]]:
    """The IAM actions of all calls of a tier, whatever of it was asked before."""

    def ask_rest(tier: int) -> set[str]:
        for question in ordered(questions().values()):
            asked = any(event["verdict"] == SHOWN for event in local_run.journal.of("end", question.id))
            if question.test and question.tier == tier and not question.local and not asked:
                _show_needs(local_run, question)
                with local_run.stand_in.plays(question.id, fails=False):
                    ask(local_run, question, _test(question))
        if tier:
            assert local_run.clean() == []
        return set(local_run.wire.sent)

    return ask_rest
