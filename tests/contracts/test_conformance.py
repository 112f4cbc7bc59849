"""The in-memory backend keeps every rule, and every rule catches a backend that breaks it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from hindbrain.contracts import (
    BackendError,
    BackendRequestError,
    Deleted,
    Fact,
    FactType,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    TagAnd,
    TagLeaf,
    TagNot,
    TagOr,
    TagsMatch,
    UpdateMode,
    check_bank,
    check_document_id,
    check_operation_id,
)
from hindbrain.contracts.conformance import CASES, Case, ConformanceFailure, Context
from hindbrain.contracts.in_memory import InMemoryBackend

BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_in_memory_backend_keeps_the_rule(case: Case) -> None:
    await case.check(Context(InMemoryBackend(), deadline=5))


class Broken(InMemoryBackend):
    """A backend that is right but for what a subclass overrides."""


class IgnoresOneMode(Broken):
    mode: TagsMatch

    def altered(self, query: RecallQuery) -> RecallQuery:
        match query.filter:
            case (TagLeaf(_, mode),) if mode is self.mode:
                return evolve(query, tags=None, tag_groups=())
        return query

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, self.altered(query))


class IgnoresAny(IgnoresOneMode):
    mode = TagsMatch.ANY


class IgnoresAll(IgnoresOneMode):
    mode = TagsMatch.ALL


class IgnoresAnyStrict(IgnoresOneMode):
    mode = TagsMatch.ANY_STRICT


class IgnoresAllStrict(IgnoresOneMode):
    mode = TagsMatch.ALL_STRICT


class IgnoresExact(IgnoresOneMode):
    mode = TagsMatch.EXACT


class LetsNoUntaggedThrough(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        strict = {TagsMatch.ANY: TagsMatch.ANY_STRICT, TagsMatch.ALL: TagsMatch.ALL_STRICT}
        match = strict.get(query.tags_match, query.tags_match)
        return await super().recall(bank, evolve(query, tags_match=match))


class TakesOrForAnd(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        groups = tuple(TagOr(g.groups) if isinstance(g, TagAnd) else g for g in query.tag_groups)
        return await super().recall(bank, evolve(query, tag_groups=groups))


class DropsNot(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        groups = tuple(g.group if isinstance(g, TagNot) else g for g in query.tag_groups)
        return await super().recall(bank, evolve(query, tag_groups=groups))


class ReadsTheFirstGroupOnly(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, evolve(query, tag_groups=query.tag_groups[:1]))


class FoldsTagCase(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        tags = None if query.tags is None else [tag.lower() for tag in query.tags]
        return await super().recall(bank, evolve(query, tags=tags))


class ChangesFacts(Broken):
    """Spoils each fact that is recalled."""

    def spoil(self, fact: Fact) -> Fact:
        raise NotImplementedError

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return evolve(recall, facts=tuple(self.spoil(fact) for fact in recall.facts))


class LosesATag(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, tags=fact.tags[1:])


class LosesMetadata(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, metadata={})


class ShiftsTimes(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, mentioned_at=fact.mentioned_at and fact.mentioned_at[:19] + "Z")


class LosesTimes(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, mentioned_at=None)


class LosesContext(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, context=None)


class WritesAscii(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, text=fact.text.encode("ascii", "replace").decode())


class QuotesDocumentIds(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, document_id=fact.document_id and fact.document_id.replace("/", "%2F"))


class ScoresUpsideDown(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, scores=Scores(final=1 - (fact.scores.final or 0)))


class NamesNoSource(ChangesFacts):
    def spoil(self, fact: Fact) -> Fact:
        return evolve(fact, source_fact_ids=())


class ReturnsFactsForObservations(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, evolve(query, types=(FactType.WORLD,)))


class HasNoObservations(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return evolve(recall, facts=tuple(f for f in recall.facts if f.type is not FactType.OBSERVATION))


class BringsSourcesUnasked(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, evolve(query, source_fact_tokens=4096))


class BringsNoSources(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return evolve(await super().recall(bank, query), source_facts={})


class RanksWorstFirst(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return evolve(recall, facts=recall.facts[::-1])


class ShufflesEachTime(Broken):
    turn = 0

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        self.turn += 1
        return evolve(recall, facts=recall.facts[:: 1 if self.turn % 2 else -1])


class IgnoresTheBound(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, evolve(query, max_tokens=10_000))


class CutsToNothing(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return recall if query.max_tokens > 20 else Recall()


class LeaksOtherBanks(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        homes = sorted(self._banks, key=lambda name: name != bank)
        recalls = [await super(LeaksOtherBanks, self).recall(home, query) for home in homes]
        return Recall(facts=tuple(fact for recall in recalls for fact in recall.facts))


class KnowsNoUnknownBank(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if check_bank(bank) not in self._banks:
            raise BackendError("There is no such bank.")
        return await super().recall(bank, query)


class InventsFacts(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return recall if recall.facts else Recall(facts=(Fact(id="1", text="Something is always remembered."),))


class FailsOnSyntax(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if any(sign in query.text for sign in "\"'()^"):
            raise RuntimeError("fts5: syntax error")
        return await super().recall(bank, query)


class FailsOnLongQuestions(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if len(query.text) > 1000:
            raise BackendError("Too long.")
        return await super().recall(bank, query)


class FailsOnPunctuation(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if not query.askable:
            raise BackendError("There is no word in it.")
        return await super().recall(bank, query)


class FindsNoShortWords(Broken):
    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        return await super().recall(bank, query) if len(query.text) > 2 else Recall()


class RunsAnIdTwice(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if bank in self._banks:
            self._banks[bank].operations.pop(operation_id.lower(), None)
        return await super().retain(bank, item, operation_id=operation_id)


class KnowsLowerCaseOnly(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if operation_id != operation_id.lower():
            await super().retain(bank, item, operation_id=operation_id[:-4].lower() + "ffff")
        return await super().retain(bank, item, operation_id=operation_id)


class AcceptsForeignIds(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self._owners.pop(operation_id, None)
        return await super().retain(bank, item, operation_id=operation_id)


class HidesConflicts(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        try:
            return await super().retain(bank, item, operation_id=operation_id)
        except BackendRequestError:
            raise
        except BackendError as error:
            raise BackendError("No.") from error


class StoresEachPost(Broken):
    posts = 0

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.posts += 1
        again = evolve(item, document_id=f"{item.document_id}-{self.posts}")
        if self._owners.get(operation_id) == bank:
            self._banks[bank].operations.pop(operation_id, None)
        return await super().retain(bank, again, operation_id=operation_id)


class KeepsOneDocumentOnly(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        kept = self._banks.get(bank)
        if kept is not None and item.document_id not in kept.documents:
            kept.documents.clear()
        return await super().retain(bank, item, operation_id=operation_id)


class ChangesItems(Broken):
    """Spoils each item that is retained."""

    def spoil(self, item: RetainItem) -> RetainItem:
        raise NotImplementedError

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        return await super().retain(bank, self.spoil(item), operation_id=operation_id)


class AppendsAlways(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, update_mode=UpdateMode.APPEND)


class ReplacesAlways(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, update_mode=UpdateMode.REPLACE)


class ReadsOnlyTheStart(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, content=item.content[:3000])


class DropsStructure(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, content="{}") if item.content.startswith("[") else item


class KeepsTagsOnAppend(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        known = self._banks[bank].documents.get(item.document_id) if bank in self._banks else None
        retained = await super().retain(bank, item, operation_id=operation_id)
        if known is not None and item.update_mode is UpdateMode.APPEND:
            document = self._banks[bank].documents[item.document_id]
            document.facts = known.facts + document.facts[len(known.facts) :]
        return retained


class RefusesAppendToNothing(Broken):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if item.update_mode is UpdateMode.APPEND and bank not in self._banks:
            raise BackendError("There is nothing to append to.")
        return await super().retain(bank, item, operation_id=operation_id)


class FailsWithoutFacts(Broken):
    async def status(self, bank: str, operation_id: str) -> Operation:
        operation = await super().status(bank, operation_id)
        return operation if operation.facts != 0 else evolve(operation, status=OperationStatus.FAILED)


class NeverCompletes(Broken):
    async def status(self, bank: str, operation_id: str) -> Operation:
        return evolve(await super().status(bank, operation_id), status=OperationStatus.PENDING)


class RaisesForUnknownOperations(Broken):
    async def status(self, bank: str, operation_id: str) -> Operation:
        operation = await super().status(bank, operation_id)
        if operation.status is OperationStatus.NOT_FOUND:
            raise BackendError("There is no such operation.")
        return operation


class ForgetsDelete(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        check_bank(bank)
        return Deleted(found=document_id in self._banks[bank].documents if bank in self._banks else False, facts=1)


class FindsWhatIsGone(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        return evolve(await super().delete(bank, document_id), found=True)


class CountsNoFacts(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        return evolve(await super().delete(bank, document_id), facts=0)


class KeepsObservations(Broken):
    """Deletes the facts and keeps what was drawn from them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Fact] = []

    async def delete(self, bank: str, document_id: str) -> Deleted:
        if check_bank(bank) in self._banks:
            self.kept.extend(self._banks[bank].observations())
        return await super().delete(bank, document_id)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        if query.types is not None and FactType.OBSERVATION not in query.types:
            return recall
        return evolve(recall, facts=(*recall.facts, *self.kept))


class DeletesTheBank(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        deleted = await super().delete(bank, document_id)
        if bank in self._banks:
            self._banks[bank].documents.clear()
        return deleted


class DeletesInEveryBank(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        for other in self._banks:
            await super().delete(other, document_id)
        return await super().delete(bank, document_id)


class NeverForgetsADeletion(Broken):
    def __init__(self) -> None:
        super().__init__()
        self.gone: set[str] = set()

    async def delete(self, bank: str, document_id: str) -> Deleted:
        self.gone.add(document_id)
        return await super().delete(bank, document_id)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        recall = await super().recall(bank, query)
        return Recall() if self.gone else recall


class ReopensAfterClose(Broken):
    async def close(self) -> None:
        """Do nothing."""


class ChecksNoIds(Broken):
    async def delete(self, bank: str, document_id: str) -> Deleted:
        try:
            check_document_id(document_id)
        except BackendRequestError:
            return Deleted(found=False)
        return await super().delete(bank, document_id)


class RunsTheSecondFirst(Broken):
    """Retains a document only when another retain, or a question, comes, and the other one first."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], Any]] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.waiting.append(lambda: super(RunsTheSecondFirst, self).retain(bank, item, operation_id=operation_id))
        return Retained(operation_id=check_operation_id(operation_id))

    async def status(self, bank: str, operation_id: str) -> Operation:
        while self.waiting:
            await self.waiting.pop()()
        return await super().status(bank, operation_id)


class NotesBeforeStoring(Broken):
    """Writes down that it is done before it is."""

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        done = Retained(operation_id=operation_id)
        if self._owners.setdefault(operation_id, bank) == bank and operation_id in self.noted:
            return done
        self.noted.add(operation_id)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return await super().retain(bank, item, operation_id=operation_id)

    def __init__(self) -> None:
        super().__init__()
        self.noted: set[str] = set()


class DropsScopes(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, observation_scopes=None)


class SharesEverything(ChangesItems):
    def spoil(self, item: RetainItem) -> RetainItem:
        return evolve(item, observation_scopes="shared")


class KeepsReplacedObservations(KeepsObservations):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if bank in self._banks:
            self.kept.extend(self._banks[bank].observations())
        return await super().retain(bank, item, operation_id=operation_id)


CAUGHT: list[tuple[type[Broken], str]] = [
    (IgnoresAny, "tags-any"),
    (IgnoresAll, "tags-all"),
    (IgnoresAnyStrict, "tags-any-strict"),
    (IgnoresAllStrict, "tags-all-strict"),
    (IgnoresExact, "tags-exact"),
    (LetsNoUntaggedThrough, "tags-any"),
    (LetsNoUntaggedThrough, "tags-all"),
    (TakesOrForAnd, "tag-groups-nest"),
    (DropsNot, "tag-groups-nest"),
    (ReadsTheFirstGroupOnly, "several-tag-groups-all-apply"),
    (FoldsTagCase, "tags-know-case"),
    (LosesATag, "tags-come-back-whole"),
    (LosesMetadata, "context-metadata-and-time-come-back"),
    (LosesContext, "context-metadata-and-time-come-back"),
    (ShiftsTimes, "context-metadata-and-time-come-back"),
    (LosesTimes, "context-metadata-and-time-come-back"),
    (WritesAscii, "unicode-comes-back-unharmed"),
    (QuotesDocumentIds, "document-ids-are-opaque"),
    (ScoresUpsideDown, "scores-do-not-increase"),
    (NamesNoSource, "source-facts-resolve-to-their-document"),
    (BringsNoSources, "source-facts-resolve-to-their-document"),
    (BringsSourcesUnasked, "source-facts-resolve-to-their-document"),
    (ReturnsFactsForObservations, "defaults-find-what-was-retained"),
    (ReturnsFactsForObservations, "types-are-a-filter"),
    (HasNoObservations, "defaults-find-what-was-retained"),
    (RanksWorstFirst, "more-of-the-question-ranks-first"),
    (RanksWorstFirst, "scores-do-not-increase"),
    (ShufflesEachTime, "the-same-question-gets-the-same-answer"),
    (IgnoresTheBound, "the-token-bound-limits-the-answer"),
    (CutsToNothing, "a-small-token-bound-still-answers"),
    (LeaksOtherBanks, "banks-do-not-see-each-other"),
    (KnowsNoUnknownBank, "unknown-bank-finds-nothing"),
    (InventsFacts, "unknown-bank-finds-nothing"),
    (InventsFacts, "a-question-without-a-word-finds-nothing"),
    (FailsOnSyntax, "query-syntax-is-plain-text"),
    (FailsOnLongQuestions, "a-long-question-is-safe"),
    (FailsOnPunctuation, "a-question-without-a-word-finds-nothing"),
    (FindsNoShortWords, "two-cjk-characters-find-their-text"),
    (RunsAnIdTwice, "same-id-does-nothing-new"),
    (KnowsLowerCaseOnly, "upper-case-id-is-the-same-id"),
    (AcceptsForeignIds, "id-of-another-bank-is-a-conflict"),
    (HidesConflicts, "id-of-another-bank-is-a-conflict"),
    (StoresEachPost, "parallel-posts-of-one-id-are-one-operation"),
    (KeepsOneDocumentOnly, "posts-at-once-all-complete"),
    (AppendsAlways, "replace-replaces"),
    (AppendsAlways, "same-text-again-changes-nothing"),
    (ReplacesAlways, "append-keeps-what-was-there"),
    (KeepsTagsOnAppend, "append-overwrites-tags-and-metadata"),
    (RefusesAppendToNothing, "append-to-nothing-creates-the-document"),
    (RunsTheSecondFirst, "retains-of-one-document-run-in-order"),
    (DropsStructure, "structured-turns-are-findable"),
    (ReadsOnlyTheStart, "the-end-of-a-long-text-is-findable"),
    (FailsWithoutFacts, "a-text-without-facts-completes"),
    (NeverCompletes, "retain-comes-to-completed"),
    (RaisesForUnknownOperations, "unknown-operation-is-not-found"),
    (ForgetsDelete, "delete-forgets-once"),
    (FindsWhatIsGone, "delete-forgets-once"),
    (FindsWhatIsGone, "delete-of-nothing-finds-nothing"),
    (CountsNoFacts, "delete-forgets-once"),
    (KeepsObservations, "delete-takes-its-observations"),
    (DeletesTheBank, "delete-leaves-the-rest"),
    (DeletesInEveryBank, "delete-leaves-the-rest"),
    (NeverForgetsADeletion, "a-deleted-document-can-come-again"),
    (ReopensAfterClose, "a-closed-backend-refuses"),
    (NotesBeforeStoring, "a-cancelled-retain-can-be-repeated"),
    (DropsScopes, "scopes-decide-the-tags-of-observations"),
    (SharesEverything, "scopes-decide-the-tags-of-observations"),
    (SharesEverything, "tags-any-strict"),
    (KeepsReplacedObservations, "replace-replaces"),
    (ChecksNoIds, "bad-ids-are-refused-first"),
]


@pytest.mark.parametrize(("broken", "name"), CAUGHT, ids=lambda value: getattr(value, "__name__", value))
async def test_a_broken_backend_is_caught_by_the_case_of_its_rule(broken: type[Broken], name: str) -> None:
    with pytest.raises((ConformanceFailure, BackendError, RuntimeError)):
        await BY_NAME[name].check(Context(broken(), deadline=0.2))


def test_every_rule_has_a_backend_that_breaks_it() -> None:
    assert {name for _, name in CAUGHT} == set(BY_NAME)
