"""Microsoft Agent Framework: calls of gated tools wait until a human approved them.

    from placet.agent_framework import Gated

    agent = Agent(client, tools=[refund], middleware=[Gated("refund")])

The model reads a rejection in place of the result, and that its call was changed where it was. The session is that of the run, where
it has one; else `Gate(session=...)`, else one for this process.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, Optional, cast

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware

from .gate import Gate, GateError, HoldOptions, Refused

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
            hold = self._gate._hold_for(name, _asked(context.arguments), context.metadata.get("call_id"), session, self._options)
            try:
                call = await stack.enter_async_context(hold)
            except (Refused, GateError) as error:
                context.result = error.told
                return
            if call.edited:
                context.arguments = call.input
            await call_next()
            parts = context.result if isinstance(context.result, list) else None
            call.result = _text(parts) if parts else context.result
            if call.edited and parts:
                context.result = [Content.from_text(call.told("")[:-1]), *parts]  # parts are joined by line ends
            elif call.edited:
                context.result = call.told(call.result)


def _asked(arguments: Any) -> Dict[str, Any]:
    return cast(Dict[str, Any], arguments.model_dump(mode="json")) if hasattr(arguments, "model_dump") else dict(arguments)


def _text(parts: Any) -> Any:
    """The words of a result; with anything else in it, all of it."""
    if all(part.type == "text" for part in parts):
        return "".join(part.text for part in parts)
    return [part.to_dict() for part in parts]
