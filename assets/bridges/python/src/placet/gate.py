"""The agent's side of placet's gate: a write that a function would do waits until a human approved it.

Where the call is made and the program waits for the human:

    from placet import Gate

    with Gate().hold("refund", {"to": "ilka@example.com", "cents": 12990}) as call:    # raises Refused when a human said no
        call.result = refund(**call.input)                                             # what was approved

Or recorded now, and run by a worker once it is approved:

    gate = Gate()

    @gate.gated(lambda tool_input: {"to": tool_input["to"]}, risk="high")
    def refund(to: str, cents: int) -> str: ...

    signal = refund("ilka@example.com", cents=12990)    # {"status": "queued", ...}; nothing ran
    decided = gate.wait(signal)                         # a human decided, and a worker ran it

    gate.run_worker()                                   # somewhere else, in a thread or a process of its own

This file is all of it, standard library only, Python 3.9 or newer. Installed, it is a part of the package `placet`; copied beside your
agent as `placet.py`, it works the same, without the modules for frameworks.

What was approved is what runs. A call is recorded with every argument by its name, as JSON, and the function gets the input as the
gate gives it back, with the reviewer's edits. A date, Decimal, Enum, dataclass or pydantic model is sent as JSON and read back as its
annotation says; an argument that cannot be read back is refused. A tuple comes back as a list unless its annotation says otherwise.
Numbers are Python's own: integers are exact, ``1.10`` is the float 1.1. The gate keeps the exact bytes; pass money as cents or as text.

The token goes to the gate and nowhere else: no redirect is followed and no proxy is asked, whatever the environment says.
"""

from __future__ import annotations

import asyncio
import collections
import collections.abc
import concurrent.futures
import contextlib
import dataclasses
import datetime
import decimal
import dis
import enum
import functools
import hashlib
import inspect
import io
import ipaddress
import json
import logging
import os
import ssl
import sys
import threading
import time
import traceback
import typing
import uuid
from contextvars import ContextVar, Token
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path, PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Dict, Generator, Iterator, List, Literal, Mapping, NamedTuple
from typing import Optional, Set, Tuple, Type, TypedDict, TypeVar, Union, cast, get_args, get_origin
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:  # names for type checkers: Python 3.9 has no ParamSpec of its own
    from typing import Protocol, overload

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    Q_co = TypeVar("Q_co", covariant=True)

    class Wrapper(Protocol[P, Q_co]):
        """A gated function: called like the original, answers with the queued signal."""

        __original__: Callable[P, Any]
        __tool_name__: str

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Q_co: ...

    class Decorator(Protocol):
        """An ``async def`` stays one."""

        @overload
        def __call__(self, function: Callable[P, Coroutine[Any, Any, Any]]) -> Wrapper[P, Coroutine[Any, Any, Queued]]: ...
        @overload
        def __call__(self, function: Callable[P, Any]) -> Wrapper[P, Queued]: ...


__all__ = [
    "AlreadyRan", "Briefing", "Call", "Decided", "Gate", "GateError", "HoldOptions", "InputError", "Queued", "Refused", "ToolResult",
    "Undecided", "idempotency_key",
]

log = logging.getLogger("placet")

#: In a function that runs what was approved: a key for the system it writes to, the same in every run of one approval.
idempotency_key: ContextVar[str] = ContextVar("idempotency_key")

ToolInput = Dict[str, Any]
T = TypeVar("T")

_ACTIONS = "/api/pending-actions"
#: Seconds one request waits for a decision; the gate allows a minute.
_POLL = 30.0
#: Seconds a gate is waited for that is not there.
_AWAY = 10.0
#: Seconds for which the end of a run is reported to a gate that is away. Giving up leaves the action to a human, as `unknown`.
_REPORT = 300.0
#: Seconds between two tries: the first pause doubles up to the last.
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 5.0
#: Seconds before a paused gate is asked again whether an approved call may run.
_PAUSED = 2.0
#: Seconds for which a held call is ours to run; renewed in time while its block runs.
_LEASE = 3600.0
#: Longest id in characters; a hash of it is sent in place of a longer one.
_ID_MAX = 512
#: Longest error that is reported, in characters; the gate keeps the first 4,096 bytes.
_ERROR_MAX = 4000
#: Most characters of an exception and its frames in the log.
_TRACE_MAX = 16_000
#: How pydantic shows a secret.
_MASK = b"**********"
_MOVED = "an edit cannot move what is shown as **********; edit the arguments around it"
#: Largest result that is reported, in bytes. The gate reads bodies of 16 MiB.
_RESULT_MAX = 15 << 20


class Queued(TypedDict):
    """The queued signal: the call did not run."""

    status: str
    pending_action_id: str
    tool_name: str
    message: str


class _Signal(Queued, total=False):
    #: The model's own id of the call, where a hash was sent in its place.
    tool_call_id: str


class ToolResult(TypedDict):
    """What the model is told in the end, ready to be appended to a transcript."""

    toolCallId: Optional[str]
    ok: bool
    content: str


@dataclass(frozen=True)
class Decided:
    """What became of an action."""

    id: str
    #: `executed`, `failed`, `rejected`, `expired`, `withdrawn`, `superseded`, or `unknown`: it ran, perhaps, and nobody knows how
    #: that ended. With `until="decided"` also `approved`, which it stays while it runs.
    status: str
    resolved_by: Optional[str]
    #: The reviewer's words.
    reason: Optional[str]
    #: A reviewer changed the input.
    edited: bool
    #: The input as it was approved, with the reviewer's edits.
    effective_input: Optional[ToolInput]
    #: What the function returned.
    result: Any
    #: Why it failed.
    error: Optional[str]
    #: `None` as long as something more may happen.
    tool_result: Optional[ToolResult]


@dataclass(frozen=True)
class Briefing:
    """How many writes of a conversation wait for a human. Its text is one sentence for the user; it is false when none wait."""

    #: Nobody decided them yet.
    pending: int
    #: They may or may not have run: a human must look.
    unknown: int
    #: How many of both each tool has.
    tools: Dict[str, int]

    def __bool__(self) -> bool:
        return self.pending + self.unknown > 0

    def __str__(self) -> str:
        each = ", ".join(f"{count} {tool}" for tool, count in self.tools.items())
        decided = f"{self.pending} {'write waits' if self.pending == 1 else 'writes wait'} for a human's decision"
        lost = f"; {self.unknown} may or may not have run" if self.unknown else ""
        return f"{decided}{lost}: {each}" if self else decided


class GateError(Exception):
    """The gate refused a request or cannot be reached. Nothing ran.

    `code` is the gate's own (`FORBIDDEN`, `INVALID`, ...) with its HTTP `status`, or one of ours with status 0: `UNREACHABLE`,
    `UNTRUSTED` (its certificate), `BAD_ANSWER` (not the gate's form), `NO_GATE`, `NO_TOKEN`, `INSECURE` (plain http to another
    machine). A redirect is `REDIRECTED`.
    """

    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(code, message, status)
        self.code, self.message, self.status = code, message, status

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def told(self) -> Any:
        """What the model may be told."""
        return f"This call did not run: {self.message.rstrip('.')}."

    @property
    def passing(self) -> bool:
        """The same request may succeed in a moment: the gate is away, closing, or behind a proxy that lost it."""
        return self.code in ("UNREACHABLE", "NO_GATE") or self.status in (408, 502, 503, 504)


class InputError(TypeError, ValueError):
    """Arguments that do not fit, or are not JSON and cannot be made JSON. Nothing was proposed."""

    @property
    def told(self) -> Any:
        """What the model may be told."""
        return f"This call did not run: {self}."


class Refused(Exception):
    """The call does not run: a human rejected it, it expired, or it cannot be run any more. `decided` says which.

    Its text is a full sentence for the model.
    """

    def __init__(self, decided: Decided, sentence: Optional[str] = None) -> None:
        super().__init__(decided, sentence)
        self.decided, self._sentence = decided, sentence

    def __str__(self) -> str:
        said = self.decided.tool_result
        return self._sentence or (said["content"] if said else self.decided.status)

    @property
    def told(self) -> Any:
        """What the model is told in place of a result."""
        return str(self)


class AlreadyRan(Refused):
    """The same call ran before, and does not run again. `decided.result` is what it returned then."""

    @property
    def told(self) -> Any:
        return _told(self.decided.effective_input if self.decided.edited else None, self.decided.result)


class Undecided(Refused, TimeoutError):
    """Nobody decided in time, and the proposal was withdrawn."""


class HoldOptions(TypedDict, total=False):
    """What `Gate.hold` takes beside the call itself, as the modules for frameworks hand it on."""

    mission_id: Optional[str]
    preview: Any
    before: Any
    risk: Optional[str]
    effect: Optional[str]
    summary: Optional[str]
    ttl_seconds: Optional[int]
    timeout: Optional[float]
    lease_seconds: float


class Gate:
    """One gate, with one token.

    `url`, and `token` or `token_file` (readable by you alone); else PLACET_URL, and PLACET_TOKEN or PLACET_TOKEN_FILE; without a
    URL the gate that placet serves on this machine, with its agent's token. Several URLs of one gate are separated by blanks or
    commas: a request goes to the one that answered last, and where it does not answer, on to the next. The token file is read again
    when the gate refuses the token. `workspace` is by default the token's, `agent` is the name shown to reviewers. `session` names the conversation that calls belong to where neither the call nor its framework names
    one. `timeout`: seconds that one request may take. A gate that is not there is waited for, 10 seconds at most.

    It may be used by many threads and event loops. Gate what you want before they start. Raises `GateError` when the address or the
    token is none.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        token_file: Union[str, Path, None] = None,
        workspace: Optional[str] = None,
        agent: Optional[str] = None,
        timeout: float = 30.0,
        session: Optional[str] = None,
    ) -> None:
        self._find = functools.partial(_find, url or os.environ.get("PLACET_URL"), token, token_file)
        # Without a URL the gate is looked up again for every request: it may not have started yet, or start again elsewhere.
        self._fixed = self._find() if self._find.args[0] else None
        self._workspace = workspace
        self._agent = agent
        self._session = session
        self._timeout = timeout
        self._tools: Dict[str, _Tool] = {}
        self._tasks: Set["asyncio.Future[Any]"] = set()

    @property
    def url(self) -> str:
        """Where the gate is; of several URLs, the one that is asked next. Raises `GateError` when there is none."""
        return self._places.first.url

    @property
    def _places(self) -> _Places:
        return self._fixed or self._find()

    @property
    def workspace(self) -> str:
        """The workspace of every call: the one that was given, else the token's."""
        return self._run(self._own_workspace())

    # ---- the agent ----------------------------------------------------------------------------------------------------------

    def hold(
        self,
        tool_name: str,
        tool_input: ToolInput,
        *,
        call_id: Optional[str] = None,
        session_id: Optional[str] = None,
        mission_id: Optional[str] = None,
        preview: Any = None,
        before: Any = None,
        risk: Optional[str] = None,
        effect: Optional[str] = None,
        summary: Optional[str] = None,
        ttl_seconds: Optional[int] = None,
        timeout: Optional[float] = None,
        lease_seconds: float = _LEASE,
    ) -> Call:
        """Holds a call until a human decided, then runs the block under it: `with`, or `async with` on asyncio, without a thread.

        `call_id` names the call within its session (`session_id`, else the gate's `session`, else one that is named after the agent):
        the same call with the same input meets the action that is there, whatever became of it, also after a crash. So it runs
        once. Without a `call_id` every call is a new one.

        `preview` is what the reviewer is shown of the input, `before` what the target holds now, under the input's own keys; both
        are JSON, or a function of the input. `risk` and `effect` can only be raised above what the gate knows of the tool.
        `ttl_seconds`: undecided for so long, the call expires. `timeout`: undecided for so long, it is withdrawn. Waiting that is
        broken off (Ctrl-C, a cancelled task) withdraws it too; a killed process does not, and finds it again by its `call_id`.

        Entering raises `Refused` when a human said no, `AlreadyRan` when the call ran before, `Undecided` (a `TimeoutError`) when
        the time is over, `GateError` when the gate cannot be asked, and `InputError` for an input that cannot be made JSON. In
        each case nothing runs. At its end the block's `result`, or what it raised, is reported. A block that is broken off
        reports nothing: nobody knows what it did, and that is what the gate says when its lease, `lease_seconds`, is over.

        Do not let a worker run the same tool.
        """
        options = {"risk": risk, "effect": effect, "summary": summary, "ttlSeconds": ttl_seconds}
        session = session_id or self._session or self._name
        ids = _ids(missionId=mission_id, sessionId=session, toolCallId=call_id or str(uuid.uuid4()), agent=self._name)
        shown = _Shown(tool_name, preview, before, options)
        return Call(self, shown, tool_input, ids, timeout, lease_seconds)

    def gated(
        self,
        preview_fn: Optional[Callable[[ToolInput], Any]] = None,
        *,
        risk: Optional[str] = None,
        effect: Optional[str] = None,
        tool_name: Optional[str] = None,
        summary: Optional[str] = None,
        ttl_seconds: Optional[int] = None,
        before: Optional[Callable[[ToolInput], Any]] = None,
    ) -> Decorator:
        """Gates a function: a call is recorded as a pending action, and does not run.

        `preview_fn` gets the input and returns what the reviewer is shown of it, as JSON; where it raises, the call is recorded
        without. `before` gets the input, too, and returns what the target holds now, under the input's own keys: the reviewer
        sees before and after. `risk` and `effect` can only be raised above what the gate knows of the tool. `tool_name` is by default the
        function's name. `ttl_seconds`: undecided for so long, the call expires.

        A call takes the function's arguments and returns the queued signal; of an `async def`, a coroutine that does.
        `mission_id` and `session_id` among the arguments name its mission and session where nothing else does. It raises `InputError`, a
        `TypeError` and a `ValueError`, for arguments that do not fit, that cannot be made JSON, or that JSON does not give back
        (annotate them), and `GateError` when the gate does not take the call; then nothing is recorded; but with UNREACHABLE
        nobody knows: it may stand in the inbox.

        The worker runs what the function returns to its end, too: a coroutine, a future, a generator, an iterator. The result
        of the latter two is the list of what they yield, as far as it can be kept. One of these inside a result does not run: the
        result has words in its place.

        The function itself is `wrapper.__original__`.
        """
        options = {"risk": risk, "effect": effect, "summary": summary, "ttlSeconds": ttl_seconds}

        def decorate(function: Callable[..., Any]) -> Any:
            name = tool_name or str(getattr(_unwrapped(function), "__name__", type(function).__name__))
            tool = _Tool(_Shown(name, preview_fn, before, options), function)
            if tool.name in self._tools:
                raise ValueError(f"two functions are called {tool.name}; give one of them a tool_name")
            self._tools[tool.name] = tool

            def now(*args: Any, **kwargs: Any) -> Queued:
                return self.propose(tool.name, tool.named(args, kwargs))

            async def later(*args: Any, **kwargs: Any) -> Queued:
                return await self._arun(self._proposed(tool.name, tool.named(args, kwargs), {}))

            wrapper: Any = functools.wraps(function)(later if inspect.iscoroutinefunction(function) else now)
            wrapper.__original__ = function
            wrapper.__tool_name__ = tool.name
            return wrapper

        return decorate

    def propose(
        self,
        tool_name: str,
        tool_input: ToolInput,
        *,
        mission_id: Optional[str] = None,
        session_id: Optional[str] = None,
        tool_call_id: Optional[str] = None,
    ) -> Queued:
        """What a gated function does when it is called, for an agent that has the tool's name and input from its model.

        `tool_call_id` comes back in `Decided.tool_result`. A tool that is no function here is one that the gate runs itself.
        Raises as a gated function does.
        """
        ids = _ids(missionId=mission_id, sessionId=session_id or self._session, toolCallId=tool_call_id)
        signal: Queued = self._run(self._proposed(tool_name, tool_input, ids))
        if tool_call_id and ids["toolCallId"] != tool_call_id:
            return _Signal(**signal, tool_call_id=tool_call_id)
        return signal

    def wait(
        self,
        action: Union[str, Mapping[str, Any]],
        timeout: Optional[float] = None,
        until: Literal["decided", "final"] = "final",
    ) -> Decided:
        """Waits for what becomes of an action, given by its id or its queued signal, through restarts of the gate.

        `until`: `final`, when nothing more will happen, or `decided`, which may be `approved`. A rejection is an answer like
        any other. `timeout`: seconds; without one it waits for ever. Raises `TimeoutError` when nobody decided by then, and
        `GateError` when the gate refuses or is away at that time.
        """
        return self._run(self._waited(action, timeout, until))

    async def wait_async(
        self,
        action: Union[str, Mapping[str, Any]],
        timeout: Optional[float] = None,
        until: Literal["decided", "final"] = "final",
    ) -> Decided:
        """`wait` in a coroutine."""
        return await self._arun(self._waited(action, timeout, until))

    def briefing(self, session_id: Optional[str] = None, mission_id: Optional[str] = None) -> Briefing:
        """Counts what waits, to remind a user who reopens a conversation. Without a session, the gate's own `session`, else the
        whole workspace. The token needs the scope `read`. Raises `GateError`."""
        return self._run(self._briefed(session_id, mission_id))

    async def briefing_async(self, session_id: Optional[str] = None, mission_id: Optional[str] = None) -> Briefing:
        """`briefing` in a coroutine."""
        return await self._arun(self._briefed(session_id, mission_id))

    def call(self, tool: Wrapper[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls a gated function and waits, as long as it takes, for its result. Raises `Refused` when there is none.

        A worker must be running elsewhere, in another thread at least.
        """
        named = self._tools[tool.__tool_name__].named(args, kwargs)
        decided = self.wait(self.propose(tool.__tool_name__, named))
        if decided.status != "executed":
            raise Refused(decided)
        return decided.result

    # ---- the worker ---------------------------------------------------------------------------------------------------------

    def run_worker(
        self, stop: Optional[threading.Event] = None, lease_seconds: Optional[int] = None, poll_seconds: float = 1.0
    ) -> None:
        """Runs approved calls of the functions gated here, one after the other, until `stop` is set.

        Any number of workers may run; each call is run by one of them. `lease_seconds` is the longest that a function may take
        (default: what the gate says of the tool, else a minute); after that the gate counts the run as lost. `poll_seconds`: how
        often it looks for work. What a function raises is reported and ends nothing; an absent gate is waited for. Coroutines
        run in an event loop of their own, so give the worker a thread of its own. Raises `GateError` when the gate refuses the
        token.
        """
        stop = stop or threading.Event()
        while not stop.is_set():
            try:
                for _ in self._work(lease_seconds):
                    if stop.is_set():
                        return
            except GateError as error:
                if error.status in (401, 403):
                    raise
                log.warning("cannot look for work: %s", error)
            stop.wait(poll_seconds)

    def work_once(self, lease_seconds: Optional[int] = None) -> int:
        """Runs what is approved now, oldest first; how many that were. Raises `GateError` when the gate cannot be asked."""
        return sum(1 for _ in self._work(lease_seconds))

    def _work(self, lease_seconds: Optional[int]) -> Iterator[str]:
        for tool in list(self._tools.values()):
            for action_id in self._run(self._approved(tool.name)):
                try:
                    claim = self._run(self._claimed(action_id, lease_seconds))
                except GateError as error:
                    if not error.status:
                        raise
                    # 409: another worker has it, or the gate is paused.
                    level = logging.DEBUG if error.status == 409 else logging.WARNING
                    log.log(level, "cannot claim %s: %s", action_id, error)
                    continue
                self._run(self._reported(action_id, {"fence": claim.fence, **tool.run(claim)}))
                yield action_id

    # ---- for the modules beside this one --------------------------------------------------------------------------------------

    def _hold_for(
        self, tool_name: str, tool_input: ToolInput, call_id: Optional[str], session: Optional[str], options: HoldOptions
    ) -> Call:
        """Holds a framework's call. Where the framework names no session, it is the gate's, else this process."""
        session = (str(session) if session else None) or self._session or _session_of(os.getpid())
        return self.hold(tool_name, tool_input, call_id=call_id, session_id=session, **options)

    # ---- what is said to the gate: each of these is run by `_run` or by `_arun` ------------------------------------------------

    @property
    def _name(self) -> str:
        return self._agent or "python"

    def _own_workspace(self) -> Steps[str]:
        if self._workspace is None:
            self._workspace = _text_of((yield from self._ask("GET", "/api/workspaces"))["items"][0], "id")
        return self._workspace

    def _proposed(self, tool_name: str, tool_input: ToolInput, ids: Dict[str, Optional[str]]) -> Steps[Queued]:
        tool = self._tools.get(tool_name)
        tool_input = tool.named((), _input(tool_input)) if tool else _input(tool_input)
        shown = tool.shown if tool else _Shown(tool_name, None, None, {})
        proposal = yield from self._proposal(shown, tool_input, {"agent": self._agent, **ids})
        # The key stays the same when the answer is lost and the request sent again: one call, one action.
        signal = yield from self._ask("POST", _ACTIONS, proposal, key=str(uuid.uuid4()))
        return cast(Queued, {**signal, "pending_action_id": _text_of(signal, "pending_action_id")})

    def _proposal(self, shown: _Shown, tool_input: ToolInput, ids: Dict[str, Optional[str]]) -> Steps[Dict[str, Any]]:
        proposal = {
            "toolName": shown.name,
            "toolInput": tool_input,
            **shown.of(tool_input),
            "workspaceId": (yield from self._own_workspace()),
            **ids,
        }
        return {name: value for name, value in proposal.items() if value is not None}

    def _recorded(self, proposal: Dict[str, Any]) -> Steps[str]:
        """The action of this call, which may be recorded already."""
        agent, session, call_id, tool = (str(proposal[name]) for name in ("agent", "sessionId", "toolCallId", "toolName"))
        tool_input = _json(proposal["toolInput"])
        key = _call_key(agent, session, call_id, tool, tool_input.decode("utf-8"))
        try:
            return _text_of((yield from self._ask("POST", _ACTIONS, proposal, key=key)), "pending_action_id")
        except GateError as error:
            if error.code != "IDEMPOTENCY_KEY_REUSED":
                raise
            # The same call, and it was proposed before with another preview or another state before.
            query = f"{_ACTIONS}?session_id={quote(session, safe='')}&tool_name={quote(tool, safe='')}"
            for action in (yield from self._listed(query)):
                if action.get("toolCallId") == call_id and action["toolInput"] == json.loads(tool_input):
                    return _text_of(action, "id")
            raise

    def _waited(
        self, action: Union[str, Mapping[str, Any]], timeout: Optional[float], until: Literal["decided", "final"]
    ) -> Steps[Decided]:
        action_id = action if isinstance(action, str) else str(action["pending_action_id"])
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            poll = min(left, _POLL)
            path = f"{_path(action_id)}?until={until}&wait={int(poll * 1000)}ms"
            found = yield from self._ask("GET", path, limit=poll + self._timeout, patience=left)
            decided = _decided(found)
            if "toolResult" in found or (until == "decided" and decided.status != "pending"):
                own = isinstance(action, Mapping) and action.get("tool_call_id")
                if own and decided.tool_result:
                    decided.tool_result["toolCallId"] = str(own)
                return decided
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{action_id} is still {decided.status}")
            yield _FIRST_PAUSE  # a gate that is closing answers at once, again and again

    def _withdrawn(self, action_id: str) -> Steps[Decided]:
        """Takes a proposal back, if nobody decided it meanwhile; where it stands then."""
        try:
            return _decided((yield from self._ask("POST", f"{_path(action_id)}/withdraw", {})))
        except GateError as error:
            if error.status != 409:
                raise
            return _decided((yield from self._ask("GET", _path(action_id))))

    def _briefed(self, session_id: Optional[str], mission_id: Optional[str]) -> Steps[Briefing]:
        wanted = {"workspace_id": self._workspace, "session_id": session_id or self._session, "mission_id": mission_id}
        query = "".join(f"&{name}={quote(value, safe='')}" for name, value in wanted.items() if value)
        rows = yield from self._listed(f"{_ACTIONS}?status=pending,unknown&view=row&limit=5000{query}")
        unknown = sum(row["status"] == "unknown" for row in rows)
        tools = collections.Counter(_text_of(row, "toolName") for row in rows)
        return Briefing(len(rows) - unknown, unknown, dict(tools.most_common()))

    def _approved(self, tool_name: str) -> Steps[List[str]]:
        """Ids of approved actions that nobody runs yet, oldest first."""
        query = f"{_ACTIONS}?status=approved&claimable=true&view=row&tool_name={quote(tool_name, safe='')}"
        return [_text_of(row, "id") for row in (yield from self._listed(query, patience=0))][::-1]

    def _listed(self, query: str, patience: Optional[float] = None) -> Steps[List[Dict[str, Any]]]:
        found: List[Dict[str, Any]] = []
        cursor: Optional[str] = ""
        while cursor is not None:
            page = yield from self._ask("GET", f"{query}&cursor={quote(cursor)}" if cursor else query, patience=patience)
            found += page["items"]
            cursor = page.get("nextCursor")
        return found

    def _claimed(self, action_id: str, lease_seconds: Optional[float], key: Optional[str] = None) -> Steps[_Claim]:
        wanted = {} if lease_seconds is None else {"leaseSeconds": int(lease_seconds)}
        # Under a key: where the answer was lost, the same work comes again, and nobody else gets it meanwhile.
        claim = yield from self._ask("POST", f"{_path(action_id)}/claim", wanted, key=key or str(uuid.uuid4()))
        return _Claim(claim["fence"], {**claim["toolInput"]}, _text_of(claim, "idempotencyKey"))

    def _reported(self, action_id: str, outcome: Dict[str, Any]) -> Steps[None]:
        path = f"{_path(action_id)}/result"
        try:
            try:
                yield from self._ask("POST", path, outcome, patience=_REPORT)
            except GateError as error:
                if error.status not in (400, 413, 422):
                    raise
                # Its outcome must be known, even where the gate does not keep the result or the error.
                kept = {name: f"The gate did not keep it: {error.message}" for name in outcome if name != "fence"}
                yield from self._ask("POST", path, {**outcome, **kept}, patience=_REPORT)
        except GateError as error:
            # STALE_FENCE: the lease ran out, and somebody else may have taken it.
            log.warning("%s ran here, but the gate does not take the report: %s", action_id, error)

    def _ask(
        self,
        method: str,
        path: str,
        body: Optional[Dict[str, Any]] = None,
        *,
        key: Optional[str] = None,
        limit: Optional[float] = None,
        patience: Optional[float] = None,
    ) -> Steps[Dict[str, Any]]:
        """One request, and its answer. A gate that is away is tried again for `patience` seconds; 0: never."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        data = None if body is None else _sendable(body)
        request = _Request(method, path, data, headers, self._timeout if limit is None else limit)
        deadline = time.monotonic() + (min(self._timeout, _AWAY) if patience is None else patience)
        pause = _FIRST_PAUSE
        tried: List[GateError] = []
        refused = False
        while True:
            try:
                return cast(Dict[str, Any], (yield request))
            except GateError as error:
                if error.status == 401 and not refused and self._has_new_token():
                    refused = True
                    continue
                if not error.passing:
                    raise
                tried.append(error)
                if self._fixed and len(tried) < len(self._fixed.all):
                    continue  # at once: the next address
                if time.monotonic() + pause >= deadline:
                    raise _of_all(tried) from error
                log.info("%s; trying again", error)
            tried = []
            yield pause
            pause = min(pause * 2, _LAST_PAUSE)

    def _has_new_token(self) -> bool:
        """Reads the token file again. Without a URL that is done for every request."""
        old = self._fixed
        if not old:
            return False
        with contextlib.suppress(GateError):
            found = self._fixed = self._find().going_on_from(old)
            return found.first.token != old.first.token
        return False

    # ---- HTTP ---------------------------------------------------------------------------------------------------------------

    def _run(self, steps: Steps[T], pause: Callable[[float], Any] = time.sleep) -> T:
        with _expected():
            try:
                step = next(steps)
                while True:
                    try:
                        answer = pause(step) if isinstance(step, float) else self._send(step)
                    except GateError as error:
                        step = steps.throw(error)
                    else:
                        step = steps.send(answer)
            except StopIteration as end:
                return cast(T, end.value)

    async def _arun(self, steps: Steps[T]) -> T:
        with _expected():
            try:
                step = next(steps)
                while True:
                    try:
                        answer = await (asyncio.sleep(step) if isinstance(step, float) else self._asend(step))
                    except GateError as error:
                        step = steps.throw(error)
                    else:
                        step = steps.send(answer)
            except StopIteration as end:
                return cast(T, end.value)

    async def _in_any_case(self, steps: Steps[Any]) -> None:
        """Runs it to its end, also where whoever waits for it is cancelled."""
        task = asyncio.ensure_future(self._arun(steps))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(task)

    @contextlib.contextmanager
    def _trying(self) -> Iterator[_Place]:
        """Where one request goes. Where that does not answer, the next one goes to the next address."""
        places = self._places
        place = places.first
        try:
            with _faults(place):
                yield place
        except GateError as error:
            if error.passing:
                places.failed(place)
            raise

    def _send(self, request: _Request) -> Any:
        with self._trying() as place:
            # Of http.client, because it follows no redirects and knows no proxies.
            kind: Type[HTTPConnection] = HTTPSConnection if place.secure else HTTPConnection
            connection = kind(place.host, place.port, timeout=request.limit)
            try:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused in mid-body: the answer says why
                    connection.request(request.method, place.base + request.path, request.data, request.head(place))
                response = connection.getresponse()
                status, text = response.status, response.read()
            finally:
                connection.close()
            return _answer(place, status, text)

    async def _asend(self, request: _Request) -> Any:
        with self._trying() as place:
            status, text = await asyncio.wait_for(_exchange(place, request), request.limit)
            return _answer(place, status, text)


class Call:
    """A call that a human decides on, made by `Gate.hold`. Within its block it is approved, and ours to run."""

    #: The action's id at the gate; empty before it is entered.
    id: str = ""
    #: What was approved: the input with the reviewer's edits, as JSON; an argument that was not edited is the object that was given.
    #: Run this.
    input: ToolInput
    #: A reviewer changed the input.
    edited: bool = False
    #: What the block returns; it is reported at the end, in the form of `_reportable`.
    result: Any = None
    #: It failed, and the block raises nothing; reported in place of `result`.
    error: Optional[str] = None

    def __init__(
        self,
        gate: Gate,
        shown: _Shown,
        tool_input: ToolInput,
        ids: Dict[str, Optional[str]],
        timeout: Optional[float],
        lease: float,
    ) -> None:
        self._gate, self._shown, self._given, self._ids = gate, shown, tool_input, ids
        self._approved: ToolInput = {}
        self._timeout, self._lease = timeout, lease
        self._fence: Any = None
        self._proposal: Optional[Dict[str, Any]] = None
        self._claim_key: Optional[str] = None
        self._over = threading.Event()
        self._renewer: Optional["asyncio.Future[None]"] = None
        self._key: Optional[Token[str]] = None
        #: A framework's tool began; where the framework says it.
        self._begun = False

    def told(self, result: Any) -> Any:
        """What the model is told of a result: the result, after a sentence on the reviewer's edits where there are any."""
        return _told(self._approved if self.edited else None, result)

    def _returned(self, result: Any) -> Any:
        """What a framework's tool returned. A sentence where it did not run, which is then the call's error."""
        self.error = _unrun(result)
        return self.error or result

    def _mixed(self) -> Any:
        """What was approved; every part of it that was not edited is the object that was given."""
        return _kept(self._given, _plain(self._given), self._approved)

    def __enter__(self) -> Call:
        try:
            self._begin(self._gate._run(self._taken()))
        except BaseException as error:
            if self._is_left_open(error):
                with contextlib.suppress(Exception):
                    self._gate._run(self._dropped())
            raise
        threading.Thread(target=self._gate._run, args=(self._renewed(), self._over.wait), daemon=True).start()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], raised: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        outcome = self._end(raised)
        if outcome:
            self._gate._run(self._gate._reported(self.id, outcome))

    async def __aenter__(self) -> Call:
        try:
            self._begin(await self._gate._arun(self._taken()))
        except BaseException as error:
            if self._is_left_open(error):
                with contextlib.suppress(Exception):
                    await self._gate._in_any_case(self._dropped())
            raise
        self._renewer = asyncio.ensure_future(self._gate._arun(self._renewed()))
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], raised: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        outcome = self._end(raised)
        if self._renewer:
            self._renewer.cancel()
        if outcome:
            await self._gate._in_any_case(self._gate._reported(self.id, outcome))

    def _taken(self) -> Steps[_Claim]:
        """Proposes, waits and claims; what is claimed."""
        gate, timeout = self._gate, self._timeout
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        self._proposal = yield from gate._proposal(self._shown, _input(self._given), self._ids)
        self.id = yield from gate._recorded(self._proposal)
        try:
            decided = yield from gate._waited(self.id, None if timeout is None else deadline - time.monotonic(), "decided")
        except TimeoutError:
            decided = yield from gate._withdrawn(self.id)
            if decided.status == "withdrawn":
                raise Undecided(decided, f"Nobody decided within {timeout:g} s. This call did not run.") from None
        while decided.status == "approved":
            try:
                self._claim_key = str(uuid.uuid4())
                claim = yield from gate._claimed(self.id, self._lease, self._claim_key)
                self.edited = decided.edited
                return claim
            except GateError as error:
                if error.code == "PAUSED" and time.monotonic() < deadline:
                    yield _PAUSED
                    continue
                decided = _decided((yield from gate._ask("GET", _path(self.id))))
                if decided.status == "approved" and error.code == "INVALID_STATE":
                    raise Refused(decided, "This call is being run already and was not started again.") from None
                if decided.status == "approved":
                    raise
        raise _refused(decided)

    def _begin(self, claim: _Claim) -> None:
        self._approved, self._fence = claim.input, claim.fence
        given = self._given if isinstance(self._given, collections.abc.Mapping) else {}
        # An object that was changed while a person decided is not what was approved.
        self.input = {
            name: given[name] if name in given and _is_json_of(value, given[name]) else value for name, value in claim.input.items()
        }
        self._key = idempotency_key.set(claim.key)

    def _is_left_open(self, error: BaseException) -> bool:
        """Nobody waits any more for a decision that may still come."""
        return self._proposal is not None and self._fence is None and not isinstance(error, Exception)

    def _dropped(self) -> Steps[None]:
        """Withdraws the call. A request whose answer was lost is sent again under its key: it names the action, or its claim."""
        if self._proposal is not None and not self.id:
            self.id = yield from self._gate._recorded(self._proposal)
        decided = yield from self._gate._withdrawn(self.id)
        if self._claim_key and decided.status in ("approved", "running"):
            claim = yield from self._gate._claimed(self.id, self._lease, self._claim_key)
            yield from self._gate._reported(self.id, {"fence": claim.fence, "error": "It did not run: the call was broken off."})

    def _renewed(self) -> Steps[None]:
        """Keeps the lease while the block runs."""
        body, pause = {"fence": self._fence, "leaseSeconds": int(self._lease)}, self._lease / 3
        while True:
            yield pause
            if self._over.is_set():
                return
            try:
                yield from self._gate._ask("POST", f"{_path(self.id)}/renew", body, patience=0)
                pause = self._lease / 3
            except GateError as error:
                pause = self._lease / 12
                log.warning("cannot renew %s: %s", self.id, error)
                if error.status in (404, 409):  # the run is not ours any more
                    return

    def _end(self, raised: Optional[BaseException]) -> Optional[Dict[str, Any]]:
        """What is to be reported."""
        self._over.set()
        if self._key:
            with contextlib.suppress(ValueError):  # ended in another context than it began in
                idempotency_key.reset(self._key)
        if raised is None and self.error is None:
            if _is_pending(self.result):
                log.warning("the result of %s is not there yet; nobody knows what it did", self.id)
                return None
            self.error = _unrun(self.result)
        if raised is None and self.error is None:
            return {"fence": self._fence, "result": _reportable(self.result)}
        if raised is None or isinstance(raised, Exception):
            return {"fence": self._fence, "error": _failure(raised) if raised else _text(str(self.error), _ERROR_MAX)}
        log.warning("%s was broken off; nobody knows what it did", self.id)
        return None


@dataclass(frozen=True)
class _Shown:
    """A tool as reviewers see it."""

    name: str
    preview: Any
    before: Any
    options: Dict[str, Any]

    def of(self, tool_input: ToolInput) -> Dict[str, Any]:
        """What a proposal says besides the input."""
        said = {"preview": self._said("preview", self.preview, tool_input), **self.options}
        return {"before": self._said("state before", self.before, tool_input), **said}

    def _said(self, what: str, tell: Any, tool_input: ToolInput) -> Any:
        try:
            # The function gets a copy, as the tool will.
            return json.loads(_json(tell(json.loads(_json(tool_input))) if callable(tell) else tell))
        except Exception:
            log.warning("%s has no %s: %s", self.name, what, _text(traceback.format_exc(), _TRACE_MAX))
            return None


class _Tool:
    """A gated function and what is known of it."""

    def __init__(self, shown: _Shown, function: Callable[..., Any]) -> None:
        self.name, self.shown = shown.name, shown
        self._function = function
        self._signature = inspect.signature(function)
        self._hints = _hints(_unwrapped(function))
        self._rest: Optional[str] = None
        for parameter in self._signature.parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                why = f"its argument {parameter.name} has no name to be shown and edited by"
                raise TypeError(f"{self.name} cannot be gated: {why}")
            if parameter.kind is parameter.VAR_KEYWORD:
                self._rest = parameter.name

    def named(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> ToolInput:
        """Every argument by its name, as JSON: what the reviewer sees is all that the function gets."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        if self._rest:
            given.update(given.pop(self._rest))
        return {name: self._sent(name, value) for name, value in given.items()}

    def _sent(self, name: str, value: Any) -> Any:
        plain = _plain(value, name)
        try:
            restored = self._read(name, plain)
        except Exception as error:
            raise InputError(f"{name} does not fit its annotation: {error!r}") from error
        if not _is_json(value) and restored != value:
            kind = type(value).__name__
            raise InputError(f"{name} is a {kind}, which the worker cannot read back from JSON; annotate it, or pass JSON")
        return plain

    def _read(self, name: str, plain: Any) -> Any:
        """An argument as the function gets it."""
        return _restored(self._hints.get(name, self._hints.get(self._rest or "")), plain)

    def run(self, claim: _Claim) -> Dict[str, Any]:
        """Runs the function to its end with the input as it was approved; `{"result"}` or `{"error"}`."""
        key = idempotency_key.set(claim.key)
        try:
            result = self._function(**{name: self._read(name, value) for name, value in claim.input.items()})
            result = _to_its_end(result)
            why = _unrun(result)
            return {"error": why} if why else {"result": _reportable(result)}
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            log.warning("%s failed: %s", self.name, _text(traceback.format_exc(), _TRACE_MAX))
            return {"error": _failure(error)}
        finally:
            idempotency_key.reset(key)


class _Claim(NamedTuple):
    """An approved call that is ours to run."""

    fence: Any
    input: ToolInput
    key: str


class _Place(NamedTuple):
    """Where a gate is, and a token for it."""

    url: str
    token: str
    secure: bool
    host: str
    port: Optional[int]
    #: What stands before every path.
    base: str


class _Places:
    """The addresses of one gate, which remembers a key whichever way it came."""

    def __init__(self, places: List[_Place]) -> None:
        self.all = places
        self._first = 0

    def going_on_from(self, other: _Places) -> _Places:
        self._first = min(other._first, len(self.all) - 1)
        return self

    @property
    def first(self) -> _Place:
        """The one that answered last, or the one after that which failed last."""
        return self.all[self._first]

    def failed(self, place: _Place) -> None:
        if place is self.first:  # unless another thread moved on already
            self._first = (self._first + 1) % len(self.all)


class _Request(NamedTuple):
    method: str
    path: str
    data: Optional[bytes]
    headers: Dict[str, str]
    #: Seconds.
    limit: float

    def head(self, place: _Place) -> Dict[str, str]:
        return {"Authorization": f"Bearer {place.token}", **self.headers}


#: A conversation with the gate: requests, whose answers come back, and pauses in seconds.
Steps = Generator[Union[_Request, float], Any, T]


async def _exchange(place: _Place, request: _Request) -> Tuple[int, bytes]:
    """One request on a connection of its own; the status, and the body of the answer."""
    trust = ssl.create_default_context() if place.secure else None
    reader, writer = await asyncio.open_connection(place.host, place.port or (443 if place.secure else 80), ssl=trust)
    try:
        lines = [f"{request.method} {place.base}{request.path} HTTP/1.1", f"Host: {urlsplit(place.url).netloc}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in request.head(place).items()]
        if request.data is not None:
            lines.append(f"Content-Length: {len(request.data)}")
        writer.write("\r\n".join([*lines, "", ""]).encode("ascii") + (request.data or b""))
        whole = b""
        with contextlib.suppress(ConnectionError):  # what came before says why, or that it is not whole
            while not reader.at_eof():
                whole += await reader.read(65536)
    finally:
        writer.close()
    # Read by http.client, too: it knows every form of an answer.
    response = HTTPResponse(cast(Any, _Whole(whole)), method=request.method)
    response.begin()
    return response.status, response.read()


class _Whole:
    """An answer that is here, in place of a socket."""

    def __init__(self, whole: bytes) -> None:
        self._whole = whole

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._whole)


@contextlib.contextmanager
def _expected() -> Iterator[None]:
    """Says of an answer that has another form than a gate's that it is none."""
    try:
        yield
    except (InputError, GateError):
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise GateError("BAD_ANSWER", f"the gate's answer has an unexpected form: {error!r}") from error


@contextlib.contextmanager
def _faults(place: _Place) -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise GateError("UNTRUSTED", f"the certificate of {place.host} is not good: {error.verify_message}") from error
    except ConnectionRefusedError as error:
        raise GateError("UNREACHABLE", f"No gate at {place.url}. Start `placet`.") from error
    except (OSError, HTTPException, asyncio.TimeoutError) as error:
        raise GateError("UNREACHABLE", f"the gate at {place.url} does not answer: {error!r}") from error


def _of_all(tried: List[GateError]) -> GateError:
    """One error for a round in which no address answered."""
    last = tried[-1]
    return GateError(last.code, "; ".join(error.message for error in tried), last.status) if len(tried) > 1 else last


def _answer(place: _Place, status: int, text: bytes) -> Dict[str, Any]:
    if 300 <= status < 400:
        raise GateError("REDIRECTED", f"{place.url} answers with a redirect; the token is not sent elsewhere", status)
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if status >= 400:
        raise _refusal(status, answer)
    if not isinstance(answer, dict):
        raise GateError("BAD_ANSWER", f"what answers at {place.url} is no gate")
    return answer


def _path(action_id: str) -> str:
    return f"{_ACTIONS}/{quote(action_id, safe='')}"


def _json(value: Any) -> bytes:
    """Raises `TypeError` or `ValueError` for what is not JSON, as NaN is not."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _sendable(body: Dict[str, Any]) -> bytes:
    try:
        return _json(body)
    except (TypeError, ValueError, RecursionError) as error:
        for name, value in body.items():
            _plain(value, _spoken(name))
        raise InputError(f"it cannot be sent as JSON: {_text(str(error), 200)}") from None


def _spoken(name: str) -> str:
    """The name of a member as a caller knows it: `ttl_seconds` of `ttlSeconds`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _is_json(value: Any) -> bool:
    """Whether JSON has the value's own type. A tuple counts as a list."""
    try:
        _json(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_json_of(plain: Any, value: Any) -> bool:
    try:
        return _json(_plain(value)) == _json(plain)
    except InputError:
        return False


def _plain(value: Any, name: str = "input") -> Any:
    """A value as JSON, written as pydantic writes it. Sets are sorted: the same call has the same key in every process.

    Raises `InputError`, which names what cannot be made JSON.
    """
    try:
        return _walk(value, name, _refuse)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply, or holds itself") from None


def _input(given: Any) -> ToolInput:
    plain = _plain(given)
    if isinstance(plain, dict):
        return plain
    raise InputError("the arguments are not an object")


#: Members of classes whose instances are records.
_FIELDS = ("__pydantic_serializer__", "__dataclass_fields__", "__attrs_attrs__")

#: What stands for a part that is not JSON: of the value, its name, and why. Or raises.
_Odd = Callable[[Any, str, str], Any]


def _refuse(value: Any, name: str, why: str) -> Any:
    raise InputError(f"{name} {why}")


def _walk(value: Any, name: str, odd: _Odd) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return _walk(value.value, name, odd)
    if isinstance(value, str):
        text = str.__str__(value)
        return text if _text(text) == text else odd(value, name, "holds half a character (a lone surrogate), which JSON does not have")
    if isinstance(value, int):  # Python reads and writes at most 4,300 digits
        return int(value) if value.bit_length() < 14_000 else odd(value, name, "has too many digits")
    if isinstance(value, float):
        return float(value) if abs(value) < float("inf") else odd(value, name, f"is {value}, which JSON does not have")
    if isinstance(value, collections.abc.Mapping):
        return _walked_members(value, name, odd)
    if isinstance(value, (list, tuple, collections.deque)):
        return [_walk(item, f"{name}[{n}]", odd) for n, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return sorted((_walk(item, f"an item of {name}", odd) for item in value), key=_json)
    if isinstance(value, (datetime.date, datetime.time)):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(value, (decimal.Decimal, uuid.UUID, PurePath)):
        return _walk(str(value), name, odd)
    if isinstance(value, bytes):
        with contextlib.suppress(UnicodeDecodeError):
            return value.decode("utf-8")
        return odd(value, name, "holds bytes that are not UTF-8")
    return _walked_object(value, name, odd)


def _walked_members(value: Mapping[Any, Any], name: str, odd: _Odd) -> Any:
    members: Dict[str, Any] = {}
    for key, item in value.items():
        plain = _walk(key, f"a key of {name}", odd)
        text = plain if isinstance(plain, str) else _json(plain).decode("utf-8")
        if text in members:
            return odd(value, name, f"has two keys {text}")
        members[text] = _walk(item, f"{name}.{text}", odd)
    return members


def _walked_object(value: Any, name: str, odd: _Odd) -> Any:
    serializer = getattr(type(value), "__pydantic_serializer__", None)
    core = sys.modules.get("pydantic_core")
    try:
        if serializer:
            plain = serializer.to_python(value, mode="json", by_alias=True)
            return _walk(_sorted(serializer.to_python(value, by_alias=True), plain), name, odd)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: _walk(getattr(value, field.name), f"{name}.{field.name}", odd) for field in dataclasses.fields(value)}
        if core and not isinstance(value, collections.abc.Iterator):
            return _walk(core.to_jsonable_python(value), name, odd)
    except (InputError, RecursionError):
        raise
    except Exception as error:
        return odd(value, name, f"is a {type(value).__name__} that cannot be made JSON: {_text(str(error), 200)}")
    return odd(value, name, f"is a {type(value).__name__}, which JSON does not have")


def _sorted(value: Any, plain: Any) -> Any:
    """The JSON of a value, with the items of its sets in order."""
    if isinstance(plain, list) and isinstance(value, (set, frozenset)):
        return sorted(plain, key=_json)
    if isinstance(plain, list) and isinstance(value, (list, tuple)) and len(plain) == len(value):
        return [_sorted(*pair) for pair in zip(value, plain)]
    if isinstance(plain, dict) and isinstance(value, dict) and len(plain) == len(value):
        return {key: _sorted(item, plain[key]) for item, key in zip(value.values(), plain)}
    return plain


def _restored(hint: Any, plain: Any) -> Any:
    """JSON as its annotation reads it, where that is a type that JSON does not have. All else stays as it is."""
    origin, inner = get_origin(hint), get_args(hint)
    if hasattr(hint, "__metadata__"):  # Annotated
        return _restored(hint.__origin__, plain)
    if inner and (origin is Union or type(hint).__name__ == "UnionType"):
        some = [each for each in inner if each is not type(None)]
        if len(some) == 1:
            return _restored(some[0], plain)
        for each in some:
            with contextlib.suppress(Exception):
                restored = _restored(each, plain)
                if restored is not plain and _is_json_of(plain, restored):
                    return restored
        return plain
    kind = origin or hint
    if not isinstance(kind, type) or plain is None:
        return plain
    if isinstance(plain, dict):
        if issubclass(kind, collections.abc.Mapping) and len(inner) == 2:
            return {_restored(inner[0], name): _restored(inner[1], item) for name, item in plain.items()}
        if hasattr(kind, "model_validate"):
            return kind.model_validate(plain)
        if dataclasses.is_dataclass(kind):
            hints = _hints(kind)
            return kind(**{name: _restored(hints.get(name), item) for name, item in plain.items()})
    if isinstance(plain, list):
        named = getattr(kind, "_make", None) if issubclass(kind, tuple) else None
        fixed = tuple(_hints(kind).values()) if named else inner if kind is tuple and inner[1:] != (...,) else inner[:1] * len(plain)
        items = [_restored(*pair) for pair in zip(fixed, plain)] if len(fixed) == len(plain) else plain
        if named:
            return named(items)
        return kind(items) if issubclass(kind, (tuple, set, frozenset, collections.deque)) else items
    return _restored_scalar(kind, plain)


def _restored_scalar(kind: Any, plain: Any) -> Any:
    if issubclass(kind, enum.Enum):
        return kind(plain)
    if issubclass(kind, decimal.Decimal):
        return kind(str(plain))
    if not isinstance(plain, str):
        return plain
    if issubclass(kind, (datetime.date, datetime.time)):
        return kind.fromisoformat(plain[:-1] + "+00:00" if plain.endswith("Z") else plain)
    if issubclass(kind, (uuid.UUID, PurePath)):
        return kind(plain)
    return plain.encode("utf-8") if issubclass(kind, bytes) else plain


def _kept(given: Any, asked: Any, edited: Any, masked: Optional[List[Any]] = None) -> Any:
    """Edited JSON in which every part that was not edited is the object that was given. `asked`: the JSON of what was given.

    The members of a model are under the names of its fields, not their aliases. `masked`: the objects and lists with a masked secret
    in all of what was asked. Raises `InputError` for an edit that moves or copies one.
    """
    if _json(asked) == _json(edited):
        return given
    masked = _with_mask(asked) if masked is None else masked
    if masked and isinstance(edited, (dict, list)) and _MASK in _json(edited):
        own = _likeness(asked, edited)
        if any(part is not asked and (part == edited or _likeness(part, edited) > own) for part in masked):
            raise InputError(_MOVED)
    if isinstance(edited, dict) and isinstance(asked, dict):
        mixed, parts = {}, _parts(given)
        for name, item in edited.items():
            if name in parts and name in asked:
                own_name, part = parts[name]
                mixed[own_name] = _kept(part, asked[name], item, masked)
            else:
                mixed.update(_unmasked({name: item}, masked))
        return mixed
    if isinstance(edited, list) and isinstance(given, (list, tuple)) and len(edited) == len(given):
        return [_kept(*items, masked) for items in zip(given, asked, edited)]
    return _unmasked(edited, masked)


def _unmasked(edited: Any, masked: List[Any]) -> Any:
    """Edited JSON that no given object corresponds to."""
    if masked and _MASK in _json(edited):
        raise InputError(_MOVED)
    return edited


def _with_mask(plain: Any) -> List[Any]:
    """Returns every object and list in JSON that holds a masked secret."""
    if not isinstance(plain, (dict, list)) or _MASK not in _json(plain):
        return []
    items = plain.values() if isinstance(plain, dict) else plain
    return [plain, *(part for item in items for part in _with_mask(item))]


def _likeness(one: Any, other: Any) -> int:
    """Returns how many values two JSON values have in the same places."""
    if isinstance(one, dict) and isinstance(other, dict):
        return sum(_likeness(item, other[name]) for name, item in one.items() if name in other)
    if isinstance(one, list) and isinstance(other, list):
        return sum(map(_likeness, one, other))
    return int(one == other)


def _parts(given: Any) -> Dict[str, Tuple[str, Any]]:
    """The members of a value by the names in its JSON: their own names, and what they are."""
    if isinstance(given, collections.abc.Mapping):
        return {name: (name, item) for name, item in given.items() if isinstance(name, str)}
    fields = getattr(type(given), "model_fields", None) or {}
    if dataclasses.is_dataclass(given):
        return {field.name: (field.name, getattr(given, field.name)) for field in dataclasses.fields(given)}
    return {field.serialization_alias or field.alias or name: (name, getattr(given, name)) for name, field in fields.items()}


def _hints(function: Any) -> Dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that is defined nowhere
        return {}


def _unwrapped(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _reportable(result: Any) -> Any:
    """What is reported of a result, whatever it is: its JSON, with words in place of each part that is not JSON.

    One that is too large, or nested too deeply, becomes a sentence. Never raises, so that a call that ran is recorded as run.
    """
    try:
        plain = _walk(result, "result", _described)
        size = len(_json(plain))
    except RecursionError:
        return "The result is nested too deeply to be kept, or holds itself."
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"The result cannot be kept: {type(error).__name__}."
    return plain if size <= _RESULT_MAX else f"The result has {size:,} bytes; at most {_RESULT_MAX:,} are kept."


def _described(value: Any, name: str, why: str) -> str:
    try:
        lazy = isinstance(value, (collections.abc.Iterator, collections.abc.AsyncIterator)) or inspect.isawaitable(value)
        if lazy or getattr(type(value), "__repr__", None) is object.__repr__:
            return f"{_text(name, 200)} is not kept: a {type(value).__name__} is not JSON."
        return _text(value if isinstance(value, str) else repr(value), _RESULT_MAX)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"a {type(value).__name__} whose repr raised {type(error).__name__}"


def _text(text: str, most: Optional[int] = None) -> str:
    """Text without lone surrogates, of so many characters at most."""
    if most is not None and len(text) > most:
        text = f"{text[: most - 2]} …"
    return text.encode("utf-8", "replace").decode("utf-8")


def _failure(error: BaseException) -> str:
    return _text("".join(traceback.format_exception_only(type(error), error)).strip(), _ERROR_MAX)


class _Items:
    """What an iterator yields: the first items, as many as one result can hold."""

    def __init__(self) -> None:
        self.kept: List[Any] = []
        self._left = _RESULT_MAX - 1000

    def add(self, item: Any) -> None:
        if self._left > 0:
            self._left -= _size(item)
            self.kept.append(item if self._left > 0 else f"The rest is not kept: a result has at most {_RESULT_MAX:,} bytes.")


def _size(item: Any) -> int:
    """Bytes of an item in its list's JSON."""
    try:
        return len(_json(_walk(item, "result", _described))) + 2
    except KeyboardInterrupt:
        raise
    except BaseException:  # `_reportable` says why
        return 2


def _listed(iterator: Iterator[Any]) -> List[Any]:
    items = _Items()
    for item in iterator:
        items.add(item)
    return items.kept


async def _alisted(iterator: AsyncIterator[Any]) -> List[Any]:
    items = _Items()
    async for item in iterator:
        items.add(item)
    return items.kept


def _to_its_end(result: Any) -> Any:
    """Runs what a function returned to its end: a coroutine, a future, an iterator, or one of these out of another."""
    while True:
        if isinstance(result, concurrent.futures.Future):
            result = result.result()
        elif asyncio.isfuture(result):
            result = _of_future(result)
        elif inspect.isawaitable(result) or isinstance(result, collections.abc.AsyncIterator):
            result = asyncio.run(_awaited(result))
        elif _is_iterator(result):
            result = _listed(result)
        else:
            return result


def _of_future(future: "asyncio.Future[Any]") -> Any:
    loop = future.get_loop()
    if loop.is_running():
        return asyncio.run_coroutine_threadsafe(_awaited(future), loop).result()
    if future.done() or isinstance(future, asyncio.Task):
        return loop.run_until_complete(future)
    raise RuntimeError("it returned a future that no running event loop can complete")


async def _awaited(result: Any) -> Any:
    """Awaits what a function returned, and what comes of that, until it is a value. Runs an iterator to its end, too."""
    while True:
        if inspect.isawaitable(result):
            result = await result
        elif isinstance(result, concurrent.futures.Future):
            result = await asyncio.wrap_future(result)
        elif isinstance(result, collections.abc.AsyncIterator):
            result = await _alisted(result)
        elif _is_iterator(result):
            result = _listed(result)
        else:
            return result


def _is_iterator(result: Any) -> bool:
    """A file has been opened and a database's cursor has executed: they are results themselves."""
    opened = isinstance(result, io.IOBase) or hasattr(result, "fetchone")
    return isinstance(result, collections.abc.Iterator) and not opened


def _is_pending(result: Any) -> bool:
    """A future whose outcome is not there."""
    return (isinstance(result, concurrent.futures.Future) or asyncio.isfuture(result)) and not result.done()


def _unrun(result: Any) -> Optional[str]:
    """Says of what a function returned that it is work which did not begin. A part of a result is not: the function ran."""
    kind = None
    with contextlib.suppress(Exception):  # of an object's own code
        kind = _not_begun(result)
    a = "an" if kind and kind[0] in "aeiouAEIOU" else "a"
    return f"It did not run: it returned {a} {kind}, which nobody awaited or iterated." if kind else None


def _not_begun(value: Any) -> Optional[str]:
    """Names the kind of a value that stands for work which did not begin. Closes a coroutine."""
    kind = type(value).__name__.replace("async_generator", "async generator")
    if isinstance(value, type) or asyncio.isfuture(value):
        return None
    if inspect.iscoroutine(value):
        is_new = inspect.getcoroutinestate(value) == inspect.CORO_CREATED
        if is_new:
            value.close()
    elif inspect.isgenerator(value):
        is_new = inspect.getgeneratorstate(value) == inspect.GEN_CREATED
    elif inspect.isasyncgen(value):
        is_new = _is_new_async_generator(value)
    elif isinstance(value, (contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager)) and hasattr(value, "gen"):
        kind, is_new = "context manager", _not_begun(value.gen) is not None
    else:  # any other does not say whether it began
        is_new = _is_iterator(value) or isinstance(value, collections.abc.AsyncIterator) or inspect.isawaitable(value)
    return kind if is_new else None


def _is_new_async_generator(result: Any) -> bool:
    if result.ag_frame is None:
        return False
    if sys.version_info >= (3, 12):
        return inspect.getasyncgenstate(result) == inspect.AGEN_CREATED
    at = result.ag_frame.f_lasti
    return bool(at < 0 or result.ag_code.co_code[at] == dis.opmap.get("RETURN_GENERATOR"))


def _told(edited: Optional[ToolInput], result: Any) -> Any:
    """A result for the model, after what a reviewer made of the call."""
    if edited is None:
        return result
    text = result if isinstance(result, str) else _json(_reportable(result)).decode("utf-8")
    return f"A human changed this call before it ran. It ran with: {_json(edited).decode('utf-8')}\n\n{text}"


@functools.lru_cache(maxsize=1)
def _session_of(process: int) -> str:
    """The session of calls whose framework names none: one a process, also after a fork."""
    return str(uuid.uuid4())


def _ids(**ids: Optional[str]) -> Dict[str, Optional[str]]:
    """Ids as the gate takes them. Raises `InputError` for one that it does not take."""
    for name, value in ids.items():
        if not isinstance(value, (str, type(None))):
            raise InputError(f"{_spoken(name)} is a {type(value).__name__}; pass text")
        if value and "\0" in value:
            raise InputError(f"{_spoken(name)} holds the character U+0000; pass an id without it")
    return {name: value if value is None else _id(value) for name, value in ids.items()}


def _id(own: str) -> str:
    """An id, or where it is too long, its hash. The same as at every other door of placet."""
    own = _text(own)
    return own if len(own) <= _ID_MAX else f"sha256:{hashlib.sha256(own.encode('utf-8')).hexdigest()}"


def _call_key(agent: str, session: str, call_id: str, tool_name: str, tool_input: str) -> str:
    """The same call of the same agent has the same key. The same bytes as every other door of placet."""
    session, call_id = _id(session), _id(call_id)
    label = b"placet-call/v1"
    digest = hashlib.sha256(len(label).to_bytes(8, "big") + label)
    for field in (agent, session, call_id, tool_name, tool_input):
        text = field.encode("utf-8")
        digest.update((len(text) + 1).to_bytes(8, "big") + b"\x01" + text)
    return f"sha256:{digest.hexdigest()}"


def _text_of(answer: Mapping[str, Any], name: str) -> str:
    """Raises an error that `_expected` knows where a member is no text."""
    text = answer[name]
    if not (isinstance(text, str) and text):
        raise LookupError(f"{name} is not text")
    return text


def _decided(found: Dict[str, Any]) -> Decided:
    """Raises an error that `_expected` knows where an answer has another form."""
    said = found.get("toolResult")
    if not all(isinstance(text, str) for text in (found["id"], found["status"], "" if said is None else said["content"])):
        raise LookupError("an id, a status or a tool's result is not text")
    return Decided(
        id=found["id"],
        status=found["status"],
        resolved_by=found.get("resolvedBy"),
        reason=found.get("reason"),
        edited=found.get("userEdits") is not None,
        effective_input=found.get("effectiveInput"),
        result=found.get("result"),
        error=found.get("error"),
        tool_result=said,
    )


def _refused(decided: Decided) -> Refused:
    """Why a call does not run that is not approved."""
    said = decided.tool_result["content"] if decided.tool_result else ""
    if decided.status == "executed":
        return AlreadyRan(decided, f"This call ran already and was not run again. Its result: {said}")
    sentences = {
        "failed": f"This call ran already and failed: {said}",
        "unknown": "This call was started before and nobody knows whether it ran. It was not run again. Ask a human to check it.",
    }
    return Refused(decided, sentences.get(decided.status))


def _refusal(status: int, answer: Any) -> GateError:
    said = answer.get("error") if isinstance(answer, dict) else None
    code, message = (said.get("code"), said.get("message")) if isinstance(said, dict) else (None, None)
    code = code if isinstance(code, str) and code else f"HTTP_{status}"
    return GateError(code, message if isinstance(message, str) and message else f"the answer was HTTP {status}", status)


def _find(url: Optional[str], token: Optional[str], token_file: Union[str, Path, None]) -> _Places:
    """The gate's addresses and a token for it."""
    if not token and not token_file:
        token, token_file = os.environ.get("PLACET_TOKEN"), os.environ.get("PLACET_TOKEN_FILE")
    if not url:
        note = _note()
        url, token_file = note["url"], token_file or note["agentTokenFile"]
    places = [_place(one) for one in url.replace(",", " ").split()]
    if not places:
        raise GateError("NO_GATE", "PLACET_URL names no URL")
    if not token:
        if not token_file:  # and never that of this machine's gate: the URL may name any other
            raise GateError("NO_TOKEN", "no token for this URL; pass token_file, or set PLACET_TOKEN_FILE")
        token = _read_token(Path(token_file))
    token = token.strip()
    if not (token.isascii() and token.isprintable() and token):
        raise GateError("NO_TOKEN", "the token is empty, or no token")
    return _Places([place._replace(token=token) for place in places])


def _place(url: str) -> _Place:
    """Where a URL leads, without a token yet."""
    with contextlib.suppress(ValueError):  # a port that is none
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and not set(url) & set("@?#") and url.isascii() and url.isprintable():
            if parts.scheme == "http" and not _is_this_machine(parts.hostname):
                raise GateError("INSECURE", f"http:// would show the token to anyone on the way to {parts.hostname}; use https://")
            return _Place(url, "", parts.scheme == "https", parts.hostname, parts.port, parts.path.rstrip("/"))
    raise GateError("NO_GATE", "the gate's address is http(s)://HOST[:PORT], without a name, password, query or fragment in it")


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):  # a name
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    return False


def _note() -> Dict[str, str]:
    """Where the gate is that placet serves on this machine."""
    state = os.environ.get("PLACET_STATE_DIR")
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = (Path(state) if state else Path(base) / "placet") / "gate.json"
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return {name: str(note[name]) for name in ("url", "agentTokenFile")}
    except (OSError, ValueError, LookupError, TypeError) as error:
        message = f"No gate on this machine. Start `placet`, or set PLACET_URL. ({path} cannot be read)"
        raise GateError("NO_GATE", message) from error


def _read_token(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise GateError("NO_TOKEN", f"the token file {path} can be read by others; run: chmod 600 {path}")
            return file.read()
    except (OSError, ValueError) as error:
        raise GateError("NO_TOKEN", f"cannot read the token file {path}: {error}") from error
