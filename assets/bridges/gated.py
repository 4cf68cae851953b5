"""The agent's side of placet's gate: a write that a function would do waits until a human approved it.

    from gated import Gate

    gate = Gate()

    @gate.gated(lambda tool_input: {"to": tool_input["to"]}, risk="high")
    def refund(to: str, cents: int) -> str: ...

    signal = refund("ilka@example.com", cents=12990)    # {"status": "queued", ...}; nothing ran
    decided = gate.wait(signal)                         # a human decided, and a worker ran it

    gate.run_worker()                                   # somewhere else, in a thread or a process of its own

One file, standard library only, Python 3.9 or newer: copy it beside your agent.

What was approved is what runs. A call is recorded with every argument by its name, defaults too, and the worker calls the function
with the input as the gate gives it back: the reviewer's edits in it, and read from JSON (a tuple comes back as a list). Numbers are
Python's own: integers are exact, ``1.10`` is the float 1.1. The exact bytes stand in the gate; pass money as cents or as text.

The token goes to the gate and nowhere else: no redirect is followed and no proxy is asked, whatever the environment says.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import logging
import os
import ssl
import threading
import time
import traceback
import uuid
from contextvars import ContextVar
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Dict, Iterator, List, Literal, Mapping, Optional, Tuple
from typing import Type, TypedDict, TypeVar, Union, cast
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


__all__ = ["Decided", "Declined", "Gate", "GateError", "Queued", "ToolResult", "idempotency_key"]

log = logging.getLogger("placet.gated")

#: In a function that the worker runs: a key for the system it writes to, the same in every run of one approval.
idempotency_key: ContextVar[str] = ContextVar("idempotency_key")

ToolInput = Dict[str, Any]

_ACTIONS = "/api/pending-actions"
#: Seconds one request waits for a decision; the gate allows a minute.
_POLL = 30.0
#: Seconds a worker goes on trying to report what it did. Giving up leaves the action to a human, as `unknown`.
_REPORT = 300.0
#: Seconds between two tries: the first pause doubles up to the last.
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 5.0


class Queued(TypedDict):
    """The queued signal: the call did not run."""

    status: str
    pending_action_id: str
    tool_name: str
    message: str


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
    #: that ended. With `until="decided"` also `approved`.
    status: str
    resolved_by: Optional[str]
    #: The reviewer's words.
    reason: Optional[str]
    #: The input after the reviewer's edits; `None` without edits.
    effective_input: Optional[ToolInput]
    #: What the function returned.
    result: Any
    #: Why it failed.
    error: Optional[str]
    #: `None` as long as something more may happen.
    tool_result: Optional[ToolResult]


class GateError(Exception):
    """The gate refused a request or cannot be reached.

    `code` is the gate's own (`FORBIDDEN`, `INVALID`, ...) with its HTTP `status`, or one of ours with status 0: `UNREACHABLE`,
    `UNTRUSTED` (its certificate), `BAD_ANSWER`, `NO_GATE`, `NO_TOKEN`. A redirect is `REDIRECTED`.
    """

    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(code, message, status)
        self.code, self.message, self.status = code, message, status

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def passing(self) -> bool:
        """The same request may succeed in a moment: the gate is away, closing, or behind a proxy that lost it."""
        return self.code == "UNREACHABLE" or self.status in (408, 502, 503, 504)


class Declined(Exception):
    """`Gate.call` has nothing to return: the call was rejected or never decided, or it failed. `decided` says which."""

    def __init__(self, decided: Decided) -> None:
        super().__init__(decided)
        self.decided = decided

    def __str__(self) -> str:
        said = self.decided.tool_result
        return said["content"] if said else self.decided.status


class Gate:
    """One gate, with one token.

    `url`, and `token` or `token_file` (readable by you alone); else PLACET_URL, and PLACET_TOKEN or PLACET_TOKEN_FILE; without a
    URL the gate that placet serves on this machine, with its agent's token. `workspace` is by default the token's, `agent` is the
    name shown to reviewers. `timeout`: seconds that one request may take, and for which a gate that is away is tried again.

    It may be used by many threads. Gate what you want before they start. Raises `GateError` when there is no gate or no token.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        token_file: Union[str, Path, None] = None,
        workspace: Optional[str] = None,
        agent: Optional[str] = None,
        timeout: float = 30.0,
    ) -> None:
        self.url, self._token = _find(url, token, token_file)
        self._connection, self._host, self._port, self._base = _address(self.url)
        self._workspace = workspace
        self._agent = agent
        self._timeout = timeout
        self._tools: Dict[str, _Tool] = {}

    @property
    def workspace(self) -> str:
        """The workspace of calls that name none in their input."""
        if self._workspace is None:
            self._workspace = str(self._ask("GET", "/api/workspaces")["items"][0]["id"])
        return self._workspace

    # ---- the agent ----------------------------------------------------------------------------------------------------------

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

        A call takes the function's arguments, which must be JSON, and returns the queued signal; of an `async def`, a coroutine
        that does. `workspace_id`, `mission_id` and `session_id` among the arguments say whose action it is. It raises `TypeError`
        or `ValueError` for arguments that do not fit, and `GateError` when the gate does not take the call; then nothing is
        recorded; but with UNREACHABLE nobody knows: it may stand in the inbox.

        The function itself is `wrapper.__original__`.
        """
        options = {"risk": risk, "effect": effect, "summary": summary, "ttlSeconds": ttl_seconds}

        def decorate(function: Callable[..., Any]) -> Any:
            tool = _Tool(tool_name or function.__name__, function, preview_fn, before, options)
            if tool.name in self._tools:
                raise ValueError(f"two functions are called {tool.name}; give one of them a tool_name")
            self._tools[tool.name] = tool

            def now(*args: Any, **kwargs: Any) -> Queued:
                return self.propose(tool.name, tool.named(args, kwargs))

            async def later(*args: Any, **kwargs: Any) -> Queued:
                return await asyncio.to_thread(now, *args, **kwargs)

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
        tool = self._tools.get(tool_name)
        if tool:
            tool_input = tool.named((), tool_input)
        said = {name: value for name, value in tool_input.items() if isinstance(value, str)}.get
        proposal = {
            "toolName": tool_name,
            "toolInput": tool_input,
            "workspaceId": said("workspace_id") or self.workspace,
            "missionId": mission_id or said("mission_id"),
            "sessionId": session_id or said("session_id"),
            "toolCallId": tool_call_id,
            "agent": self._agent,
            "preview": tool.preview_of(tool_input) if tool else None,
            "before": tool.before_of(tool_input) if tool else None,
            **(tool.options if tool else {}),
        }
        proposal = {name: value for name, value in proposal.items() if value is not None}
        # The key stays the same when the answer is lost and the request sent again: one call, one action.
        return cast(Queued, self._ask("POST", _ACTIONS, proposal, key=str(uuid.uuid4())))

    def wait(
        self,
        action: Union[str, Mapping[str, Any]],
        timeout: Optional[float] = None,
        until: Literal["decided", "final"] = "final",
    ) -> Decided:
        """Waits for what becomes of an action, given by its id or its queued signal, through restarts of the gate.

        `until`: `final`, when nothing more will happen, or `decided`, which may be `approved`. A rejection is an answer like
        any other. `timeout`: seconds; without one it waits for ever. Raises `TimeoutError` when nobody decided by then, and
        `GateError` when the gate refuses or is away at that time. In a coroutine: `await asyncio.to_thread(gate.wait, signal)`.
        """
        action_id = action if isinstance(action, str) else str(action["pending_action_id"])
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            poll = min(left, _POLL)
            path = f"{_path(action_id)}?until={until}&wait={int(poll * 1000)}ms"
            found = self._ask("GET", path, limit=poll + self._timeout, patience=left)
            settled = "toolResult" in found or (until == "decided" and found["status"] != "pending")
            if settled:
                return _decided(found)
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{action_id} is still {found['status']}")
            time.sleep(_FIRST_PAUSE)  # a gate that is closing answers at once, again and again

    def call(self, tool: Wrapper[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls a gated function and waits, as long as it takes, for its result. Raises `Declined` when there is none.

        A worker must be running elsewhere, in another thread at least.
        """
        named = self._tools[tool.__tool_name__].named(args, kwargs)
        decided = self.wait(self.propose(tool.__tool_name__, named))
        if decided.status != "executed":
            raise Declined(decided)
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
            for action_id in self._approved(tool.name):
                claim = self._claim(action_id, lease_seconds)
                if claim:
                    self._report(action_id, {"fence": claim["fence"], **tool.run(claim)})
                    yield action_id

    def _approved(self, tool_name: str) -> List[str]:
        """Ids of approved actions that nobody runs yet, oldest first."""
        found: List[str] = []
        query = f"{_ACTIONS}?status=approved&claimable=true&view=row&tool_name={quote(tool_name, safe='')}"
        cursor: Optional[str] = ""
        while cursor is not None:
            page = self._ask("GET", f"{query}&cursor={quote(cursor)}" if cursor else query, patience=0)
            found += [str(row["id"]) for row in page["items"]]
            cursor = page.get("nextCursor")
        return found[::-1]

    def _claim(self, action_id: str, lease_seconds: Optional[int]) -> Optional[Dict[str, Any]]:
        wanted = {} if lease_seconds is None else {"leaseSeconds": lease_seconds}
        try:
            # Under a key: where the answer was lost, the same work comes again, and nobody else gets it meanwhile.
            return self._ask("POST", f"{_path(action_id)}/claim", wanted, key=str(uuid.uuid4()))
        except GateError as error:
            if not error.status:
                raise
            # 409: another worker has it, or the gate is paused.
            log.log(logging.DEBUG if error.status == 409 else logging.WARNING, "cannot claim %s: %s", action_id, error)
            return None

    def _report(self, action_id: str, outcome: Dict[str, Any], whole: bool = True) -> None:
        try:
            self._ask("POST", f"{_path(action_id)}/result", outcome, patience=_REPORT)
        except GateError as error:
            if whole and "result" in outcome and error.status in (400, 413, 422):
                # It ran, and that must be known, even where its result is too much for the gate.
                return self._report(action_id, {**outcome, "result": f"The gate did not keep it: {error.message}"}, False)
            # STALE_FENCE: the lease ran out, and somebody else may have taken it.
            log.warning("%s ran here, but the gate does not take the report: %s", action_id, error)

    # ---- HTTP ---------------------------------------------------------------------------------------------------------------

    def _ask(
        self,
        method: str,
        path: str,
        body: Optional[Dict[str, Any]] = None,
        *,
        key: Optional[str] = None,
        limit: Optional[float] = None,
        patience: Optional[float] = None,
    ) -> Dict[str, Any]:
        """One request, and its answer. A gate that is away is tried again for `patience` seconds; 0: never."""
        data = None if body is None else _json(body)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        deadline = time.monotonic() + (self._timeout if patience is None else patience)
        pause = _FIRST_PAUSE
        while True:
            try:
                return self._send(method, path, data, headers, self._timeout if limit is None else limit)
            except GateError as error:
                if not error.passing or time.monotonic() + pause >= deadline:
                    raise
                log.info("%s; trying again", error)
            time.sleep(pause)
            pause = min(pause * 2, _LAST_PAUSE)

    def _send(
        self, method: str, path: str, data: Optional[bytes], headers: Dict[str, str], limit: float
    ) -> Dict[str, Any]:
        # Of http.client, because it follows no redirects and knows no proxies.
        connection = self._connection(self._host, self._port, timeout=limit)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused in mid-body: the answer says why
                connection.request(method, self._base + path, data, headers)
            response = connection.getresponse()
            status, text = response.status, response.read()
        except ssl.SSLCertVerificationError as error:
            raise GateError("UNTRUSTED", f"the certificate of {self._host} is not good: {error.verify_message}") from error
        except (OSError, HTTPException) as error:
            raise GateError("UNREACHABLE", f"the gate at {self.url} does not answer: {error!r}") from error
        finally:
            connection.close()
        if 300 <= status < 400:
            raise GateError("REDIRECTED", f"{self.url} answers with a redirect; the token is not sent elsewhere", status)
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if status >= 400:
            raise _refusal(status, answer)
        if not isinstance(answer, dict):
            raise GateError("BAD_ANSWER", f"what answers at {self.url} is no gate")
        return answer


class _Tool:
    """A gated function and what is known of it."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        preview: Optional[Callable[[ToolInput], Any]],
        before: Optional[Callable[[ToolInput], Any]],
        options: Dict[str, Any],
    ) -> None:
        self.name, self.options = name, options
        self._function, self._preview, self._before = function, preview, before
        self._signature = inspect.signature(function)
        self._rest: Optional[str] = None
        for parameter in self._signature.parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise TypeError(f"{name} cannot be gated: its argument {parameter.name} has no name to be shown and edited by")
            if parameter.kind is parameter.VAR_KEYWORD:
                self._rest = parameter.name

    def named(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> ToolInput:
        """Every argument by its name: what the reviewer sees is all that the function gets."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        tool_input = dict(bound.arguments)
        if self._rest:
            tool_input.update(tool_input.pop(self._rest))
        return tool_input

    def preview_of(self, tool_input: ToolInput) -> Any:
        return self._said("preview", self._preview, tool_input)

    def before_of(self, tool_input: ToolInput) -> Any:
        return self._said("state before", self._before, tool_input)

    def _said(self, what: str, tell: Optional[Callable[[ToolInput], Any]], tool_input: ToolInput) -> Any:
        shown = json.loads(_json(tool_input))  # a copy, as the function will get it; its errors are the caller's
        try:
            return json.loads(_json(tell(shown))) if tell else None
        except Exception:
            log.warning("%s has no %s", self.name, what, exc_info=True)
            return None

    def run(self, claim: Dict[str, Any]) -> Dict[str, Any]:
        """Runs the function with the input as it was approved; `{"result"}` or `{"error"}`."""
        key = idempotency_key.set(str(claim["idempotencyKey"]))
        try:
            result = self._function(**claim["toolInput"])
            if inspect.iscoroutine(result):
                result = asyncio.run(result)
            return {"result": _storable(result)}
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            log.warning("%s failed", self.name, exc_info=True)
            text = "".join(traceback.format_exception_only(type(error), error)).strip()
            return {"error": text.encode("utf-8", "replace").decode("utf-8")}
        finally:
            idempotency_key.reset(key)


def _path(action_id: str) -> str:
    return f"{_ACTIONS}/{quote(action_id, safe='')}"


def _json(value: Any) -> bytes:
    """Raises `TypeError` or `ValueError` for what is not JSON, as NaN is not."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _storable(result: Any) -> Any:
    try:
        _json(result)
        return result
    except (TypeError, ValueError, RecursionError):
        return repr(result)


def _decided(found: Dict[str, Any]) -> Decided:
    return Decided(
        id=found["id"],
        status=found["status"],
        resolved_by=found.get("resolvedBy"),
        reason=found.get("reason"),
        effective_input=found.get("effectiveInput"),
        result=found.get("result"),
        error=found.get("error"),
        tool_result=found.get("toolResult"),
    )


def _refusal(status: int, answer: Any) -> GateError:
    said = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(said, dict):
        return GateError(f"HTTP_{status}", f"the answer was HTTP {status}", status)
    return GateError(str(said.get("code")), str(said.get("message")), status)


def _find(url: Optional[str], token: Optional[str], token_file: Union[str, Path, None]) -> Tuple[str, str]:
    """The gate's address and a token for it."""
    url = url or os.environ.get("PLACET_URL")
    if not token and not token_file:
        token, token_file = os.environ.get("PLACET_TOKEN"), os.environ.get("PLACET_TOKEN_FILE")
    if not url:
        note = _note()
        url, token_file = str(note["url"]), token_file or note["agentTokenFile"]
    if not token:
        if not token_file:  # and never that of this machine's gate: the URL may name any other
            raise GateError("NO_TOKEN", f"no token for {url}; pass token_file, or set PLACET_TOKEN_FILE")
        token = _read_token(Path(token_file))
    token = token.strip()
    if not (token.isascii() and token.isprintable() and token):
        raise GateError("NO_TOKEN", "the token is empty, or no token")
    return url, token


def _address(url: str) -> Tuple[Type[HTTPConnection], str, Optional[int], str]:
    """How to connect, host, port, and what stands before every path."""
    with contextlib.suppress(ValueError):  # a port that is none
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            return kind, parts.hostname, parts.port, parts.path.rstrip("/")
    raise GateError("NO_GATE", "the gate's address is http(s)://HOST[:PORT], without a name or password in it")


def _note() -> Dict[str, Any]:
    """Where the gate is that placet serves on this machine."""
    state = os.environ.get("PLACET_STATE_DIR")
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = (Path(state) if state else Path(base) / "placet") / "gate.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise GateError("NO_GATE", f"no gate: start placet, or set PLACET_URL ({path} cannot be read)") from error


def _read_token(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise GateError("NO_TOKEN", f"the token file {path} can be read by others; run: chmod 600 {path}")
            return file.read()
    except (OSError, ValueError) as error:
        raise GateError("NO_TOKEN", f"cannot read the token file {path}: {error}") from error
