"""OpenAI Agents: calls of a gated tool wait until a human approved them.

    from placet.openai_agents import gated

    agent = Agent(name="support", tools=[gated(refund)])

The model reads a rejection in place of the result, and that its call was changed where it was. The framework names no session:
`RunConfig(group_id=...)`, else `Gate(session=...)`, else one for this process. To find a waiting call again after a restart, name it.
The tool's own `timeout_seconds` counts the waiting, too.
"""

from __future__ import annotations

import copy
import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from agents import FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText, function_tool
from agents.tool import maybe_invoke_function_tool_failure_error_function, set_function_tool_failure_error_function
from agents.tool_context import ToolContext

from .gate import Call, Gate, GateError, HoldOptions, InputError, Refused, _awaited

if TYPE_CHECKING:
    from typing_extensions import Unpack


def gated(
    tool: Union[FunctionTool, Callable[..., Any]], gate: Optional[Gate] = None, **options: Unpack[HoldOptions]
) -> FunctionTool:
    """A copy of the tool, or a tool made of the function, that runs only what was approved. `options` are those of `Gate.hold`."""
    wrapped = tool if isinstance(tool, FunctionTool) else function_tool(tool)
    the_gate = gate or Gate(agent="openai-agents")
    # Its own handling of errors would make a result of every error, and the gate would call a failed run executed.
    raising = set_function_tool_failure_error_function(copy.copy(wrapped), None)

    async def held(context: ToolContext[Any], arguments: str) -> Any:
        async with AsyncExitStack() as stack:
            session = context.run_config.group_id if context.run_config else None
            hold = the_gate._hold_for(wrapped.name, json.loads(arguments or "{}"), context.tool_call_id, session, options)
            try:
                call = await stack.enter_async_context(hold)
            except (InputError, Refused, GateError) as error:
                return error.told
            ran = await raising.on_invoke_tool(context, json.dumps(call.input) if call.edited else arguments)
            call.result = call._returned(await _awaited(ran))
            return _told(call)

    async def on_invoke_tool(context: ToolContext[Any], arguments: str) -> Any:
        try:
            return await held(context, arguments)
        except Exception as error:
            told = await maybe_invoke_function_tool_failure_error_function(function_tool=wrapped, context=context, error=error)
            if told is None:
                raise
            return told

    copied = copy.copy(wrapped)
    copied.on_invoke_tool = on_invoke_tool
    return copied


def _told(call: Call) -> Any:
    """The result for the model. Images and files stay what they are after an edit, too."""
    parts = call.result if isinstance(call.result, (list, tuple)) else [call.result]
    if call.edited and parts and all(map(_is_part, parts)):
        return [ToolOutputText(text=call.told("").rstrip()), *parts]
    return call.told(call.result)


def _is_part(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get("type") in ("text", "image", "file")
    return isinstance(value, (ToolOutputText, ToolOutputImage, ToolOutputFileContent))
