import pytest
from attrs import evolve

from hindbrain.contracts import Backend, BackendError, InvalidValueError, Recall, RecallQuery
from hindbrain.contracts.conformance import CASES, Case, ConformanceFailure, Context, Skip, fresh_bank, run
from hindbrain.contracts.in_memory import InMemoryBackend

NAME = "defaults-find-what-was-retained"
[DEFAULTS] = [case for case in CASES if case.name == NAME]


async def in_memory() -> Backend:
    return InMemoryBackend()


async def test_a_backend_that_keeps_every_rule_gets_a_report_without_failures() -> None:
    report = await run(in_memory)
    assert report.passed
    assert [result.case for result in report.results] == [case.name for case in CASES]
    assert str(report).splitlines()[0] == "passed  retain-comes-to-completed"


async def test_a_skip_leaves_its_case_out_and_names_the_recording() -> None:
    report = await run(in_memory, cases=[DEFAULTS], skips=[Skip(NAME, "a134", "The server draws none.")])
    assert str(report) == f"skipped {NAME}: The server draws none. (a134)"
    assert report.passed


async def test_a_skip_of_no_case_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="names of cases"):
        await run(in_memory, cases=[DEFAULTS], skips=[Skip("no-such-case", "a134", "Because.")])


@pytest.mark.parametrize("capture", ["", "a1", "g123", "A123", "a1234", "a123\n", "because"])
def test_a_skip_must_name_a_recording_of_the_server(capture: str) -> None:
    with pytest.raises(InvalidValueError, match="server recording"):
        Skip(NAME, capture, "Because.")


def test_a_skip_must_give_its_reason() -> None:
    with pytest.raises(InvalidValueError, match="a sentence"):
        Skip(NAME, "a134", " ")


class Raises(InMemoryBackend):
    error: Exception = BackendError("It is on fire.", next_step="Leave.")

    async def recall(self, bank: str, query: RecallQuery) -> Recall:  # noqa: ARG002 - the port's signature
        raise self.error


class Crashes(Raises):
    error = ZeroDivisionError("hunter2")


class GivesUp(Raises):
    error = TimeoutError("hunter2")


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        (Raises, "the backend raised 'backend': It is on fire. Leave."),
        (Crashes, "the backend raised ZeroDivisionError, which the port does not allow"),
        (GivesUp, "the backend raised TimeoutError, which the port does not allow"),
    ],
)
async def test_what_a_backend_raises_fails_its_case_and_not_the_run(kind: type[Raises], detail: str) -> None:
    async def make() -> Backend:
        return kind()

    report = await run(make, cases=[DEFAULTS])
    assert [(r.outcome, r.detail) for r in report.failures] == [("failed", detail)]
    assert not report.passed


async def test_a_broken_rule_is_reported_with_the_sentence_that_says_how() -> None:
    async def make() -> Backend:
        return WithoutIds()

    report = await run(make, cases=[DEFAULTS])
    assert [r.case for r in report.failures] == [NAME]
    assert str(report).startswith(f"failed  {NAME}: a default recall returned something else")


class WithoutIds(InMemoryBackend):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return evolve(recall, facts=tuple(evolve(fact, id="") for fact in recall.facts))


async def test_a_case_ends_at_its_deadline_and_says_what_it_waited_for() -> None:
    class Forgets(InMemoryBackend):
        async def recall(self, bank: str, query: RecallQuery) -> Recall:  # noqa: ARG002 - the port's signature
            return Recall()

    with pytest.raises(ConformanceFailure, match=r"not done within 0\.05 s, while waiting for a recall to find dawn"):
        await DEFAULTS.check(Context(Forgets(), deadline=0.05))


async def test_every_case_gets_a_backend_of_its_own_that_is_closed_afterwards() -> None:
    made: list[InMemoryBackend] = []

    async def make() -> Backend:
        made.append(InMemoryBackend())
        return made[-1]

    await run(make, cases=[DEFAULTS, DEFAULTS])
    assert len(made) == 2
    for backend in made:
        with pytest.raises(BackendError, match="closed"):
            await backend.recall("bank", RecallQuery(text="x"))


async def test_the_banks_are_the_callers_where_the_caller_names_them() -> None:
    asked: list[str] = []

    async def name() -> str:
        asked.append(f"mine-{len(asked)}")
        return asked[-1]

    report = await run(in_memory, cases=[DEFAULTS], new_bank=name)
    assert report.passed
    assert asked == ["mine-0"]


async def test_fresh_banks_differ() -> None:
    assert await fresh_bank() != await fresh_bank()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_has_a_name_of_its_own_and_says_its_rule_in_a_sentence(case: Case) -> None:
    assert [other.name for other in CASES].count(case.name) == 1
    assert case.summary.endswith(".")
    assert "\n" not in case.summary
