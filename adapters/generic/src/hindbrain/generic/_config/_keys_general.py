"""The settings of where memory lives and whose it is. None is safe but a timeout within bounds."""

from __future__ import annotations

from hindbrain.generic._config._banks import BANKS, MODE
from hindbrain.generic._config._form import (
    BANK,
    BANK_IDS,
    FACTS_BANK,
    FLAG,
    NAME,
    NAMES,
    PATH,
    REFERENCE,
    TABLE,
    URL,
    choice,
    millis,
    whole,
)
from hindbrain.generic._config._key import Key
from hindbrain.memory import MemoryConfig, ObservationConfig, ScopeConfig

_MEMORY = MemoryConfig()
_SCOPE = ScopeConfig()
_OBSERVATIONS = ObservationConfig()

GENERAL = (
    Key(
        path="enabled",
        form=FLAG,
        about="Whether memory is recalled and retained automatically.",
        default=_MEMORY.enabled,
        env=("PI_HINDSIGHT_ENABLED",),
    ),
    Key(
        path="backend",
        form=choice("local", "hindsight"),
        about="Where memory lives: banks on this machine, or a Hindsight server. The other is never contacted.",
        default="local",
    ),
    Key(path="dataDir", form=PATH, about="The folder of the banks on this machine.", default=None),
    Key(
        path="hindsight.baseUrl",
        form=URL,
        about="The address of the Hindsight server.",
        default="http://localhost:8888",
        env=("HINDSIGHT_BASE_URL", "HINDSIGHT_API_URL"),
    ),
    Key(
        path="hindsight.apiKeyRef",
        form=REFERENCE,
        about="Where the server's key is kept. The key itself stands in no settings file.",
        default=None,
    ),
    Key(
        path="hindsight.timeoutMs",
        form=millis(1000, 60000),
        about="The longest that one request to the server may take.",
        default=12000,
        project_safe=True,
        project_bounds=(1000, 30_000),
    ),
    Key(
        path="embedder.baseUrl",
        form=URL,
        about="An OpenAI-compatible address that makes embeddings for the banks on this machine.",
        default=None,
    ),
    Key(path="embedder.model", form=NAME, about="The embedding model asked for there.", default=None),
    Key(path="embedder.apiKeyRef", form=REFERENCE, about="Where the embedder's key is kept.", default=None),
    Key(
        path="facts.bankId",
        form=FACTS_BANK,
        about="The bank of confirmed facts; turns are never retained there. It is never guessed.",
        default=None,
        waits=True,
    ),
    Key(
        path="facts.recallMaxTokens",
        form=whole(128, 4096, "a whole number from 128 to 4096"),
        about="The most tokens recalled of confirmed facts; those of turns have recall.maxTokens.",
        default=2048,
        waits=True,
    ),
)

BANK_KEYS = (
    Key(
        path="banks",
        form=BANKS,
        about="All banks as a list, in place of the two slots: id, role, enabled, access and retain.mode of each.",
        default=None,
    ),
    Key(
        path="banks.project.bankId",
        form=BANK,
        about="The bank of the project; without it the project's identity gives one.",
        default=None,
        env=("HINDSIGHT_BANK_ID", "PI_HINDSIGHT_PROJECT_BANK_ID"),
    ),
    Key(path="banks.project.enabled", form=FLAG, about="Whether the project's bank is used.", default=True),
    Key(
        path="banks.project.retain.mode",
        form=MODE,
        about="When a turn is retained in the project's bank: always, unless it is said otherwise.",
        default=None,
    ),
    Key(
        path="banks.user.bankId",
        form=BANK,
        about="The bank that knows the person, in every project; without it there is none.",
        default=None,
        env=("PI_HINDSIGHT_GLOBAL_BANK_ID", "PI_HINDSIGHT_USER_BANK_ID"),
    ),
    Key(path="banks.user.enabled", form=FLAG, about="Whether the user's bank is used.", default=True),
    Key(
        path="banks.user.retain.mode",
        form=MODE,
        about="When a turn is retained in the user's bank: explicit-only, unless it is said otherwise.",
        default=None,
    ),
)

BANK_ALIASES = tuple(
    Key(
        path=path,
        form=choice("explicit-only"),
        about="An older name for banks.user.retain.mode, which takes this one value only.",
        default=None,
        alias_of="banks.user.retain.mode",
    )
    for path in ("globalRetain.mode", "userRetain.mode")
)

SCOPE = (
    Key(
        path="scope.projectId",
        form=NAME,
        about="A name that pins the project, whatever its folder or remote is called.",
        default=_SCOPE.project_id,
    ),
    Key(
        path="scope.projectIdStrategy",
        form=choice("remote", "basename"),
        about="What a project is named after where no name is pinned.",
        default=_SCOPE.project_id_strategy,
    ),
    Key(
        path="scope.userScopeTags",
        form=NAMES,
        about="The tags by which the user's bank is asked; an empty list asks for everything in it.",
        default=_SCOPE.user_scope_tags,
    ),
    Key(
        path="scope.legacyTags",
        form=FLAG,
        about="Whether the project's tag of the TypeScript extension is recalled too.",
        default=_SCOPE.legacy_tags,
    ),
    Key(
        path="scope.shareHosts",
        form=FLAG,
        about="Whether what one host retained for the user is recalled in the others.",
        default=_SCOPE.share_hosts,
    ),
    Key(
        path="scope.unscopedRecallBanks",
        form=BANK_IDS,
        about="Banks that are recalled without a tag filter.",
        default=_SCOPE.unscoped_recall_banks,
    ),
    Key(
        path="scope.includeSharedObservations",
        form=FLAG,
        about="Whether the project bank's observations without any tag are recalled too.",
        default=_SCOPE.include_shared_observations,
    ),
    Key(
        path="observations.enabled",
        form=FLAG,
        about="Whether what is retained names the tag sets that observations are made for.",
        default=_OBSERVATIONS.enabled,
    ),
    Key(
        path="observations.scopes",
        form=TABLE,
        about="The tag sets observations are made for; a tag may hold {projectId}, {repoKey}, {sessionId}, {cwdHash},"
        " {projectBankId} or {bankId}. Without it: the host's harness tag and the project's tag, a set each.",
        default=_OBSERVATIONS.scopes,
    ),
)
