"""What the stub model says: pure functions from an OpenAI-style request to an answer.

The server only needs a model that is *predictable*. So a sentence becomes a fact, a fact becomes an observation, and
two texts are as similar as the words they share.
"""

import hashlib
import json
import math
import re
from typing import Any

DIMENSIONS = 384
MIN_FACT_CHARS = 4

_EXTRACTION = "Extract facts from the following chunk"
_NEW_FACTS = "### New facts"
_OLD_OBSERVATIONS = "### Existing observations"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FACT_LINE = re.compile(rf"^\[({_UUID})\] (.+)$", re.MULTILINE)
_FACT_TIMES = re.compile(r" \((?:occurred_start|occurred_end|mentioned_at)=[^()]*\)$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - the CJK full stops are meant
_NAME = re.compile(r"\b[A-Z][\w-]+")
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_COMMON = frozenset({"a", "an", "and", "are", "as", "at", "by", "for", "in", "is", "it", "of", "on", "or", "the", "to"})


def embed(text: str) -> list[float]:
    """A unit vector of hashed words, parts of words at a third of their weight, and pairs of CJK characters.

    CJK text has no spaces, so its pairs are its words.
    """
    vector = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        if word in _COMMON:
            continue
        _add(vector, word, 1.0)
        for start in range(len(word) - 2):
            _add(vector, "#" + word[start : start + 3], 1 / 3)
        for run in _CJK.findall(word):
            for start in range(len(run) - 1):
                _add(vector, run[start : start + 2], 1.0)
    norm = math.sqrt(sum(value * value for value in vector))
    if norm == 0.0:
        return [1.0] + [0.0] * (DIMENSIONS - 1)
    return [value / norm for value in vector]


def _add(vector: list[float], feature: str, weight: float) -> None:
    digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
    sign = 1.0 if digest[0] & 1 else -1.0
    vector[int.from_bytes(digest[1:5], "big") % DIMENSIONS] += sign * weight


def extract_facts(prompt: str) -> dict[str, Any]:
    """One fact for each sentence that follows the prompt's ``Content:`` line; of a transcript, what was said in it."""
    content = prompt.partition("\nContent:\n")[2]
    sentences = (part.strip() for text in _said(content) for part in _SENTENCE_END.split(text))
    return {"facts": [_fact(sentence) for sentence in sentences if len(sentence) >= MIN_FACT_CHARS]}


def _said(content: str) -> list[str]:
    """The texts of user and assistant when ``content`` is a JSON list of messages, else ``content`` itself."""
    try:
        messages = json.loads(content)
    except ValueError:
        return [content]
    if not isinstance(messages, list) or not all(isinstance(each, dict) and "role" in each for each in messages):
        return [content]
    return [_text(message) for message in messages if message["role"] in {"user", "assistant"}]


def _fact(sentence: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("when", "where", "who", "why"), "N/A")
    return {
        "what": sentence,
        **unknown,
        "fact_kind": "conversation",
        "fact_type": "assistant" if re.match(r"I\b", sentence) else "world",
        "entities": list(dict.fromkeys(_NAME.findall(sentence)))[:5],
    }


def consolidate(prompt: str) -> dict[str, Any]:
    """One new observation for each new fact, in the fact's own words; nothing updated, nothing deleted."""
    facts = prompt.partition(_NEW_FACTS)[2].partition(_OLD_OBSERVATIONS)[0]
    creates = [
        {"text": _FACT_TIMES.sub("", text), "source_fact_ids": [fact_id], "reason": "one observation a fact"}
        for fact_id, text in _FACT_LINE.findall(facts)
    ]
    return {"creates": creates, "updates": [], "deletes": []}


def complete(request: dict[str, Any]) -> dict[str, Any]:
    """The assistant message for a chat request."""
    messages = request.get("messages", [])
    if request.get("tools"):
        return {"role": "assistant", "content": None, "tool_calls": [_tool_call(request, messages)]}
    return {"role": "assistant", "content": _text_answer(request, messages)}


def _text_answer(request: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    prompt = "\n".join(_text(message) for message in messages if message.get("role") == "user")
    if _EXTRACTION in prompt:
        return json.dumps(extract_facts(prompt))
    if _NEW_FACTS in prompt:
        return json.dumps(consolidate(prompt))
    if request.get("response_format"):
        # The remaining structured question: are these two observations the same? Never, so that none is lost.
        return json.dumps({"action": "keep", "text": "", "reason": "the stub merges nothing"})
    return "ok"


def _tool_call(request: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Reflect: look memories up once, then answer with what came back."""
    tools = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
    name = _chosen_tool(request.get("tool_choice"), tools, messages)
    known = tools.get(name, {}).get("parameters", {}).get("properties", {})
    arguments = _done_arguments(messages) if name == "done" else _lookup_arguments(messages)
    kept = {key: value for key, value in arguments.items() if not known or key in known}
    call_id = "call_" + hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12]
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(kept)}}


def _chosen_tool(choice: Any, tools: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    if isinstance(choice, dict):
        return str(choice["function"]["name"])
    looked_up = any(message.get("role") == "tool" for message in messages)
    preferred = "done" if looked_up else "recall"
    return preferred if preferred in tools else next(iter(tools))


def _lookup_arguments(messages: list[dict[str, Any]]) -> dict[str, Any]:
    questions = [_text(message) for message in messages if message.get("role") == "user"]
    return {"query": questions[-1][:300] if questions else "", "reason": "the stub looks once"}


def _done_arguments(messages: list[dict[str, Any]]) -> dict[str, Any]:
    found = "\n".join(_text(message) for message in messages if message.get("role") == "tool")
    ids = list(dict.fromkeys(re.findall(rf'"id":\s*"({_UUID})"', found)))[:20]
    texts = list(dict.fromkeys(re.findall(r'"text":\s*"([^"\\]{3,300})"', found)))[:10]
    answer = "The stub found: " + " ".join(texts) if texts else "The stub found nothing."
    section = {"heading": "Summary", "level": 2, "blocks": [answer]}
    return {"answer_found": bool(ids), "answer": answer, "document": {"sections": [section]}, "memory_ids": ids}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
