"""LangChain: calls of gated tools wait until a human approved them.

    from placet.langchain import Gated

    agent = create_agent(model, tools=[refund], middleware=[Gated("refund")])

The model reads a rejection in place of the result, and that its call was changed where it was. The session is the thread's id, which
is there with a checkpointer; else `Gate(session=...)`, else one for this process. A gated tool must not `interrupt()` itself. A generator,
an iterator or a coroutine that a tool returns runs to its end.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, Union

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from .gate import AlreadyRan, Call, Gate, GateError, HoldOptions, InputError, Refused, _awaited, _to_its_end

if TYPE_CHECKING:
    from typing_extensions import Unpack

Result = Union[ToolMessage, "Command[Any]"]


class Gated(AgentMiddleware[Any, Any, Any]):
    """Gates the named tools; without names every tool of the agent. `options` are those of `Gate.hold`."""

    def __init__(self, *tools: str, gate: Optional[Gate] = None, **options: Unpack[HoldOptions]) -> None:
        super().__init__()
        self._names, self._options = tools, options
        self._gate = gate or Gate(agent="langchain")

    @property
    def name(self) -> str:
        return "-".join(("Gated", *self._names))  # an agent takes no two of one name

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        if self._passes(request):
            return handler(request)
        with ExitStack() as stack:
            try:
                call = stack.enter_context(self._hold(request))
            except (InputError, Refused, GateError) as error:
                return _without_running(request, error)
            return _finished(call, handler(_approved(request, call)), request.tool)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        if self._passes(request):
            return await handler(request)
        async with AsyncExitStack() as stack:
            try:
                call = await stack.enter_async_context(self._hold(request))
            except (InputError, Refused, GateError) as error:
                return _without_running(request, error)
            return _finished(call, await handler(_approved(request, call)), request.tool)

    def _passes(self, request: ToolCallRequest) -> bool:
        return bool(self._names) and request.tool_call["name"] not in self._names

    def _hold(self, request: ToolCallRequest) -> Call:
        asked = request.tool_call
        configured = request.runtime.config.get("configurable", {}) if request.runtime else {}
        return self._gate._hold_for(asked["name"], asked["args"], asked["id"], configured.get("thread_id"), self._options)


def _approved(request: ToolCallRequest, call: Call) -> ToolCallRequest:
    approved = request.override(tool_call={**request.tool_call, "args": call.input})
    if request.tool is None:
        return approved
    # The framework makes text of what a tool returns, even if that has not run. Pydantic lets no attribute be set that is not a field.
    tool = copy.copy(request.tool)
    object.__setattr__(tool, "_run", _ending(tool._run, call))
    if type(tool)._arun is not BaseTool._arun:
        object.__setattr__(tool, "_arun", _ending(tool._arun, call))
    return approved.override(tool=tool)


def _ending(run: Callable[..., Any], call: Call) -> Callable[..., Any]:
    """Wraps a tool's own function so that what it returns runs to its end."""
    async def later(*args: Any, **kwargs: Any) -> Any:
        call._begun = True
        return call._returned(await _awaited(run(*args, **kwargs)))

    def now(*args: Any, **kwargs: Any) -> Any:
        call._begun = True
        return call._returned(_to_its_end(run(*args, **kwargs)))

    return functools.wraps(run)(later if inspect.iscoroutinefunction(run) else now)


def _finished(call: Call, result: Result, tool: Optional[BaseTool]) -> Result:
    """Notes what is to be reported; the result for the model."""
    if not isinstance(result, ToolMessage):
        call.result = result
        return result
    call.result = result.content
    if result.status == "error":
        call.error = result.text
        if tool and not call._begun and _begins_by_itself(tool):
            call.error = f"It did not run: {result.text}"
            if call.edited:
                told = f"This call did not run. A human changed it to: {json.dumps(call._approved, ensure_ascii=False)}\n\n{result.text}"
                return result.model_copy(update={"content": told})
    if not call.edited:
        return result
    content = result.content
    told = call.told(content) if isinstance(content, str) else [{"type": "text", "text": call.told("")}, *content]
    return result.model_copy(update={"content": told})


def _begins_by_itself(tool: BaseTool) -> bool:
    """Whether only `_run` and `_arun` run a tool's function: no class of its own replaces what calls them."""
    return all(getattr(type(tool), name).__module__.startswith("langchain_core.") for name in ("invoke", "ainvoke", "run", "arun"))


def _without_running(request: ToolCallRequest, error: Union[InputError, Refused, GateError]) -> ToolMessage:
    told = error.told if isinstance(error.told, (str, list)) else json.dumps(error.told)
    status: Any = "success" if isinstance(error, AlreadyRan) else "error"
    return ToolMessage(told, tool_call_id=request.tool_call["id"], name=request.tool_call["name"], status=status)
