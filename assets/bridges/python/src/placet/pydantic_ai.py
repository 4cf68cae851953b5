"""Pydantic AI: calls of a gated toolset's tools wait until a human approved them.

    from placet.pydantic_ai import Gated

    agent = Agent(model, toolsets=[Gated(FunctionToolset([refund]))])

The model reads a rejection in place of the result, and that its call was changed where it was. The session is the conversation's id,
which a message history carries on.
"""

from __future__ import annotations

import inspect
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Dict

from pydantic_ai import RunContext, ToolReturn
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from .gate import Gate, GateError, HoldOptions, Refused


def _gate() -> Gate:
    return Gate(agent="pydantic-ai")


@dataclass
class Gated(WrapperToolset[AgentDepsT]):
    """A toolset of which only runs what was approved. `options` are those of `Gate.hold`."""

    gate: Gate = field(default_factory=_gate)
    options: HoldOptions = field(default_factory=lambda: HoldOptions())

    async def call_tool(
        self, name: str, tool_args: Dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        async with AsyncExitStack() as stack:
            hold = self.gate._hold_for(name, _asked(tool_args, tool), ctx.tool_call_id, ctx.conversation_id, self.options)
            try:
                call = await stack.enter_async_context(hold)
            except (Refused, GateError) as error:
                return error.told
            if call.edited:
                tool_args = await _validated(call.input, ctx, tool)
            result = await super().call_tool(name, tool_args, ctx, tool)
            value = result.return_value if isinstance(result, ToolReturn) else result
            call.result = to_jsonable_python(value, serialize_unknown=True)
            if not call.edited:
                return result
            told = call.told(call.result)
            return replace(result, return_value=told) if isinstance(result, ToolReturn) else told


def _asked(tool_args: Dict[str, Any], tool: ToolsetTool[Any]) -> Dict[str, Any]:
    """The validated arguments as the tool's schema has them."""
    asked: Dict[str, Any] = to_jsonable_python(tool_args, by_alias=True)
    if len(asked) == 1:
        # A function of one model: the schema is the model's, without the argument's name.
        [(name, value)] = asked.items()
        if name not in tool.tool_def.parameters_json_schema.get("properties", {}) and isinstance(value, dict):
            return value
    return asked


async def _validated(edited: Dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Dict[str, Any]:
    """A reviewer's input, as the framework checks a model's."""
    arguments: Dict[str, Any] = tool.args_validator.validate_json(json.dumps(edited), context=ctx.validation_context)
    if tool.args_validator_func is not None:
        checked = tool.args_validator_func(ctx, **arguments)
        if inspect.isawaitable(checked):
            await checked
    return arguments
