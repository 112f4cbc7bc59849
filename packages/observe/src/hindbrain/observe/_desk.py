"""What every worker of one run works with, and where its results are put."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from hindbrain.contracts import Tool
from hindbrain.observe._agent import Agent, Ending, Log, Sleep, Tally, answer_tokens, schema_tokens
from hindbrain.observe._chunk import RequestPlan, plan_request
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._encode import append_of
from hindbrain.observe._errors import BranchMovedError
from hindbrain.observe._events import Event
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._ports import Ledger, ModelSource, WorkerModel
from hindbrain.observe._prompts import instructions
from hindbrain.observe._run import ConsolidationRun, Stage, StageFailure
from hindbrain.observe._sight import memory_room
from hindbrain.observe._tokens import tokens

Due = Callable[[LedgerIndex, Stage], bool]
OnStage = Callable[[Stage | None], None]


@define(kw_only=True)
class Desk:
    """One run: its surroundings, which never change, and what it has done so far."""

    ledger: Ledger
    source: ModelSource
    config: ObserveConfig
    clock: Callable[[], int]
    run_id: str
    forced: bool
    window: int | None
    zone: str
    halvings: int
    due: Due
    on_stage: OnStage
    log: Log
    sleep: Sleep
    observed: int = 0
    reflected: int = 0
    superseded: int = 0
    dropped: int = 0
    reclaimed: int = 0
    empty: bool = False
    unavailable: bool = False
    moved: bool = False
    failures: list[StageFailure] = field(factory=list)
    tallies: dict[Stage, Tally] = field(factory=dict)
    _worker: WorkerModel | None = None
    _began: str | None = None

    async def look(self) -> LedgerIndex:
        """The branch as it stands now, which must be the one that the run began on.

        Raises:
            BranchMovedError: it is another one.
        """
        index = await self.ledger.index()
        if self._began is not None and index.place(self._began) is None:
            raise BranchMovedError
        if self._began is None and index.entries:
            self._began = index.entries[-1].id
        return index

    def wanted(self, index: LedgerIndex, stage: Stage) -> bool:
        """Whether the observer or the reflector should work."""
        return index.gate_on and (self.forced or self.due(index, stage))

    async def worker(self) -> WorkerModel | None:
        """The model of this run, found once."""
        if self._worker is None and not self.unavailable:
            self._worker = await self.source.resolve()
            self.unavailable = self._worker is None
        return self._worker

    def plan(self, worker: WorkerModel, stage: Stage, tool: Tool, *, chunk: int, frame: str) -> RequestPlan:
        """Divide the stage's request. A tenth of the window stays free: tokens are estimated, and code holds more.

        Raises:
            BudgetError: the model's window is too small for any.
        """
        return plan_request(
            window=None if worker.window is None else worker.window * 9 // 10,
            system=tokens(instructions(stage.value)) + schema_tokens(tool) + tokens(frame),
            output=answer_tokens(self.config.agent_max_tokens, worker.max_tokens),
            memory=memory_room(self.config, self.window),
            chunk=chunk,
        )

    def agent(self, worker: WorkerModel, stage: Stage, output: int) -> Agent:
        """The loop of a stage."""
        return Agent(
            worker=worker,
            max_turns=self.config.agent_max_turns,
            max_tokens=output,
            tally=self.tallies.setdefault(stage, Tally()),
            sleep=self.sleep,
            log=self.log,
        )

    async def append(self, event: Event, *, expect_ancestor: str) -> None:
        """Append what the event says, where it says something.

        Raises:
            BranchMovedError: the conversation stands on another branch.
        """
        if (made := append_of(event)) is not None:
            await self.ledger.append(made, expect_ancestor=expect_ancestor)

    def ended(self, stage: Stage, ending: Ending, *, gained: bool, refused: int = 0) -> None:
        """Note how a stage's loop ended, where that is a failure.

        One that was only cut short failed where it gained nothing, and so did one whose every proposal was refused.
        """
        if ending.failed or (not ending.clean and not gained):
            self.fail(stage, ending.code or "", ending.why)
        elif ending.clean and not gained and refused:
            self.fail(stage, "worker-refused", "every record that the model proposed was refused")

    def fail(self, stage: Stage, code: str, why: str) -> None:
        """Note that a stage failed."""
        text = f"The {stage.value} did not finish: {why}."
        self.failures.append(StageFailure(stage=stage, code=code, text=text))
        self.log("stage.failed", {"stage": stage.value, "code": code})

    def result(self) -> ConsolidationRun:
        """What the run did."""
        return ConsolidationRun(
            run_id=self.run_id,
            observed=self.observed,
            reflected=self.reflected,
            superseded=self.superseded,
            dropped=self.dropped,
            reclaimed=self.reclaimed,
            empty=self.empty,
            unavailable=self.unavailable,
            moved=self.moved,
            failures=tuple(self.failures),
            calls={stage: tally.calls for stage, tally in self.tallies.items()},
            cost_usd=sum(tally.cost_usd for tally in self.tallies.values()),
            input_tokens=sum(tally.input_tokens for tally in self.tallies.values()),
            output_tokens=sum(tally.output_tokens for tally in self.tallies.values()),
        )
