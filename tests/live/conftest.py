"""Live tests ask a real account, and run with `make live` alone."""

import pytest
from tests.live.asking import LATER, ask, obstacle, remove_what_no_test_needs
from tests.live.journal import SHOWN
from tests.live.plan import questions
from tests.live.question import Question, ordered
from tests.live.session import LIVE_RUN, BudgetError, NotYetError, Run


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what asks a question."""
    if _question(item):
        item.add_marker("live")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order live tests by tier, phase and cost, each after those that it needs."""
    order = {question.id: position for position, question in enumerate(ordered(questions().values()))}
    places = [place for place, item in enumerate(items) if _question(item)]
    found = sorted((items[place] for place in places), key=lambda item: order[_asked(item).id])
    for place, item in zip(places, found, strict=True):
        items[place] = item


def _question(item: pytest.Item) -> Question | None:
    return getattr(getattr(item, "function", None), "live_question", None)


def _asked(item: pytest.Item) -> Question:
    question = _question(item)
    assert question is not None
    return question


@pytest.fixture
def live(request: pytest.FixtureRequest) -> Run:
    """The run that asks; the hook below gives the test what it may ask of it."""
    run = request.config.stash.get(LIVE_RUN, None)
    if run is None:
        pytest.skip("run with: make live UNTIL=0 ACCOUNT=...")
    return run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Ask the question of a test."""
    question = _question(pyfuncitem)
    if question is None:
        return None
    run: Run = pyfuncitem.funcargs["live"]
    if why := obstacle(run, question):
        pytest.skip(why)
    try:
        ask(run, question, pyfuncitem.obj)
    except NotYetError as error:
        pytest.skip(str(error))
    except BudgetError as error:
        pytest.exit(str(error), returncode=1)
    finally:
        later = [each for item in pyfuncitem.session.items if (each := _question(item))]
        waiting = [each for each in later if each.id != question.id and not _is_settled(run, each)]
        remove_what_no_test_needs(run, waiting, questions())
    return True


def _is_settled(run: Run, question: Question) -> bool:
    """Return whether a question will not be asked in this run, so that it needs nothing to stand."""
    return run.journal.verdict(question.id) not in {"", LATER} or any(
        run.journal.verdict(need) not in {"", LATER, SHOWN} for need in question.needs
    )
