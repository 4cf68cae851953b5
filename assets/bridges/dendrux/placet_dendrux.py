"""What placet's inbox needs of dendrux agents, over HTTP: one call for all that waits, decisions, and word of changes.

Mounted in the application that owns the agent:

    from placet_dendrux import Bridge, bearer

    agent = Agent(..., require_approval=["refund"], database_url=DATABASE)
    bridge = Bridge(agent, store=RunStore.from_database_url(DATABASE), authorize=bearer(TOKEN))
    app.include_router(bridge.router, prefix="/dendrux")

or beside it, as a process of its own that builds the agent once more and works on the same database:

    python placet_dendrux.py --agent mypkg.agents:build_agent --database-url sqlite+aiosqlite:///runs.db --token-file inbox.token

One file, Python 3.11 or newer, needs `dendrux[http]` (from 0.2.0a1 on; it looks for what that version can do): copy it.

A decision runs the agent's tools, so it is made where the agent is. A request is answered as soon as its decision is claimed: the
package lets exactly one claim of a pause win, in whichever process, and only the winner is told 202. The run goes on in the
background, through its tools and its model. Who decided is remembered here, in memory, and nowhere in the database: dendrux has no
place for it. What the reviewer is shown are the calls as the run recorded them when it paused; a decision names that pause, and
holds for no other.

Behind the same `authorize` as the package's own read router, which is mounted along with it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hmac
import importlib
import inspect
import json
import logging
import os
import re
import signal
import socket
import sys
import weakref
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import dendrux
import uvicorn
from dendrux import Agent
from dendrux.db.models import AgentRun, RunEvent
from dendrux.errors import (
    PauseStatusMismatchError,
    PersistenceNotConfiguredError,
    RunAlreadyClaimedError,
    RunAlreadyTerminalError,
    RunNotFoundError,
    RunNotPausedError,
)
from dendrux.http import make_read_router
from dendrux.store import RunStore
from dendrux.types import ToolResult
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, model_validator
from sqlalchemy import String, func, select, type_coerce

__all__ = ["Bridge", "bearer"]

log = logging.getLogger("placet.dendrux")

#: The version of what is said here over HTTP.
VERSION: Final = 1
#: What a person can answer.
APPROVAL, CLIENT_TOOL, HUMAN_INPUT = "waiting_approval", "waiting_client_tool", "waiting_human_input"
_WAITING = (APPROVAL, CLIENT_TOOL, HUMAN_INPUT)
_ENDED = ("success", "error", "cancelled", "max_iterations")
#: Seconds between two looks at the store while anybody listens, and between two signs of life to a listener.
_LOOK, _TICK = 0.5, 15.0
#: How many may listen.
_STREAMS = 64
#: How many runs are read with one query, of how many it is remembered who decided (and how many notes are), how often each.
_CHUNK, _RUNS_KEPT, _DECISIONS_KEPT = 200, 1000, 50
#: Seconds after which a claim that could not be seen is taken for made, if its run waits no more: one that lost says so long before.
_PATIENCE = 10.0

Json = dict[str, Any]
Submit = Coroutine[Any, Any, Any]


class Bridge:
    """Routes for one agent, or for `agents`: a run belongs to the agent of its name. Two agents of one name raise `ValueError`.

    `store` reads the database that the agents write; both stay yours to close. `authorize` is a dependency of FastAPI that raises
    for who may not decide; `bearer(token)` makes one. `drain`: seconds for which the end of the application waits for runs that
    go on after a decision. A run that takes longer is cut off, and dendrux then holds it for running until its `sweep`.
    """

    def __init__(
        self,
        agent: Agent | None = None,
        *,
        store: RunStore,
        authorize: Callable[..., Any],
        agents: Iterable[Agent] = (),
        drain: float = 30.0,
    ) -> None:
        self._agents: dict[str, Agent] = {}
        for each in ([] if agent is None else [agent]) + list(agents):
            if each.name in self._agents:
                raise ValueError(f"two agents are called {each.name}; runs carry no more than the name")
            self._agents[each.name] = each
        if not self._agents:
            raise ValueError("a bridge needs an agent: decisions run its tools")
        # Looked for, not told from the version: what counts is what can be called.
        submit = inspect.signature(Agent.submit_approval).parameters
        self._decision: Any = getattr(dendrux, "ApprovalDecision", None) if "decisions" in submit else None
        self._notes = hasattr(Agent, "submit_note")
        self._runs = _Runs(store, per_call=self._decision is not None)
        self._watch = _Watch(self._runs.briefing)
        self._drain = drain
        self._going: dict[asyncio.Task[Any], str] = {}
        self._decided: OrderedDict[str, list[Json]] = OrderedDict()
        #: Notes that were left, each with its run and pause.
        self._left: OrderedDict[tuple[str, int, str], None] = OrderedDict()
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

        @contextlib.asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[None]:
            yield
            await self.close()

        #: To be included under a prefix of your choosing.
        self.router = APIRouter(lifespan=lifespan)
        self.router.include_router(make_read_router(store=store, authorize=authorize))
        own = APIRouter(prefix="/placet", dependencies=[Depends(authorize)])
        own.get("")(self._report)
        own.get("/waiting")(self._waiting)
        own.get("/events")(self._events)
        own.get("/runs/{run_id}")(self._run)
        own.post("/runs/{run_id}/decide", status_code=202)(self._decide)
        own.post("/runs/{run_id}/results", status_code=202)(self._results)
        own.post("/runs/{run_id}/input", status_code=202)(self._input)
        self.router.include_router(own)

    def end_streams(self) -> None:
        """Ends what listens here, so that a server can end, too. It may listen again."""
        self._watch.end()

    async def close(self) -> None:
        """Ends streams, and waits for the runs that go on after a decision. The end of the application does this by itself."""
        self.end_streams()
        if self._going:
            log.info("waiting for %d runs that were decided", len(self._going))
            await asyncio.wait(self._going, timeout=self._drain)
        for run_id in self._going.values():
            log.warning("run %s takes longer than %g s: it is cut off, and says that it is running", run_id, self._drain)

    # ---- what is read ---------------------------------------------------------------------------------------------------------

    async def _report(self) -> Json:
        decisions = self._decision is not None
        version = metadata.version("dendrux")
        return {"bridge": VERSION, "dendrux": version, "decisions": decisions, "notes": self._notes, "agents": list(self._agents)}

    async def _waiting(
        self, agent_name: str | None = None, tenant_id: str | None = None, run_id: Annotated[list[str] | None, Query()] = None
    ) -> Response:
        turns, broken = await self._runs.waiting()

        def wanted(run: _Turn | _Broken) -> bool:
            named = run_id is None or run.run_id in run_id
            return named and agent_name in (None, run.agent_name) and tenant_id in (None, run.tenant_id)

        texts = b",".join(turn.text for turn in turns if wanted(turn))
        failed = json.dumps([{"run_id": run.run_id, "error": run.error} for run in broken if wanted(run)])
        return Response(b'{"turns":[' + texts + b'],"broken":' + failed.encode() + b"}", media_type="application/json")

    async def _events(self) -> Response:
        if self._watch.full:
            raise _refusal(503, "busy", f"{_STREAMS} listen already")
        await self._watch.look()  # what cannot be read is an error, and no stream that says nothing
        quiet = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._watch.listen(), media_type="text/event-stream", headers=quiet)

    async def _run(self, run_id: str) -> Response:
        run = await self._runs.state(run_id)
        found = {"run_id": run_id, "status": run.status, "failure_reason": run.failure_reason, "updated_at": run.updated_at}
        return JSONResponse({**found, "decided": self._decided.get(run_id, [])})

    # ---- what is decided ------------------------------------------------------------------------------------------------------

    async def _decide(self, run_id: str, body: _Decision) -> Json:
        if body.decisions is not None and self._decision is None:
            raise _refusal(501, "not_supported", "this dendrux decides a turn as a whole: send approved, and no decisions")
        if body.note is not None and not self._notes:
            raise _refusal(501, "not_supported", "this dendrux takes no notes")

        async def submit(agent: Agent, turn: _Turn) -> Submit:
            gated = {call["id"] for call in turn.calls if call["gated"]}
            verdicts = body.decisions
            if verdicts is not None and verdicts.keys() != gated:
                raise _refusal(400, "bad_decisions", f"needs a decision for each of {sorted(gated)}, and for nothing else")
            if body.approved and self._decision is not None:
                # The same as approving the turn, but it names the calls: these run, or none.
                verdicts = {call_id: _Verdict(approved=True) for call_id in gated}
            if body.note is not None and (run_id, body.pause, body.note) not in self._left:
                # Before the decision: after it, the model may have been asked already. It stays where the decision then fails.
                try:
                    await agent.submit_note(run_id, body.note, metadata={"decided_by": body.decided_by})
                except ValueError as error:
                    raise _refusal(400, "bad_decisions", _plain(str(error))) from error
                self._left[run_id, body.pause, body.note] = None
                while len(self._left) > _RUNS_KEPT:
                    self._left.popitem(last=False)
            if verdicts is not None:
                made = {call_id: self._decision(approved=it.approved, reason=it.reason) for call_id, it in verdicts.items()}
                return agent.submit_approval(run_id, decisions=made)
            return agent.submit_approval(run_id, approved=bool(body.approved), rejection_reason=body.rejection_reason)

        try:
            return await self._submit(run_id, body.pause, APPROVAL, body.decided_by, submit)
        except HTTPException as refused:
            if body.note is None or (run_id, body.pause, body.note) not in self._left:
                raise
            said: Any = refused.detail
            message = f"{said['message']}; the comment was already left for the agent"
            raise _refusal(refused.status_code, said["code"], message) from refused

    async def _results(self, run_id: str, body: _Results) -> Json:
        async def submit(agent: Agent, turn: _Turn) -> Submit:
            names = {call["id"]: call["name"] for call in turn.calls}
            given = [result.call_id for result in body.results]
            if sorted(given) != sorted(names):
                raise _refusal(400, "bad_results", f"needs one result for each of {sorted(names)}, and for nothing else")
            results = [
                ToolResult(names[it.call_id], it.call_id, json.dumps(it.payload), it.success, it.error) for it in body.results
            ]
            return agent.submit_tool_results(run_id, results)

        return await self._submit(run_id, body.pause, CLIENT_TOOL, body.decided_by, submit)

    async def _input(self, run_id: str, body: _Input) -> Json:
        async def submit(agent: Agent, _: _Turn) -> Submit:
            return agent.submit_input(run_id, body.text)

        return await self._submit(run_id, body.pause, HUMAN_INPUT, body.decided_by, submit)

    async def _submit(
        self,
        run_id: str,
        pause: int,
        status: str,
        decided_by: str | None,
        submit: Callable[[Agent, _Turn], Awaitable[Submit]],
    ) -> Json:
        # One after the other: who comes second sees what the first one did. Against other processes the package's claim holds.
        async with self._locks.setdefault(run_id, asyncio.Lock()):
            turn = await self._runs.open(run_id, pause, status)
            agent = self._agents.get(turn.agent_name)
            if agent is None:
                known = ", ".join(self._agents)
                raise _refusal(501, "not_supported", f"no agent called {turn.agent_name!r} is here (but {known}); it cannot go on")
            submitted = _Submit(await submit(agent, turn))
            task = asyncio.create_task(submitted.run(), name=f"placet:{run_id}")
            self._going[task] = run_id
            task.add_done_callback(lambda done: self._going.pop(done, None))
            await self._claimed(task, submitted.claim, run_id, status, pause)
            entry: Json = {"pause": pause, "decided_by": decided_by, "at": _utc(datetime.now(UTC)), "error": None}
            self._remember(run_id, entry)
            task.add_done_callback(lambda done: _keep_failure(run_id, entry, done))
        return {"status": "submitted", "run_id": run_id, "pause": pause}

    async def _claimed(self, task: asyncio.Task[Any], claim: asyncio.Future[None], run_id: str, status: str, pause: int) -> None:
        """Waits until the decision is the one that counts. Raises what the package said where it is not."""
        while not (await asyncio.wait({task, claim}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED))[0]:
            if (await self._runs.state(run_id)).status not in _WAITING:
                return
        if claim.done() or task.cancelled() or (error := task.exception()) is None:
            return
        refused = _refused(error)
        if refused is None:
            state = await self._runs.state(run_id)
            same = state.pause == pause and state.status in _WAITING
            if isinstance(error, ValueError):
                code = "bad_decisions" if status == APPROVAL else "bad_results"
                moved = _refusal(409, "pause_moved", "the run has moved on; read again what it waits for")
                refused = _refusal(400, code, _plain(str(error))) if same else moved
            elif same:
                refused = _refusal(500, "failed", f"nothing was decided: {_words(error)}")
        if refused is not None:
            raise refused from error

    def _remember(self, run_id: str, entry: Json) -> None:
        kept = self._decided.setdefault(run_id, [])
        kept.append(entry)
        del kept[:-_DECISIONS_KEPT]
        self._decided.move_to_end(run_id)
        while len(self._decided) > _RUNS_KEPT:
            self._decided.popitem(last=False)


# ---- bodies of requests. What they do not know is refused: it would be dropped. ------------------------------------------------


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Verdict(_Body):
    approved: StrictBool
    reason: str | None = None


class _Decision(_Body):
    pause: StrictInt
    decisions: dict[str, _Verdict] | None = None
    approved: StrictBool | None = None
    rejection_reason: str | None = None
    decided_by: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> _Decision:
        if (self.decisions is None) == (self.approved is None):
            raise ValueError("send either decisions or approved")
        if self.rejection_reason is not None and self.approved is not False:
            raise ValueError("a rejection_reason goes with approved: false")
        return self


class _Result(_Body):
    call_id: str
    payload: Any = None
    success: StrictBool = True
    error: str | None = None


class _Results(_Body):
    pause: StrictInt
    results: list[_Result]
    decided_by: str | None = None


class _Input(_Body):
    pause: StrictInt
    text: str
    decided_by: str | None = None


# ---- reading the store --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Turn:
    """A run that waits, at one pause."""

    run_id: str
    agent_name: str
    tenant_id: str | None
    status: str
    pause: int
    calls: list[Json]
    #: As it is sent.
    text: bytes

    @property
    def pending(self) -> int:
        """How many answers it waits for."""
        if self.status == HUMAN_INPUT:
            return 1
        return sum(1 for call in self.calls if call["gated"] or self.status == CLIENT_TOOL)


@dataclass(frozen=True)
class _Broken:
    """A run that waits and cannot be shown."""

    run_id: str
    agent_name: str
    tenant_id: str | None
    error: str


@dataclass(frozen=True)
class _State:
    status: str
    #: Of its newest pause, open or not.
    pause: int | None
    failure_reason: str | None
    updated_at: str | None


class _Unreadable(Exception):
    """Why a run cannot be shown."""


#: Of a run, all that can tell one thing from the next. Numbers of events, because the oldest versions keep times in whole seconds.
_newest = select(func.max(RunEvent.sequence_index)).where(RunEvent.agent_run_id == AgentRun.id).correlate(AgentRun)


class _Runs:
    """What waits, from the tables themselves: the package's store knows no tenant, no metadata, and not what a run asked.

    Columns come as they are stored and are read here, row by row: one that is broken is one run's, and hides no other.
    """

    def __init__(self, store: RunStore, *, per_call: bool) -> None:
        state: Any = getattr(store, "_state", None)
        if not hasattr(state, "_session_factory"):
            raise TypeError("this store is in no SQL database; make it by RunStore.from_database_url or from_engine")
        self._store, self._state = store, state
        self._per_call = per_call
        self._ready = False
        self._read: dict[str, tuple[Any, _Turn]] = {}
        self._reading = asyncio.Lock()

    async def briefing(self) -> tuple[Any, Json]:
        """What changes when anything does, and how much waits."""
        turns, broken = await self.waiting()
        seen = ([(turn.run_id, turn.pause) for turn in turns], [run.run_id for run in broken])
        return seen, {"pending": sum(turn.pending for turn in turns), "turns": len(turns)}

    async def waiting(self) -> tuple[list[_Turn], list[_Broken]]:
        """Everything, newest first. What did not change is not read again."""
        columns = [AgentRun.id, AgentRun.agent_name, AgentRun.tenant_id, AgentRun.status, _text(AgentRun.updated_at)]
        listing = select(*columns, _newest.scalar_subquery()).where(AgentRun.status.in_(_WAITING))
        async with self._reading:
            listed = list(await self._rows(listing.order_by(AgentRun.created_at.desc(), AgentRun.id.desc())))
            versions = {row[0]: tuple(row[3:]) for row in listed}
            self._read = {key: kept for key, kept in self._read.items() if kept[0] == versions.get(key)}
            failed: dict[str, str] = {}
            for _ in range(2):  # a run may move on while it is read
                missing = [key for key in versions if key not in self._read]
                for start in range(0, len(missing), _CHUNK):
                    found, failed_now = await self._turns(missing[start : start + _CHUNK])
                    self._read.update({turn.run_id: (versions[turn.run_id], turn) for turn in found})
                    failed.update(failed_now)
            turns = [self._read[row[0]][1] for row in listed if row[0] in self._read]
            lost = [row for row in listed if row[0] not in self._read and row[0] in failed]
            return turns, [_Broken(row[0], row[1], row[2], failed[row[0]]) for row in lost]

    async def open(self, run_id: str, pause: int, status: str) -> _Turn:
        """The turn at that pause, which waits for that. Raises the refusal where it is no more, or cannot be read."""
        state = await self.state(run_id)
        if state.status in _ENDED:
            raise _refusal(409, "terminal", f"the run has ended: {state.status}")
        if state.status not in _WAITING:
            if state.pause == pause:
                raise _refusal(409, "claimed", f"somebody decided it a moment ago: the run is {state.status}")
            raise _refusal(409, "not_paused", f"the run is {state.status}")
        found, failed = await self._turns([run_id])
        if failed:
            raise _refusal(409, "pause_moved", f"the run cannot be read now: {failed[run_id]}")
        if not found or found[0].pause != pause:
            raise _refusal(409, "pause_moved", "the run has moved on; read again what it waits for")
        if found[0].status != status:
            raise _refusal(409, "mismatch", f"the run is {found[0].status}, and not {status}")
        return found[0]

    async def state(self, run_id: str) -> _State:
        """Raises the refusal for a run that is not there."""
        paused = _newest.where(RunEvent.event_type == "run.paused").scalar_subquery()
        columns = [AgentRun.status, paused, AgentRun.failure_reason, _text(AgentRun.updated_at)]
        for row in await self._rows(select(*columns).where(AgentRun.id == run_id)):
            return _State(row[0], row[1], row[2], _utc(row[3]))
        raise _refusal(404, "not_found", "there is no such run")

    async def _turns(self, run_ids: Sequence[str]) -> tuple[list[_Turn], dict[str, str]]:
        """Those that wait, and why others cannot be shown. What waits no more is in neither."""
        names = [AgentRun.id, AgentRun.agent_name, AgentRun.tenant_id, AgentRun.parent_run_id, AgentRun.status]
        texts = [_text(it) for it in (AgentRun.created_at, AgentRun.input_data, AgentRun.meta, AgentRun.pause_data)]
        told = ("run.paused", "run.resumed", "approval.requested")
        steps = [RunEvent.agent_run_id, RunEvent.event_type, RunEvent.sequence_index, RunEvent.correlation_id]
        events = select(*steps, _text(RunEvent.data), _text(RunEvent.created_at)).order_by(RunEvent.sequence_index)
        said: dict[str, list[Any]] = {}
        # Events first: a pause that is written in between is then missing, and never taken for an older one.
        for row in await self._rows(events.where(RunEvent.agent_run_id.in_(run_ids), RunEvent.event_type.in_(told))):
            said.setdefault(row[0], []).append(row)
        turns, failed = [], {}
        runs = select(*names, *texts).where(AgentRun.id.in_(run_ids), AgentRun.status.in_(_WAITING))
        for row in await self._rows(runs):
            try:
                turns.append(self._turn(row, said.get(row[0], [])))
            except _Unreadable as error:
                failed[row[0]] = str(error)
            except Exception as error:  # whatever stands there: it is this run's
                failed[row[0]] = f"what stands in the database is not what a run looks like: {_words(error)}"
        return turns, failed

    def _turn(self, row: Any, events: list[Any]) -> _Turn:
        run_id, agent_name, tenant_id, parent, status, created_at = row[:6]
        given, kept, held = (_parsed(name, it) for name, it in zip(("input", "metadata", "pause"), row[6:], strict=True))
        paused, requests = _open_pause(events)
        pending = _parsed("run.paused", paused[4]).get("pending_tool_calls") or []
        if status == HUMAN_INPUT:
            pending = []
        elif not pending or {call["id"] for call in pending} != {call["id"] for call in held["pending_tool_calls"]}:
            raise _Unreadable("it moved on while it was read")
        gates = self._gates(pending, held, requests) if status == APPROVAL else {}
        calls = [_call(call, gates.get(call["id"])) for call in pending]
        said = given.get("input")
        whole = {
            "run_id": run_id,
            "agent_name": agent_name,
            "tenant_id": tenant_id,
            "parent_run_id": parent,
            "status": status,
            "pause": paused[2],
            "paused_at": _utc(paused[5]),
            "created_at": _utc(created_at),
            "input": said if isinstance(said, str) else None,
            "metadata": {name: value for name, value in kept.items() if not name.startswith("dendrux.")},
            "calls": calls,
            "question": _question(held) if status == HUMAN_INPUT else None,
        }
        try:
            text = json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:  # a NaN, or half a character: no reader takes the list that holds one
            raise _Unreadable(f"it holds what JSON cannot say: {error}") from error
        return _Turn(run_id, agent_name, tenant_id, status, paused[2], calls, text)

    def _gates(self, pending: list[Json], held: Json, requests: list[Any]) -> dict[str, Json]:
        """Which calls need a decision, by what made them need one."""
        gates = held.get("approval_gates")
        if isinstance(gates, dict):
            return gates
        if self._per_call:
            # It paused under an older version. This one then asks for a decision on all that would run on the server.
            return {call["id"]: {"source": None} for call in pending if call.get("target") in (None, "server")}
        return {event[3]: {"source": "static"} for event in requests}

    async def _rows(self, query: Any) -> Sequence[Any]:
        if not self._ready:
            # Any question to the store itself: one of SQLite brings its tables up to date before the first.
            await self._store.count_runs()
            self._ready = True
        async with self._state._session_factory() as session:
            rows: Sequence[Any] = (await session.execute(query)).all()
            return rows


def _text(column: Any) -> Any:
    """A column as the database keeps it, unread."""
    return type_coerce(column, String)


def _parsed(name: str, value: Any) -> Json:
    """An object out of a column of JSON; not every driver leaves it as text."""
    if isinstance(value, (str, bytes)):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise _Unreadable(f"its {name} is not JSON: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Unreadable(f"its {name} is no object")
    return value


def _open_pause(events: list[Any]) -> tuple[Any, list[Any]]:
    """The pause that was not resumed, and what asked for approval since the one before."""
    paused: Any = None
    requests: list[Any] = []
    asked: list[Any] = []
    for event in events:
        if event[1] == "run.resumed":
            paused, asked = None, []
        elif event[1] == "run.paused":
            paused, requests, asked = event, asked, []
        else:
            asked.append(event)
    if paused is None:
        raise _Unreadable("it waits, but its events say of no pause")
    return paused, requests


def _call(call: Json, gate: Json | None) -> Json:
    params = call.get("params")
    if not (isinstance(call["id"], str) and isinstance(call["name"], str) and isinstance(params, dict)):
        raise _Unreadable("one of its calls has no name, or its params are no object")
    source, reason = (gate or {}).get("source"), (gate or {}).get("reason")
    return {
        "id": call["id"],
        "name": call["name"],
        "params": params,
        # Everything else than a server's is given back to whoever drives the run.
        "target": "server" if call.get("target") in (None, "server") else "client",
        "gated": gate is not None,
        "gate_source": source if source in ("static", "hook") else None,
        "reason": None if reason == "requires_approval" else reason,  # which says no more than that it is gated
    }


def _question(held: Json) -> Json | None:
    """What a strategy asked. It stands in the state of the pause alone, and not every strategy leaves it there."""
    steps = held.get("steps") or [{}]
    asked = steps[-1].get("action") or {}
    if asked.get("type") != "clarification":
        return None
    return {"text": str(asked.get("question", "")), "options": [str(option) for option in asked.get("options") or []]}


def _utc(value: Any) -> str | None:
    """A time as RFC 3339 in UTC, out of every shape in which the versions keep and send it; `None` where it is none."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(re.sub(r"(\+00:00)?Z$", "+00:00", value.strip()))
        if not isinstance(value, datetime):
            return None
        known = value if value.tzinfo else value.replace(tzinfo=UTC)  # without a zone they are UTC
        return known.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


# ---- word of changes ----------------------------------------------------------------------------------------------------------


class _Watch:
    """Looks at the store as long as anybody listens, once for all of them."""

    def __init__(self, read: Callable[[], Awaitable[tuple[Any, Json]]]) -> None:
        self._read = read
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._seen: Any = None
        self._frame = ""
        self._looking: asyncio.Task[None] | None = None

    @property
    def full(self) -> bool:
        return len(self._listeners) >= _STREAMS

    async def look(self) -> str:
        """What waits now. Listeners hear of it when it is something else than before."""
        seen, said = await self._read()
        self._frame = f"event: briefing\ndata: {json.dumps(said, separators=(',', ':'))}\n\n"
        if seen != self._seen:
            self._seen = seen
            self._tell(self._frame)
        return self._frame

    async def listen(self) -> AsyncGenerator[str, None]:
        if self.full:
            return
        queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        self._listeners.add(queue)
        try:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._keep_looking(), name="placet:watch")
            first = await self.look()
            if not queue.empty() and queue.get_nowait() is None:
                return
            yield first
            ticks = 0
            while True:
                try:
                    frame = await asyncio.wait_for(queue.get(), _TICK)
                except TimeoutError:
                    ticks += 1
                    frame = f"event: tick\ndata: {ticks}\n\n"
                if frame is None:
                    return
                yield frame
        finally:
            self._listeners.discard(queue)

    def end(self) -> None:
        self._tell(None)
        if self._looking is not None:
            self._looking.cancel()

    def _tell(self, frame: str | None) -> None:
        for queue in self._listeners:
            # Who is slow hears the newest alone; the end is never written over.
            ends = not queue.empty() and queue.get_nowait() is None
            queue.put_nowait(None if ends else frame)

    async def _keep_looking(self) -> None:
        failing = False
        while self._listeners:
            try:
                await self.look()
                failing = False
            except Exception as error:
                if not failing:
                    log.warning("cannot see what waits, and goes on trying: %s", _words(error))
                failing = True
            await asyncio.sleep(_LOOK)


# ---- errors -------------------------------------------------------------------------------------------------------------------


def _refusal(status: int, code: str, message: str) -> HTTPException:
    return HTTPException(status, {"code": code, "message": message})


def _refused(error: BaseException) -> HTTPException | None:
    """What the package says where nothing was claimed; `None` for what may have happened after."""
    kinds: list[tuple[type[BaseException], int, str]] = [
        (RunNotFoundError, 404, "not_found"),
        (RunAlreadyClaimedError, 409, "claimed"),
        (RunNotPausedError, 409, "not_paused"),
        (RunAlreadyTerminalError, 409, "terminal"),
        (PauseStatusMismatchError, 409, "mismatch"),
        (PersistenceNotConfiguredError, 500, "no_persistence"),
    ]
    for kind, status, code in kinds:
        if isinstance(error, kind):
            return _refusal(status, code, _plain(str(error)))
    return None


class _Submit:
    """A submit of the package's, and when it claimed its run.

    From then on it awaits the task in which the run goes on; before, and when it lost, it awaits a step of its own. The run's status
    cannot tell: it is another's claim, perhaps, that made it `running`.
    """

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self.claim: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> Any:
        return await self

    def __await__(self) -> Generator[Any, Any, Any]:
        resume: Callable[[Any], Any] = self._submit.send
        given: Any = None
        while True:
            try:
                awaited = resume(given)
            except StopIteration as end:
                return end.value
            step = getattr(self._submit, "cr_await", None)
            if step is not None and not inspect.iscoroutine(step) and not self.claim.done():
                self.claim.set_result(None)
            try:
                resume, given = self._submit.send, (yield awaited)
            except BaseException as error:
                resume, given = self._submit.throw, error


def _keep_failure(run_id: str, entry: Json, done: asyncio.Task[Any]) -> None:
    """Nobody waits for the run any more: how it failed is kept for who asks."""
    if done.cancelled():
        entry["error"] = "it was cut off: the bridge ended"
    elif error := done.exception():
        entry["error"] = _words(error)
    elif getattr(done.result(), "status", None) == "error":
        entry["error"] = _plain(str(done.result().error))
    if entry["error"]:
        log.warning("run %s was decided, and failed: %s", run_id, entry["error"])


def _words(error: BaseException) -> str:
    return _plain(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def _plain(text: str) -> str:
    """Text that can be sent, whatever an error said."""
    return text.encode("utf-8", "replace").decode("utf-8")


def bearer(token: str) -> Callable[[Request], Awaitable[None]]:
    """An `authorize` that wants `Authorization: Bearer TOKEN`. Raises `ValueError` for what is no token."""
    if not (token and token.isascii() and token.isprintable() and " " not in token):
        raise ValueError("the token is empty, or no token")
    expected = token.encode()

    async def authorize(request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), expected)
        if not (same and scheme.lower() == "bearer"):
            words = {"code": "unauthorized", "message": "the token is missing, or not the right one"}
            raise HTTPException(401, words, {"WWW-Authenticate": "Bearer"})

    return authorize


# ---- a process of its own -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until SIGTERM or SIGINT; then it waits for runs that were decided. A second signal ends it at once."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s: %(message)s")
    # Before the agent is made: without another word dendrux works on the database that this names.
    os.environ["DENDRUX_DATABASE_URL"] = options.database_url
    sys.path.insert(0, os.getcwd())
    asyncio.run(_serve(options))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serves what placet's inbox needs of dendrux agents.")
    add = parser.add_argument
    add("--agent", action="append", required=True, metavar="MODULE:NAME", help="an Agent, or what builds one; may be repeated")
    add("--database-url", default=os.environ.get("DENDRUX_DATABASE_URL"), help="the agents' (default: DENDRUX_DATABASE_URL)")
    add("--token-file", type=Path, required=True, help="the token that a request must carry; readable by you alone")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8765, help="0: any that is free")
    add("--prefix", default="/dendrux", help="what stands before every path")
    add("--tls-cert", type=Path)
    add("--tls-key", type=Path)
    add("--behind-proxy", action="store_true", help="something else speaks TLS: serves plain http to other machines")
    add("--drain", type=float, default=30.0, help="seconds to wait at the end for runs that were decided (default: %(default)g)")
    options = parser.parse_args(arguments)
    if not options.database_url:
        parser.error("which database? pass --database-url, or set DENDRUX_DATABASE_URL")
    if bool(options.tls_cert) != bool(options.tls_key):
        parser.error("--tls-cert and --tls-key go together")
    if not (_loopback(options.host) or options.tls_cert or options.behind_proxy):
        clear = "can be reached by others, and a token must not travel in the clear"
        parser.error(f"{options.host} {clear}: pass --tls-cert and --tls-key, or --behind-proxy")
    options.prefix = "/" + options.prefix.strip("/") if options.prefix.strip("/") else ""
    try:
        options.authorize = bearer(_read_token(options.token_file))
    except (OSError, ValueError) as error:
        parser.error(f"the token file {options.token_file}: {error}")
    return options


def _loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _read_token(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise ValueError(f"it can be read by others; run: chmod 600 {path}")
        return file.read().strip()


async def _serve(options: argparse.Namespace) -> None:
    agents = [agent for spec in options.agent for agent in await _load(spec, options.database_url)]
    store = RunStore.from_database_url(options.database_url)
    bridge = Bridge(agents=agents, store=store, authorize=options.authorize, drain=options.drain)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(bridge.router, prefix=options.prefix)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        for agent in agents:
            await _reach(agent)
        listener = socket.create_server((options.host, options.port), family=family)
        with listener:
            host = f"[{options.host}]" if family == socket.AF_INET6 else options.host
            scheme = "https" if options.tls_cert else "http"
            url = f"{scheme}://{host}:{listener.getsockname()[1]}{options.prefix}"
            server = _Server(_config(app, options), bridge, {"url": url, **await bridge._report()})
            await server.serve([listener])
    except OSError as error:  # of the address, or of the certificate
        _give_up(f"cannot serve at {options.host}:{options.port}: {error}")
    finally:
        for agent in agents:
            await agent.close()
        await store.close()


def _config(app: FastAPI, options: argparse.Namespace) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        # The package's own streams never end.
        timeout_graceful_shutdown=5,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
        proxy_headers=False,
    )


class _Server(uvicorn.Server):
    """Says when it is ready, and ends its streams before it waits for connections."""

    def __init__(self, config: uvicorn.Config, bridge: Bridge, ready: Json) -> None:
        super().__init__(config)
        self._bridge, self._ready = bridge, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(json.dumps(self._ready), flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        loop = asyncio.get_running_loop()

        def end(number: int, _: Any) -> None:
            signal.signal(number, signal.SIG_DFL)
            loop.call_soon_threadsafe(self._end)

        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self) -> None:
        self._bridge.end_streams()
        self.should_exit = True


async def _load(spec: str, database_url: str) -> list[Agent]:
    """What `module:name` is, or gives when it is called: an agent, or some. It is passed the `database_url` if it takes one."""
    module, _, name = spec.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        _give_up(f"--agent {spec}: {error}")
    if callable(found) and not isinstance(found, Agent):
        takes = "database_url" in inspect.signature(found).parameters
        found = found(database_url=database_url) if takes else found()
        if inspect.isawaitable(found):
            found = await found
    agents = list(found) if isinstance(found, (list, tuple)) else [found]
    if not agents or not all(isinstance(agent, Agent) for agent in agents):
        _give_up(f"--agent {spec} is no agent, and builds none")
    return agents


async def _reach(agent: Agent) -> None:
    """Finds out now whether the agent has its database, and lets it make tables in a new one, by asking for a run that is none."""
    try:
        await agent.cancel_run("")
    except RunNotFoundError:
        pass
    except PersistenceNotConfiguredError:
        _give_up(f"the agent {agent.name} has no database; give it the one that --database-url names")
    except Exception as error:  # of its driver, its tables, its version
        _give_up(f"the agent {agent.name} cannot use its database: {_words(error)}")


def _give_up(message: str) -> NoReturn:
    print(f"placet_dendrux: {message}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    main()
