"""Pydantic AI: calls of a gated toolset's tools wait until a human approved them.

    from placet.pydantic_ai import Gated

    agent = Agent(model, toolsets=[Gated(FunctionToolset([refund]))])

The model reads a rejection in place of the result, and that its call was changed where it was. The session is the conversation's id,
which a message history carries on.
"""

from __future__ import annotations

import inspect
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Dict

from pydantic import BaseModel, ValidationError
from pydantic_ai import RunContext, ToolReturn
from pydantic_ai.messages import is_multi_modal_content
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset

from .gate import Call, Gate, GateError, HoldOptions, InputError, Refused, _awaited, _is_json, _json, _plain


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
            try:
                asked = _asked(tool_args, tool)
                hold = self.gate._hold_for(name, asked, ctx.tool_call_id, ctx.conversation_id, self.options)
                call = await stack.enter_async_context(hold)
            except (InputError, Refused, GateError) as error:
                return error.told
            if call.edited:
                try:
                    tool_args = await _validated(call, tool_args, ctx, tool)
                except InputError as error:
                    call.error = str(error)
                    return error.told
            result = await super().call_tool(name, tool_args, ctx, tool)
            call.result = call._returned(await _awaited(result.return_value if isinstance(result, ToolReturn) else result))
            told = _told(call)
            return replace(result, return_value=told) if isinstance(result, ToolReturn) else told


def _asked(tool_args: Dict[str, Any], tool: ToolsetTool[Any]) -> Any:
    """The validated arguments as the tool's schema has them."""
    if len(tool_args) == 1:
        # A function of one model: the schema is the model's, without the argument's name.
        [(name, value)] = tool_args.items()
        if name not in tool.tool_def.parameters_json_schema.get("properties", {}) and isinstance(_plain(value, name), dict):
            return value
    return tool_args


async def _validated(call: Call, tool_args: Dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Dict[str, Any]:
    """A reviewer's input, as the framework checks a model's. Whatever was not edited stays the object that the tool was called with."""
    mixed, given = call._mixed(), call._given
    try:
        arguments = tool.args_validator.validate_python(mixed, context=ctx.validation_context, by_alias=True, by_name=True)
    except ValidationError:
        # Strict types have their JSON forms in JSON alone.
        if given is not tool_args or not _is_json({name: item for name, item in mixed.items() if item is not given.get(name)}):
            raise
        arguments = tool.args_validator.validate_json(_json(call._approved), context=ctx.validation_context)
    if given is tool_args:
        arguments = _grafted(arguments, given, mixed)
    else:
        arguments = {name: _grafted(item, given, mixed) for name, item in arguments.items()}
    if tool.args_validator_func is not None:
        checked = tool.args_validator_func(ctx, **arguments)
        if inspect.isawaitable(checked):
            await checked
    return dict(arguments)


def _grafted(new: Any, given: Any, mixed: Any) -> Any:
    """A validated value with the given objects in the places that were not edited: validation may have changed them."""
    if mixed is given:
        return given
    if isinstance(new, BaseModel) and isinstance(given, BaseModel) and isinstance(mixed, dict):
        names = [name for name in type(new).model_fields if name in mixed and name in type(given).model_fields]
        return new.model_copy(update={name: _grafted(getattr(new, name), getattr(given, name), mixed[name]) for name in names})
    if isinstance(new, dict) and isinstance(given, dict) and isinstance(mixed, dict):
        return {name: _grafted(item, given[name], mixed[name]) if name in given and name in mixed else item for name, item in new.items()}
    return new


def _told(call: Call) -> Any:
    """The result for the model. Images and files stay what they are after an edit, too."""
    parts = call.result if isinstance(call.result, (list, tuple)) else [call.result]
    if call.edited and any(map(is_multi_modal_content, parts)):
        return [call.told("").rstrip(), *parts]
    return call.told(call.result)
