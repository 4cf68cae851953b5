"""Microsoft Agent Framework: calls of gated tools wait until a human approved them.

    from placet.agent_framework import Gated

    agent = Agent(client, tools=[refund], middleware=[Gated("refund")])

The model reads a rejection in place of the result, and that its call was changed where it was. The session is that of the run, where
it has one; else `Gate(session=...)`, else one for this process.
"""

from __future__ import annotations

import collections.abc
import concurrent.futures
import functools
import inspect
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware, FunctionTool
from pydantic import BaseModel

from .gate import Call, Gate, GateError, HoldOptions, InputError, Refused, _awaited, _is_iterator, _is_json_of, _listed, _unrun

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Gated(FunctionMiddleware):
    """Gates the named tools; without names every tool of the agent. `options` are those of `Gate.hold`."""

    def __init__(self, *tools: str, gate: Optional[Gate] = None, **options: Unpack[HoldOptions]) -> None:
        self._names, self._options = tools, options
        self._gate = gate or Gate(agent="agent-framework")

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        name = context.function.name
        if self._names and name not in self._names:
            return await call_next()
        async with AsyncExitStack() as stack:
            session = context.session.session_id if context.session else None
            given = context.arguments.model_dump(exclude_unset=True) if isinstance(context.arguments, BaseModel) else context.arguments
            hold = self._gate._hold_for(name, dict(given), context.metadata.get("call_id"), session, self._options)
            try:
                call = await stack.enter_async_context(hold)
            except (InputError, Refused, GateError) as error:
                context.result = error.told
                return
            if call.edited:
                context.arguments = _edited(call, context)
            _run_to_its_end(context.function)
            await call_next()
            parts = context.result if isinstance(context.result, list) else None
            call.result = _text(parts) if parts else context.result
            if call.edited and parts:
                context.result = [Content.from_text(call.told("")[:-1]), *parts]  # parts are joined by line ends
            elif call.edited:
                context.result = call.told(call.result)


def _run_to_its_end(tool: FunctionTool) -> None:
    """Makes a tool run what its function returns. The framework makes text of an iterator that has not run."""
    func: Any = tool.func
    if func is None or hasattr(func, "_placet_ends"):
        return

    async def later(*args: Any, **kwargs: Any) -> Any:
        return _having_run(await _awaited(func(*args, **kwargs)))

    def now(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        if inspect.isawaitable(result) or isinstance(result, (collections.abc.AsyncIterator, concurrent.futures.Future)):
            return _awaited(result)  # the framework awaits it, on its own event loop
        return _having_run(_listed(result) if _is_iterator(result) else result)

    ended: Any = functools.wraps(func)(later if inspect.iscoroutinefunction(func) else now)
    ended._placet_ends = True
    tool.func = ended


def _having_run(result: Any) -> Any:
    why = _unrun(result)
    if why:
        raise RuntimeError(why)  # the framework says it to the model
    return result


def _edited(call: Call, context: FunctionInvocationContext) -> Any:
    """A reviewer's input, in which the framework's own validation changes nothing else."""
    mixed, model = call._mixed(), context.function.input_model
    if model is None:
        return mixed
    # The framework validates by alias, and what it has validated is by name.
    edited = model.model_validate(mixed, by_alias=True, by_name=True).model_dump(by_alias=True, exclude_unset=True)
    runs = model.model_validate(edited).model_dump(exclude_unset=True)
    for name, value in call.input.items():
        if value is mixed.get(name) and name in runs and not _is_json_of(call._approved[name], runs[name]):
            raise ValueError(f"the tool's own validation changes {name}, which nobody edited; approve the call without edits")
    return edited


def _text(parts: Any) -> Any:
    """The words of a result; with anything else in it, all of it."""
    if all(part.type == "text" for part in parts):
        return "".join(part.text for part in parts)
    return [part.to_dict() for part in parts]
