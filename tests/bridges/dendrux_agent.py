"""An agent of dendrux that needs no network: what it is told to do stands in its input, and its model reads it from there.

The input is JSON: `{"turns": [[["buy", {"part": "bolt", "amount": 7}], ...], ...]}`, the calls of each turn. With `"ask": [question,
option, ...]` it asks that first; with `"hold": name` its model answers the next turn only when `release(name)` was called, or a
file of that name is there; with `"fail": text` its model fails there. Its last words are the results of its calls.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dendrux import Agent, tool
from dendrux.llm.base import LLMProvider
from dendrux.loops.react import ReActLoop
from dendrux.strategies.native import NativeToolCalling
from dendrux.types import AgentStep, Clarification, LLMResponse, Message, ProviderCapabilities, Role, ToolCall

#: Seconds for which a model holds at most.
LIMIT = 30.0

#: What ran, in order: the tool and its arguments.
ran: list[tuple[Any, ...]] = []
_released: set[str] = set()
_holding: set[str] = set()


def release(name: str) -> None:
    _released.add(name)


def holds(name: str) -> bool:
    """Whether a model was asked and waits for that."""
    return name in _holding


class Scripted(LLMProvider):
    capabilities = ProviderCapabilities(supports_native_tools=True, supports_tool_call_ids=True, supports_parallel_tool_calls=True)

    @property
    def model(self) -> str:
        return "scripted"

    async def complete(self, messages: list[Message], tools: Any = None, **_: Any) -> LLMResponse:
        script = json.loads(next(it.content for it in messages if it.role is Role.USER))
        done = sum(1 for it in messages if it.tool_calls)
        if done and "hold" in script:
            await self._hold(script["hold"])
        if done and "fail" in script:
            raise RuntimeError(script["fail"])
        answered = [it.content for it in messages if it.role is Role.USER][1:]
        if "ask" in script and not answered:
            return LLMResponse(text="ASK " + json.dumps(script["ask"]))
        turns: Sequence[Any] = script.get("turns", [])
        if done < len(turns):
            return LLMResponse(tool_calls=[ToolCall(name=name, params=params) for name, params in turns[done]])
        said = [it.content for it in messages if it.role is Role.TOOL]
        return LLMResponse(text=json.dumps(answered + said))

    async def _hold(self, name: str) -> None:
        _holding.add(name)
        deadline = time.monotonic() + LIMIT
        while name not in _released and not Path(name).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nobody released {name}")
            await asyncio.sleep(0.01)
        _holding.discard(name)


class Asking(NativeToolCalling):
    """What its model begins with ASK is a question to a human."""

    def parse_response(self, response: LLMResponse) -> AgentStep:
        if response.text and response.text.startswith("ASK "):
            question, *options = json.loads(response.text.removeprefix("ASK "))
            return AgentStep(reasoning=None, action=Clarification(question, options), raw_response=response.text)
        return super().parse_response(response)


class AskingLoop(ReActLoop):
    """The package's, with the strategy that asks: an agent has no other place for one."""

    async def run(self, **given: Any) -> Any:
        return await super().run(**{**given, "strategy": Asking()})


@tool()
async def buy(part: str, amount: int) -> str:
    """Orders parts."""
    ran.append(("buy", part, amount))
    return f"{amount} {part} ordered"


@tool()
async def scrap(machine: str) -> str:
    """Scraps a machine."""
    ran.append(("scrap", machine))
    return f"{machine} scrapped"


@tool()
async def stock(part: str) -> str:
    """How many there are; needs no approval."""
    ran.append(("stock", part))
    return f"12 {part}"


@tool(target="client")
async def sign(parcel: str) -> str:
    """What only the person at the door can do."""
    ran.append(("sign", parcel))
    return ""


def build_agent(database_url: str, name: str = "Storekeeper", **more: Any) -> Agent:
    return Agent(
        name=name,
        provider=Scripted(),
        prompt="You keep the store.",
        tools=[buy, scrap, stock, sign],
        require_approval=["buy", "scrap"],
        loop=AskingLoop(),
        database_url=database_url,
        **more,
    )
