"""placet for agents: a write waits until a human approved it. All of it is in `placet.gate`; the other modules fit it to a framework."""

from .gate import AlreadyRan, Briefing, Call, Decided, Gate, GateError, HoldOptions, InputError, Queued, Refused
from .gate import ToolResult, Undecided, idempotency_key

__all__ = [
    "AlreadyRan", "Briefing", "Call", "Decided", "Gate", "GateError", "HoldOptions", "InputError", "Queued", "Refused", "ToolResult",
    "Undecided", "idempotency_key",
]
