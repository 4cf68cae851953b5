"""The agent's bridge against a real gate: PLACET_URL, PLACET_TOKEN_FILE (the agent's) and OWNER_TOKEN_FILE say where it is.

tests/slow/bridge.rs starts the gate and runs this. Every test has tools of its own, named after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import decimal
import enum
import functools
import hashlib
import io
import json
import logging
import math
import os
import socket
import socketserver
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple, Union, cast
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "assets" / "bridges" / "python" / "src"))

import placet
from placet import Decided, Gate, GateError, InputError, Refused
from placet.gate import _kept, _refusal

LIMIT = 30.0


def owner(method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """A request of the person who decides."""
    token = Path(os.environ["OWNER_TOKEN_FILE"]).read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    url = f"{os.environ['PLACET_URL']}/api/pending-actions{path}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(urllib.request.Request(url, data, headers, method=method), timeout=LIMIT) as reply:
        answer: Dict[str, Any] = json.load(reply)
        return answer


def approve(signal: Any, **edits: Any) -> None:
    owner("POST", f"/{signal['pending_action_id']}/approve", {"userEdits": edits} if edits else {})


def recorded(signal: Any) -> Dict[str, Any]:
    return owner("GET", f"/{signal['pending_action_id']}")


def eventually(what: str, probe: Callable[[], Any]) -> Any:
    started, pause = time.monotonic(), threading.Event()
    while time.monotonic() - started < LIMIT:
        found = probe()
        if found:
            return found
        pause.wait(0.05)
    raise AssertionError(f"never happened: {what}")


class Kind(enum.Enum):
    HOME = "home"
    WORK = "work"


class Point(NamedTuple):
    x: int
    on: datetime.date


@dataclasses.dataclass
class Address:
    street: str
    since: datetime.date


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Exiting:
    def __repr__(self) -> str:
        raise SystemExit(3)


class Later:
    """Awaitable, and no coroutine."""

    def __init__(self, ran: List[Any]) -> None:
        self.ran = ran

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        self.ran.append("awaited")
        return "later"


class Proposing(unittest.TestCase):
    def setUp(self) -> None:
        self.gate = Gate(agent="scribe")
        self.ran: List[Any] = []

    def test_a_call_is_queued_and_does_not_run(self) -> None:
        @self.gate.gated(lambda it: {"says": it["text"]}, risk="high", effect="external", summary="why", ttl_seconds=3600)
        def queue_note(text: str, times: int = 2) -> None:
            self.ran.append(text)

        signal = queue_note("Grüße")

        self.assertEqual((signal["status"], signal["tool_name"]), ("queued", "queue_note"))
        action = recorded(signal)
        self.assertEqual(action["toolInput"], {"text": "Grüße", "times": 2})
        self.assertEqual(action["preview"], {"says": "Grüße"})
        said = [action[name] for name in ("status", "risk", "effect", "summary", "agent", "workspaceId")]
        self.assertEqual(said, ["pending", "high", "external", "why", "scribe", "default"])
        self.assertIsNotNone(action["expiresAt"])
        self.assertEqual(self.gate.work_once(), 0)
        self.assertEqual(self.ran, [])
        queue_note.__original__("now")
        self.assertEqual(self.ran, ["now"])

    def test_identity_is_taken_from_the_input_which_keeps_it(self) -> None:
        @self.gate.gated()
        def identify(title: str, **identity: str) -> None: ...

        action = recorded(identify("a", workspace_id="1200123456789", mission_id="m-1", session_id="s-1"))

        self.assertEqual((action["missionId"], action["sessionId"], action["batchId"]), ("m-1", "s-1", "m-1:identify"))
        self.assertEqual((action["workspaceId"], action["toolInput"]["session_id"]), ("default", "s-1"))
        ignored = recorded(identify("a", workspace_id="x" * 513, mission_id="m" * 513, session_id="s" * 513))
        self.assertEqual((ignored["workspaceId"], ignored["missionId"], ignored["sessionId"]), ("default", None, None))

    def test_a_tool_of_praxiom_names_the_workspace_of_its_token(self) -> None:
        with self.assertRaises(GateError) as refused:
            self.gate.propose("save_insights", {"workspace_id": "elsewhere"})
        self.assertEqual((refused.exception.code, refused.exception.status), ("FORBIDDEN", 403))

    def test_a_preview_that_raises_is_left_out(self) -> None:
        def preview(tool_input: Dict[str, Any]) -> Any:
            tool_input["text"] = "something else"
            raise KeyError("no such field")

        @self.gate.gated(preview)
        def unpreviewed(text: str) -> None: ...

        @self.gate.gated(lambda it: object())
        def unwritable(text: str) -> None: ...

        with self.assertLogs("placet", "WARNING"):
            first, second = recorded(unpreviewed("a")), recorded(unwritable("a"))

        self.assertEqual((first["preview"], first["toolInput"], first["status"]), (None, {"text": "a"}, "pending"))
        self.assertEqual((second["preview"], second["status"]), (None, "pending"))

    def test_the_state_before_goes_with_the_call(self) -> None:
        targets = {"n-1": "old text"}

        @self.gate.gated(before=lambda it: {"text": targets[it["note"]]})
        def rewrite(note: str, text: str) -> None: ...

        with self.assertLogs("placet", "WARNING"):
            first, second = recorded(rewrite("n-1", "new text")), recorded(rewrite("n-2", "a"))

        self.assertEqual(first["before"], {"text": "old text"})
        self.assertNotIn("before", second)

    def test_what_cannot_be_shown_is_not_proposed(self) -> None:
        @self.gate.gated()
        def unshown(text: Any, number: float = 1.5) -> None: ...

        for arguments in ({}, {"text": object()}, {"text": "a", "number": float("nan")}, {"text": "a", "more": 1}, {"text": "\ud800"}):
            with self.assertRaises((TypeError, ValueError), msg=str(arguments.keys())):
                unshown(**arguments)
        with self.assertRaises(TypeError):
            self.gate.gated()(lambda *many: None)
        with self.assertRaises(ValueError):
            self.gate.gated(tool_name="unshown")(lambda text: None)
        self.assertEqual(owner("GET", "?tool_name=unshown")["items"], [])

    def test_arguments_come_back_from_json_as_annotated(self) -> None:
        given: Dict[str, Any] = {
            "due": datetime.date(2026, 1, 2),
            "at": datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc),
            "amount": decimal.Decimal("12.50"),
            "kind": Kind.WORK,
            "tags": {"c", "a", "b"},
            "address": Address("Main St", datetime.date(2020, 1, 1)),
            "days": [datetime.date(2026, 1, 3)],
            "by_day": {datetime.date(2026, 1, 4): decimal.Decimal("1.10")},
            "point": Point(1, datetime.date(2026, 1, 5)),
            "pair": ("a", Kind.HOME),
            "file": Path("/tmp/a"),
            "key": uuid.UUID(int=7),
            "data": "é".encode(),
            "maybe": datetime.date(2026, 1, 6),
        }

        @self.gate.gated()
        def typed_note(
            due: datetime.date,
            at: datetime.datetime,
            amount: decimal.Decimal,
            kind: Kind,
            tags: Set[str],
            address: Address,
            days: List[datetime.date],
            by_day: Dict[datetime.date, decimal.Decimal],
            point: Point,
            pair: Tuple[str, Kind],
            file: Path,
            key: uuid.UUID,
            data: bytes,
            maybe: Union[None, int, datetime.date],
        ) -> Dict[str, Any]:
            self.ran.append(locals())
            return {"due": due, "amount": amount, "address": address}

        signal = typed_note(**given)
        sent = recorded(signal)["toolInput"]
        self.assertEqual(
            {name: sent[name] for name in ("at", "amount", "kind", "tags", "address", "by_day", "point", "data")},
            {
                "at": "2026-01-02T03:04:00Z",
                "amount": "12.50",
                "kind": "work",
                "tags": ["a", "b", "c"],
                "address": {"street": "Main St", "since": "2020-01-01"},
                "by_day": {"2026-01-04": "1.10"},
                "point": [1, "2026-01-05"],
                "data": "é",
            },
        )
        approve(signal, due="2026-02-03")
        self.assertEqual(self.gate.work_once(), 1)

        [ran] = self.ran
        ran.pop("self")
        self.assertEqual(ran, {**given, "due": datetime.date(2026, 2, 3)})
        result = {"due": "2026-02-03", "amount": "12.50", "address": {"street": "Main St", "since": "2020-01-01"}}
        self.assertEqual(self.gate.wait(signal, LIMIT).result, result)

    def test_briefing_counts_what_waits_in_a_session(self) -> None:
        session = f"briefed-{uuid.uuid4()}"
        self.assertEqual(str(self.gate.briefing(session_id=session)), "0 writes wait for a human's decision")
        for tool in ("briefed_mail", "briefed_pay", "briefed_pay"):
            self.gate.propose(tool, {"to": str(uuid.uuid4())}, session_id=session)
        self.gate.propose("briefed_pay", {"to": "elsewhere"}, session_id=f"{session}-other")

        found = self.gate.briefing(session_id=session)

        self.assertEqual((found.pending, found.unknown, found.tools), (3, 0, {"briefed_pay": 2, "briefed_mail": 1}))
        self.assertEqual(str(found), "3 writes wait for a human's decision: 2 briefed_pay, 1 briefed_mail")
        self.assertEqual(asyncio.run(self.gate.briefing_async(session_id=session)), found)
        self.assertGreaterEqual(self.gate.briefing().pending, 4)

    def test_an_argument_that_json_does_not_give_back_is_refused(self) -> None:
        @self.gate.gated()
        def unread(day: Any = None, due: Optional[datetime.date] = None) -> None: ...

        cases = {
            "day is a date, which the worker cannot read back from JSON; annotate it, or pass JSON": {"day": datetime.date(2026, 1, 2)},
            "due does not fit its annotation": {"due": "soon"},
            "day.a[1] is nan, which JSON does not have": {"day": {"a": [1, math.nan]}},
            "a key of day holds half a character": {"day": {"\ud83d": 1}},
            "day has two keys 1": {"day": {1: "a", "1": "b"}},
            "day holds bytes that are not UTF-8": {"day": b"\xff"},
            "day is a object, which JSON does not have": {"day": object()},
            "day has too many digits": {"day": 10**5000},
            "unread: got an unexpected keyword argument 'more'": {"more": 1},
        }
        for said, arguments in cases.items():
            with self.assertRaises(InputError, msg=said) as refused:
                unread(**arguments)
            self.assertTrue(str(refused.exception).startswith(said), str(refused.exception))
            self.assertIsInstance(refused.exception, TypeError)
            self.assertIsInstance(refused.exception, ValueError)
        endless: List[Any] = []
        endless.append(endless)
        with self.assertRaisesRegex(InputError, "day is nested too deeply, or holds itself"):
            unread(endless)
        self.assertEqual(owner("GET", "?tool_name=unread")["items"], [])

    def test_a_partial_and_arguments_of_any_name_are_gated(self) -> None:
        def part(where: str, tool: str, cents: int = 1) -> str:
            self.ran.append((where, tool, cents))
            return tool

        gated_part = self.gate.gated()(functools.partial(part, "here", cents=2))
        wrench = self.gate.gated(tool_name="wrench")(part)
        signal = gated_part(tool="hammer")
        self.assertEqual((signal["tool_name"], recorded(signal)["toolInput"]), ("part", {"tool": "hammer", "cents": 2}))
        approve(signal)
        self.gate.work_once()

        with ThreadPoolExecutor() as threads:
            called = threads.submit(self.gate.call, wrench, "there", tool="saw")
            [row] = eventually("it is queued", lambda: owner("GET", "?status=pending&tool_name=wrench")["items"])
            approve({"pending_action_id": row["id"]})
            eventually("it runs", self.gate.work_once)
            self.assertEqual(called.result(LIMIT), "saw")
        self.assertEqual(self.ran, [("here", "hammer", 2), ("there", "saw", 1)])

    def test_a_long_call_id_is_hashed_and_given_back(self) -> None:
        @self.gate.gated()
        def long_id(text: str) -> str:
            return text

        own = "call_1__thought__" + "Q" * 4000
        signal = self.gate.propose("long_id", {"text": "a"}, tool_call_id=own, mission_id="m" * 513)
        hashed = "sha256:" + hashlib.sha256(own.encode()).hexdigest()
        self.assertEqual(recorded(signal)["toolCallId"], hashed)
        self.assertEqual(recorded(signal)["missionId"], "sha256:" + hashlib.sha256(b"m" * 513).hexdigest())
        approve(signal)
        self.gate.work_once()

        self.assertEqual(self.gate.wait(signal, LIMIT).tool_result, {"toolCallId": own, "ok": True, "content": "a"})

    def test_a_model_calls_by_name_and_gets_its_tool_result(self) -> None:
        @self.gate.gated(tool_name="named-by-model")
        def by_name(text: str, times: int = 2) -> str:
            return text * times

        signal = self.gate.propose("named-by-model", {"text": "ab"}, tool_call_id="call-7", mission_id="m-7")
        self.assertEqual(recorded(signal)["toolInput"], {"text": "ab", "times": 2})
        approve(signal)
        self.assertEqual(self.gate.wait(signal, 0, until="decided").status, "approved")
        self.assertEqual(self.gate.work_once(), 1)

        decided = self.gate.wait(signal["pending_action_id"], LIMIT)

        self.assertEqual(decided.tool_result, {"toolCallId": "call-7", "ok": True, "content": "abab"})

    def test_a_lost_answer_does_not_record_twice(self) -> None:
        with Lossy() as proxy:
            gate = Gate(url=proxy.url)

            @gate.gated()
            def lose_answer(text: str) -> None: ...

            self.assertEqual(gate.workspace, "default")
            proxy.lose = 1
            with mock.patch.dict(os.environ, {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}):
                signal = lose_answer("once")

        rows = owner("GET", "?tool_name=lose_answer")["items"]
        self.assertEqual(proxy.lose, 0)
        self.assertEqual([row["id"] for row in rows], [signal["pending_action_id"]])


class Running(unittest.TestCase):
    def setUp(self) -> None:
        self.gate = Gate()
        self.ran: List[Any] = []

    def test_the_worker_runs_what_was_approved_with_the_edits_in_it(self) -> None:
        @self.gate.gated()
        def edited_note(title: str, price: float, n: int) -> Dict[str, Any]:
            self.ran.append((title, price, n))
            return {"saved": title, "key": placet.idempotency_key.get()}

        signal = edited_note("draft", 1.10, 2**64)
        approve(signal, title="final")
        self.assertEqual(self.gate.work_once(), 1)
        decided = self.gate.wait(signal, LIMIT)

        self.assertEqual(self.ran, [("final", 1.10, 2**64)])
        self.assertEqual((decided.status, decided.resolved_by), ("executed", "owner"))
        self.assertEqual(decided.effective_input, {"title": "final", "price": 1.10, "n": 2**64})
        self.assertEqual(decided.result["saved"], "final")
        self.assertTrue(decided.result["key"].startswith(signal["pending_action_id"]))
        self.assertTrue(decided.tool_result and decided.tool_result["ok"])
        self.assertEqual(self.gate.work_once(), 0)

    def test_a_rejection_is_an_answer_and_nothing_runs(self) -> None:
        @self.gate.gated()
        def rejected_note(title: str) -> None:
            self.ran.append(title)

        with_reason, without = rejected_note("a"), rejected_note("b")
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(self.gate.wait, with_reason, LIMIT)
            owner("POST", f"/{with_reason['pending_action_id']}/reject", {"reason": "not on a Friday"})
            decided = waiting.result()
        owner("POST", f"/{without['pending_action_id']}/reject")
        self.gate.work_once()

        self.assertEqual((decided.status, decided.reason), ("rejected", "not on a Friday"))
        denial = "A human rejected this call: not on a Friday. Do not repeat it unchanged."
        self.assertEqual(decided.tool_result, {"toolCallId": None, "ok": False, "content": denial})
        said = self.gate.wait(without, LIMIT).tool_result
        self.assertEqual(said and said["content"], "User declined to run this tool.")
        self.assertEqual(self.ran, [])

    def test_nobody_decided_in_time(self) -> None:
        @self.gate.gated()
        def ignored_note() -> None: ...

        with self.assertRaises(TimeoutError):
            self.gate.wait(ignored_note(), 0.2)
        with self.assertRaises(GateError) as missing:
            self.gate.wait("no/such?id", LIMIT)
        self.assertEqual(missing.exception.status, 404)

    def test_an_exception_is_reported_and_the_worker_goes_on(self) -> None:
        @self.gate.gated()
        def breaking(title: str) -> Any:
            if title == "bad":
                raise ValueError("no such \ud800 ticket")
            if title == "exit":
                raise SystemExit(3)
            return {1, } if title == "odd" else title

        signals = [breaking(title) for title in ("bad", "exit", "odd", "good")]
        stop = threading.Event()
        worker = threading.Thread(target=self.gate.run_worker, args=(stop, None, 0.05))
        with self.assertLogs("placet", "WARNING"):
            worker.start()
            for signal in signals:
                approve(signal)
            approve(breaking("good"), unknown=1)
            bad, exited, odd, good = [self.gate.wait(signal, LIMIT) for signal in signals]
            stop.set()
            worker.join(LIMIT)

        self.assertFalse(worker.is_alive())
        self.assertEqual((bad.status, bad.error), ("failed", "ValueError: no such ? ticket"))
        self.assertEqual((exited.status, exited.error), ("failed", "SystemExit: 3"))
        self.assertEqual((odd.status, odd.result), ("executed", [1]))
        self.assertEqual((good.status, good.result), ("executed", "good"))

    def test_two_workers_run_each_action_once(self) -> None:
        gates = [Gate(), Gate()]
        meet = threading.Barrier(2, timeout=LIMIT)

        def count(n: int) -> int:
            if n == 0:
                meet.wait()  # the other worker is in the middle of its own first run
            self.ran.append(n)
            return n

        for gate in gates:
            gate.gated(tool_name="counted")(count)
        signals = [gates[0].propose("counted", {"n": max(n - 1, 0)}) for n in range(12)]
        for signal in signals:
            approve(signal)

        with ThreadPoolExecutor() as threads:
            done = sum(threads.map(lambda gate: gate.work_once(), gates))

        self.assertEqual(done, 12)
        self.assertEqual(sorted(self.ran), [0, *range(11)])
        self.assertEqual({self.gate.wait(signal, LIMIT).status for signal in signals}, {"executed"})

    def test_a_coroutine_function_is_queued_and_run(self) -> None:
        @self.gate.gated()
        async def later_note(title: str) -> str:
            await asyncio.sleep(0)
            self.ran.append(title)
            return f"kept {title}"

        async def agent() -> Decided:
            signal = await later_note("tea")
            self.assertEqual(self.ran, [])
            approve(signal)
            await asyncio.to_thread(self.gate.work_once)
            return await self.gate.wait_async(signal, LIMIT)

        decided = asyncio.run(agent())

        self.assertEqual((decided.status, decided.result, self.ran), ("executed", "kept tea", ["tea"]))

    def test_call_gives_the_result_or_says_why_there_is_none(self) -> None:
        @self.gate.gated()
        def called(title: str) -> str:
            return title.upper()

        def decide() -> None:
            items = eventually("both calls are queued", lambda: self.pending("called", 2))
            for row in items:
                good = row["toolInput"]["title"] == "yes"
                owner("POST", f"/{row['id']}/{'approve' if good else 'reject'}", {"reason": "no"})
            eventually("it runs", self.gate.work_once)

        with ThreadPoolExecutor() as threads:
            yes, no = threads.submit(self.gate.call, called, "yes"), threads.submit(self.gate.call, called, title="no")
            decide()
            self.assertEqual(yes.result(LIMIT), "YES")
            with self.assertRaises(Refused) as declined:
                no.result(LIMIT)
        sentence = "A human rejected this call: no. Do not repeat it unchanged."
        self.assertEqual((str(declined.exception), declined.exception.decided.status), (sentence, "rejected"))

    def pending(self, tool: str, many: int) -> Any:
        items = owner("GET", f"?status=pending&tool_name={tool}")["items"]
        return items if len(items) == many else None

    def test_a_late_report_of_an_older_run_is_refused_and_survived(self) -> None:
        slow, quick = Gate(), Gate()
        started, release = threading.Event(), threading.Event()

        @slow.gated(tool_name="leased")
        def dawdle(title: str) -> str:
            started.set()
            release.wait(LIMIT)
            return "slow"

        quick.gated(tool_name="leased")(lambda title: "quick")
        signal = slow.propose("leased", {"title": "a"})
        approve(signal)

        with ThreadPoolExecutor() as threads, self.assertLogs("placet", "WARNING") as logged:
            dawdling = threads.submit(slow.work_once, 1)
            try:
                self.assertTrue(started.wait(LIMIT))
                eventually("the lease ran out and another worker took it", quick.work_once)
            finally:
                release.set()
            self.assertEqual(dawdling.result(LIMIT), 1)

        self.assertIn("STALE_FENCE", "".join(logged.output))
        self.assertEqual(self.gate.wait(signal, LIMIT).result, "quick")

    def test_a_result_of_any_kind_is_recorded_as_executed(self) -> None:
        endless: List[Any] = []
        endless.append(endless)
        deep: List[Any] = []
        for _ in range(600):
            deep = [deep]
        results = {
            "nan": ({"a": math.nan, "b": 1}, {"a": "nan", "b": 1}),
            "half": ({"a": "\ud83d b", "\ud83d": 1}, {"a": "? b", "?": 1}),
            "bytes": ([b"\xff", b"ok"], ["b'\\xff'", "ok"]),
            "unprintable": ([Unprintable()], ["a Unprintable whose repr raised RuntimeError"]),
            "exiting": ([Exiting()], ["a Exiting whose repr raised SystemExit"]),
            "class": (Unprintable, "<class '__main__.Unprintable'>"),
            "endless": (endless, "The result is nested too deeply to be kept, or holds itself."),
            "large": ("x" * (17 << 20), "The result has 17,825,794 bytes; at most 15,728,640 are kept."),
        }

        @self.gate.gated()
        def returning(name: str) -> Any:
            return results[name][0]

        for name, (_, kept) in results.items():
            with self.subTest(name):
                signal = returning(name)
                approve(signal)
                self.gate.work_once()
                decided = self.gate.wait(signal, LIMIT)
                self.assertEqual((decided.status, decided.result, decided.error), ("executed", kept, None))
        results["deep"] = (deep, None)
        signal = returning("deep")
        approve(signal)
        self.gate.work_once()
        decided = self.gate.wait(signal, LIMIT)
        # Which of the two finds it first depends on Python's own limit.
        self.assertRegex(decided.result, "^The result is nested too deeply|^The gate did not keep it")
        self.assertEqual(decided.status, "executed")

    def test_a_result_that_the_gate_refuses_is_executed(self) -> None:
        @self.gate.gated()
        def unkept() -> str:
            return "x" * (17 << 20)

        signal = unkept()
        approve(signal)
        with mock.patch("placet.gate._RESULT_MAX", 1 << 30):
            self.gate.work_once()
        decided = self.gate.wait(signal, LIMIT)
        self.assertEqual(decided.status, "executed")
        self.assertIn("The gate did not keep it", decided.result)

    def test_an_error_of_any_size_is_recorded_as_failed(self) -> None:
        @self.gate.gated()
        def failing_at_length(text: str) -> None:
            raise ValueError(text * (17 << 20))

        signal = failing_at_length("x")
        approve(signal)
        with self.assertLogs("placet", "WARNING") as logged:
            self.gate.work_once()
        self.assertIn("failing_at_length failed: Traceback", logged.output[0])
        self.assertLess(len(logging.Formatter().format(logged.records[0])), 17_000)
        decided = self.gate.wait(signal, LIMIT)
        self.assertEqual(decided.status, "failed")
        self.assertTrue(decided.error and decided.error.startswith("ValueError: xxx"))

    def test_what_a_function_returns_runs_to_its_end(self) -> None:
        def rows(n: int) -> Any:
            for row in range(n):
                self.ran.append(row)
                yield row

        async def async_rows(n: int) -> Any:
            for row in range(n):
                self.ran.append(row)
                yield row

        async def inner() -> Any:
            return async_rows(1)

        pool = ThreadPoolExecutor()
        self.addCleanup(pool.shutdown)
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        running = asyncio.new_event_loop()
        thread = threading.Thread(target=running.run_forever)
        thread.start()
        self.addCleanup(running.close)
        self.addCleanup(thread.join, LIMIT)
        self.addCleanup(running.call_soon_threadsafe, running.stop)

        def elsewhere() -> Any:
            return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(inner(), running), loop=running)

        cases: Dict[str, Tuple[Callable[[], Any], Any, List[Any]]] = {
            "generator": (lambda: rows(2), [0, 1], [0, 1]),
            "map": (lambda: map(self.ran.append, "ab"), [None, None], ["a", "b"]),
            "asyncgenerator": (lambda: async_rows(2), [0, 1], [0, 1]),
            "awaitable": (lambda: Later(self.ran), "later", ["awaited"]),
            "nested": (inner, [0], [0]),
            "submitted": (lambda: pool.submit(lambda: self.ran.append("pool") or "done"), "done", ["pool"]),
            "task": (lambda: loop.create_task(inner()), [0], [0]),
            "elsewhere": (elsewhere, [0], [0]),
        }

        @self.gate.gated()
        def lazy(name: str) -> Any:
            return cases[name][0]()

        for name, (_, result, ran) in cases.items():
            with self.subTest(name):
                self.ran.clear()
                signal = lazy(name)
                approve(signal)
                self.gate.work_once()
                decided = self.gate.wait(signal, LIMIT)
                self.assertEqual((decided.status, decided.result, self.ran), ("executed", result, ran))

    def test_a_call_that_ran_is_executed_whatever_is_in_its_result(self) -> None:
        async def never(n: int = 0) -> None:
            self.ran.append(n)

        def rows() -> Any:
            self.ran.append("row")
            yield

        class Stream:
            def __aiter__(self) -> Any:
                return self

            async def __anext__(self) -> None: ...

        class Streamed:
            def __aiter__(self) -> Any: ...

        coroutine = never()
        self.addCleanup(coroutine.close)
        endless: List[Any] = [coroutine]
        endless.append(endless)
        manager = contextlib.contextmanager(rows)

        def kept(part: str, kind: str) -> str:
            return f"{part} is not kept: a {kind} is not JSON."

        results: Dict[str, Tuple[Any, Any]] = {
            "generator": ({"sent": 2, "ids": (str(i) for i in [1, 2])}, {"sent": 2, "ids": kept("result.ids", "generator")}),
            "filter": ([filter(None, [1])], [kept("result[0]", "filter")]),
            "map": ((1, map(self.ran.append, "a")), [1, kept("result[1]", "map")]),
            "reversed": ({"a": {"b": reversed([1])}}, {"a": {"b": kept("result.a.b", "list_reverseiterator")}}),
            "coroutine": ([coroutine], [kept("result[0]", "coroutine")]),
            "stream": ({"n": 1, "stream": Stream()}, {"n": 1, "stream": kept("result.stream", "Stream")}),
            "streamed": (Streamed(), kept("result", "Streamed")),
            "record": (Address("s", cast(Any, rows())), {"street": "s", "since": kept("result.since", "generator")}),
            "awaitable": ([Later(self.ran)], [kept("result[0]", "Later")]),
            "future": ([pending := Future()], [repr(pending)]),
            "manager": ([manager()], [kept("result[0]", "_GeneratorContextManager")]),
            "endless": (endless, "The result is nested too deeply to be kept, or holds itself."),
            "class": ([Streamed], [repr(Streamed)]),
        }

        @self.gate.gated()
        def holds(name: str) -> Any:
            self.ran.append(name)
            return results[name][0]

        for name, (_, result) in results.items():
            with self.subTest(name):
                self.ran.clear()
                signal = holds(name)
                approve(signal)
                self.gate.work_once()
                decided = self.gate.wait(signal, LIMIT)
                outcome = (decided.status, decided.error, decided.result, self.ran)
                self.assertEqual(outcome, ("executed", None, result, [name]))

    def test_a_function_that_becomes_a_context_manager_did_not_run(self) -> None:
        @self.gate.gated()
        @contextlib.contextmanager
        def managed() -> Any:
            self.ran.append("managed")
            yield

        signal: Any = managed()
        approve(signal)
        self.gate.work_once()
        decided = self.gate.wait(signal, LIMIT)
        said = "It did not run: it returned a context manager, which nobody awaited or iterated."
        self.assertEqual((decided.status, decided.error, self.ran), ("failed", said, []))

    def test_what_a_function_raises_is_reported_whatever_it_is(self) -> None:
        class Stopped(BaseException):
            pass

        class Rude(Dict[str, Any]):
            def items(self) -> Any:
                raise Stopped

        raised: Dict[str, BaseException] = {"exit": GeneratorExit("a"), "stopped": Stopped("b"), "cancelled": asyncio.CancelledError("c")}

        @self.gate.gated()
        def raises(name: str) -> Any:
            if name in raised:
                raise raised[name]
            return Rude(a=1)

        ends: Dict[str, Any] = {}
        with self.assertLogs("placet", "WARNING"):
            for name in (*raised, "rude"):
                signal = raises(name)
                approve(signal)
                self.gate.work_once()
                decided = self.gate.wait(signal, LIMIT)
                ends[name] = (decided.status, decided.result or str(decided.error).rsplit(".", 1)[-1])
        self.assertEqual(ends, {
            "exit": ("failed", "GeneratorExit: a"),
            "stopped": ("failed", "Stopped: b"),
            "cancelled": ("failed", "CancelledError: c"),
            "rude": ("executed", "The result cannot be kept: Stopped."),
        })

    def test_a_long_iterator_runs_to_its_end_and_keeps_its_first_items(self) -> None:
        def rows() -> Any:
            for n in range(1000):
                self.ran.append(n)
                yield f"{n:0100}"

        async def async_rows() -> Any:
            for row in rows():
                yield row

        self.gate.gated()(rows)
        self.gate.gated()(async_rows)
        for tool in ("rows", "async_rows"):
            with self.subTest(tool), mock.patch("placet.gate._RESULT_MAX", 5000):
                self.ran.clear()
                signal = self.gate.propose(tool, {})
                approve(signal)
                self.gate.work_once()
                decided = self.gate.wait(signal, LIMIT)
                first, last = [f"{n:0100}" for n in range(38)], "The rest is not kept: a result has at most 5,000 bytes."
                self.assertEqual((decided.status, decided.result, len(self.ran)), ("executed", [*first, last], 1000))

    def test_an_argument_of_a_wrong_type_is_named(self) -> None:
        wrong: List[Tuple[Callable[[], Any], str]] = [
            (lambda: self.gate.propose("wrong", {}, tool_call_id=cast(Any, 7)), "tool_call_id is a int; pass text"),
            (lambda: self.gate.hold("wrong", {}, call_id=cast(Any, 7)), "tool_call_id is a int; pass text"),
            (lambda: self.gate.hold("wrong", {}, session_id="a\0"), "session_id holds the character U+0000; pass an id without it"),
            (lambda: self.gate.hold("wrong", {}, summary="\ud800").__enter__(), "summary holds half a character"),
            (lambda: self.gate.hold("wrong", {}, ttl_seconds=cast(Any, object())).__enter__(), "ttl_seconds is a object"),
            (lambda: self.gate.propose("\ud800", {}), "tool_name holds half a character"),
        ]
        for call, said in wrong:
            with self.subTest(said), self.assertRaises(InputError) as refused:
                call()
            self.assertTrue(str(refused.exception).startswith(said), str(refused.exception))
        self.assertEqual(owner("GET", "?tool_name=wrong")["items"], [])

    def test_a_gated_generator_is_queued_and_runs_once_approved(self) -> None:
        @self.gate.gated()
        def rows(path: str) -> Any:
            self.ran.append(path)
            yield "row"

        @self.gate.gated()
        async def async_rows(path: str) -> Any:
            self.ran.append(path)
            yield "row"

        for gated in (rows, async_rows):
            self.ran.clear()
            signal: Any = gated("p")
            self.assertEqual((signal["status"], self.ran), ("queued", []))
            approve(signal)
            self.gate.work_once()
            decided = self.gate.wait(signal, LIMIT)
            self.assertEqual((decided.status, decided.result, self.ran), ("executed", ["row"], ["p"]))

    def test_a_future_that_nothing_completes_is_failed(self) -> None:
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)

        @self.gate.gated()
        def never() -> Any:
            return loop.create_future()

        signal = never()
        approve(signal)
        with self.assertLogs("placet", "WARNING"):
            self.gate.work_once()
        decided = self.gate.wait(signal, LIMIT)
        self.assertEqual(decided.status, "failed")
        self.assertIn("a future that no running event loop can complete", str(decided.error))

    def test_a_worker_ends_when_its_token_is_refused(self) -> None:
        gate = Gate(token="placet_agent_wrong")
        gate.gated(tool_name="tokenless")(lambda: None)
        with self.assertRaises(GateError) as refused:
            gate.run_worker()
        self.assertEqual(refused.exception.status, 401)


class Masked(str):
    """A secret that JSON shows as stars."""

    def __new__(cls, word: str) -> Masked:
        made = super().__new__(cls, "**********")
        made.word = word  # type: ignore[attr-defined]
        return made


class Editing(unittest.TestCase):
    """`_kept`, which pairs what a reviewer edited with the objects that the call was made with."""

    def cred(self, user: str, word: str, **more: Any) -> Dict[str, Any]:
        return {"user": user, "pw": Masked(word), **more}

    def kept(self, given: Any, change: Callable[[Any], Any]) -> Any:
        asked = json.loads(json.dumps(given))
        edited = json.loads(json.dumps(given))
        return _kept(given, asked, change(edited) or edited)

    def test_an_edit_keeps_each_secret_in_its_place(self) -> None:
        given = {"cs": [self.cred("kim", "one"), self.cred("b", "two")], "note": "a"}

        def rename(edited: Any) -> None:
            edited["cs"][0]["user"], edited["note"] = "pam", "b"

        mixed = self.kept(given, rename)
        self.assertEqual([(c["user"], c["pw"].word) for c in mixed["cs"]], [("pam", "one"), ("b", "two")])
        self.assertEqual(mixed["note"], "b")
        self.assertIs(mixed["cs"][1], given["cs"][1])
        dropped = self.kept({"cs": {"x": self.cred("kim", "one"), "y": self.cred("b", "two")}}, lambda it: {"cs": {"y": it["cs"]["y"]}})
        self.assertEqual(dropped["cs"]["y"]["pw"].word, "two")
        replaced = self.kept(given, lambda it: {**it, "cs": [{"user": "pam", "pw": "new"}]})
        self.assertEqual(replaced["cs"], [{"user": "pam", "pw": "new"}])
        # Without a secret in the call, stars are text like any other.
        self.assertEqual(self.kept({"note": "a"}, lambda it: {"note": "**********"}), {"note": "**********"})

    def test_an_edit_that_moves_a_secret_is_refused(self) -> None:
        kim, b = self.cred("kim", "one", note="k"), self.cred("b", "two", note="n")
        listed, keyed = {"cs": [kim, b]}, {"cs": {"x": kim, "y": b}}
        cases: Dict[str, Tuple[Any, Callable[[Any], Any]]] = {
            "swapped items": (listed, lambda it: {"cs": it["cs"][::-1]}),
            "swapped items, one edited": (listed, lambda it: {"cs": [{**it["cs"][1], "note": "edited"}, it["cs"][0]]}),
            "copied over another": (listed, lambda it: {"cs": [it["cs"][1], it["cs"][1]]}),
            "dropped item": (listed, lambda it: {"cs": it["cs"][1:]}),
            "swapped values": (keyed, lambda it: {"cs": {"x": it["cs"]["y"], "y": it["cs"]["x"]}}),
            "renamed key": (keyed, lambda it: {"cs": {"z": it["cs"]["x"], "y": it["cs"]["y"]}}),
            "new key": (keyed, lambda it: {"cs": {**it["cs"], "z": it["cs"]["x"]}}),
            "swapped arguments": ({"a": kim, "b": b}, lambda it: {"a": it["b"], "b": it["a"]}),
            "between lists": ({"a": [kim], "b": [b]}, lambda it: {"a": it["b"], "b": it["a"]}),
            "into text": ({"c": kim, "note": "a"}, lambda it: {**it, "note": "use **********"}),
            "into a new argument": ({"c": kim}, lambda it: {**it, "pw": it["c"]["pw"]}),
            "into a key": ({"c": kim, "by": {}}, lambda it: {**it, "by": {"**********": 1}}),
        }
        for word, (given, change) in cases.items():
            with self.subTest(word), self.assertRaises(InputError) as refused:
                self.kept(given, change)
            self.assertIn("an edit cannot move what is shown as **********", str(refused.exception))


class Connecting(unittest.TestCase):
    def test_a_redirect_is_refused_and_the_token_stays_here(self) -> None:
        seen: List[str] = []

        class Redirect(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_response(307)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        with HTTPServer(("127.0.0.1", 0), Redirect) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with self.assertRaises(GateError) as refused:
                Gate(url=f"http://127.0.0.1:{server.server_port}").workspace
            server.shutdown()

        self.assertEqual((refused.exception.code, refused.exception.status), ("REDIRECTED", 307))
        self.assertEqual(seen, ["/api/workspaces"])

    def test_a_token_file_that_others_can_read_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.token"
            path.write_text("secret\n")
            path.chmod(0o640)
            with self.assertRaises(GateError) as refused:
                Gate(token_file=path)
            self.assertIn(f"chmod 600 {path}", str(refused.exception))
            self.assertNotIn("secret", repr(refused.exception))
            path.chmod(0o600)
            Gate(token_file=path)

    def test_a_token_file_is_read_again_when_its_token_is_refused(self) -> None:
        right = Path(os.environ["PLACET_TOKEN_FILE"]).read_text()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.token"
            path.write_text("placet_agent_rotated")
            path.chmod(0o600)
            gate = Gate(token_file=path)
            with self.assertRaises(GateError) as refused:
                gate.workspace
            self.assertEqual(refused.exception.status, 401)
            path.write_text(right)
            self.assertEqual(gate.workspace, "default")
            path.unlink()
            self.assertEqual(gate.work_once(), 0)

    def test_no_token_goes_to_another_machine_over_plain_http(self) -> None:
        for url in ("http://gate.example:7878", "http://192.0.2.1", "http://127.0.0.1.gate.example", "https://a http://gate.example"):
            with self.subTest(url), self.assertRaises(GateError) as refused:
                Gate(url=url)
            self.assertEqual(refused.exception.code, "INSECURE")
            self.assertIn("use https://", str(refused.exception))
        for url in ("https://gate.example", "http://localhost:1", "http://[::1]:1", "http://127.0.0.2", "http://gate.localhost"):
            self.assertEqual(Gate(url=url).url, url)

    def test_an_answer_of_another_form_is_a_gate_error(self) -> None:
        answers: List[bytes] = []

        class Odd(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(200)
                self.send_header("Content-Length", str(len(answers[0])))
                self.end_headers()
                self.wfile.write(answers[0])

            do_POST = do_GET

            def log_message(self, *_: Any) -> None: ...

        def hold(gate: Gate) -> None:
            with gate.hold("odd", {}):
                self.fail("it ran")

        async def hold_async(gate: Gate) -> None:
            async with gate.hold("odd", {}):
                self.fail("it ran")

        asked: Dict[str, Callable[[Gate], Any]] = {
            "workspace": lambda gate: gate.workspace,
            "propose": lambda gate: gate.propose("odd", {"a": 1}),
            "wait": lambda gate: gate.wait("a-1", 1),
            "work": lambda gate: gate.work_once(),
            "hold": hold,
            "async": lambda gate: asyncio.run(hold_async(gate)),
        }
        odd = (b"<html>", b"[]", b"null", b"{}", b'{"items": null}', b'{"items": [[]]}', b'{"toolResult": 1}', b'{"a":' * 9999, b"\xff")
        with HTTPServer(("127.0.0.1", 0), Odd) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for answer in odd:
                answers[:] = [answer]
                for name, ask in asked.items():
                    gate = Gate(url=f"http://127.0.0.1:{server.server_port}", workspace=None if name == "workspace" else "default")
                    gate.gated(tool_name="other")(lambda a: None)
                    with self.subTest(name, answer=answer[:20]), self.assertRaises(GateError) as refused:
                        ask(gate)
                    self.assertEqual(refused.exception.code, "BAD_ANSWER")
            # An action's fields with other types.
            for action in (
                {"id": 5, "status": None}, {"id": 5, "status": "approved"}, {"id": "a-1", "status": ["rejected"]},
                {"id": "a-1", "status": "rejected", "toolResult": {"content": None}},
                {"id": "a-1", "status": "executed", "toolResult": {}}, {"id": "a-1", "status": "rejected", "toolResult": "no"},
            ):
                answers[:] = [json.dumps({"pending_action_id": "a-1", **action}).encode()]
                for name in ("wait", "hold", "async"):
                    gate = Gate(url=f"http://127.0.0.1:{server.server_port}", workspace="default")
                    with self.subTest(name, action=action), self.assertRaises(GateError) as refused:
                        asked[name](gate)
                    self.assertEqual(refused.exception.code, "BAD_ANSWER")
            for name, answer in {
                "propose": {"pending_action_id": None}, "hold": {"pending_action_id": {"a": 1}}, "async": {"pending_action_id": ""},
                "workspace": {"items": [{"id": None}]}, "work": {"items": [{"id": None}]},
            }.items():
                answers[:] = [json.dumps(answer).encode()]
                gate = Gate(url=f"http://127.0.0.1:{server.server_port}", workspace=None if name == "workspace" else "default")
                gate.gated(tool_name="other")(lambda a: None)
                with self.subTest(name, answer=answer), self.assertRaisesRegex(GateError, "id is not text") as refused:
                    asked[name](gate)
                self.assertEqual(refused.exception.code, "BAD_ANSWER")
            # A claim without an input runs nothing, and reports nothing.
            answers[:] = [b'{"items": [{"id": "a-1"}], "fence": 1, "idempotencyKey": "k"}']
            gate = Gate(url=f"http://127.0.0.1:{server.server_port}", workspace="default")
            gate.gated(tool_name="other")(lambda **_: self.fail("it ran"))
            with self.assertRaises(GateError) as refused:
                gate.work_once()
            self.assertEqual(refused.exception.code, "BAD_ANSWER")
            server.shutdown()

    def test_a_refusal_of_another_form_names_its_status(self) -> None:
        words = "the answer was HTTP 401"
        for error, code, message in (
            ({"code": 1}, "HTTP_401", words), ({"code": "NO", "message": None}, "NO", words), ({"message": "no"}, "HTTP_401", "no"),
            ({"code": "", "message": ""}, "HTTP_401", words), ("no", "HTTP_401", words),
        ):
            refused = _refusal(401, {"error": error})
            self.assertEqual((refused.code, refused.message, refused.status), (code, message, 401))

    def test_a_note_of_another_form_names_no_gate(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PLACET_STATE_DIR": folder}, clear=True):
            for note in ("[]", "5", "{}", '{"url": "http://127.0.0.1:1"}', "{"):
                (Path(folder) / "gate.json").write_text(note)
                with self.assertRaises(GateError) as missing:
                    Gate(timeout=0.3).workspace
                self.assertEqual(missing.exception.code, "NO_GATE", note)

    def test_the_gate_of_this_machine_is_found_by_its_note(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            note = {"url": os.environ["PLACET_URL"], "agentTokenFile": os.environ["PLACET_TOKEN_FILE"]}
            (Path(folder) / "placet").mkdir()
            (Path(folder) / "placet" / "gate.json").write_text(json.dumps(note))
            with mock.patch.dict(os.environ, {"XDG_STATE_HOME": folder}, clear=True):
                self.assertEqual(Gate().workspace, "default")
                with self.assertRaises(GateError) as refused:
                    Gate(url="http://127.0.0.1:1")
                self.assertEqual(refused.exception.code, "NO_TOKEN")
            with mock.patch.dict(os.environ, {"PLACET_STATE_DIR": folder}, clear=True):
                with self.assertRaises(GateError) as missing:
                    Gate(timeout=0.3).workspace
                self.assertEqual(missing.exception.code, "NO_GATE")

    def test_addresses_and_tokens_that_are_none_are_refused_without_naming_secrets(self) -> None:
        hidden = ("http://127.0.0.1:1?token=secret", "http://127.0.0.1:1/#secret", "https://gate.example/a?secret#secret", "http://127.0.0.1:1?")
        for url in ("127.0.0.1:7878", "ftp://a", "http://kim:secret@127.0.0.1", "http://127.0.0.1:port", *hidden):
            with self.assertRaises(GateError) as refused:
                Gate(url=url)
            self.assertEqual(refused.exception.code, "NO_GATE", url)
            self.assertNotIn("secret", str(refused.exception))
        with mock.patch.dict(os.environ):
            os.environ.pop("PLACET_TOKEN_FILE")
            with self.assertRaises(GateError) as refused:
                Gate(url="http://kim:secret@127.0.0.1")
            self.assertNotIn("secret", str(refused.exception))
        with self.assertRaises(GateError) as refused:
            Gate(token="secret\r\nX-Other: 1")
        self.assertNotIn("secret", repr(refused.exception))

    def test_a_gate_that_is_away_is_tried_again_and_then_named(self) -> None:
        with socket.socket() as taken:
            # Nobody listens there, and while it is held no gate of another test is given the port.
            taken.bind(("127.0.0.1", 0))
            with self.assertRaises(GateError) as refused:
                Gate(url=f"http://127.0.0.1:{taken.getsockname()[1]}", timeout=0.5).workspace
        self.assertEqual(refused.exception.code, "UNREACHABLE")

    def test_of_several_addresses_the_next_is_asked_and_one_call_is_one_action(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            away = f"http://127.0.0.1:{taken.getsockname()[1]}"
        there = os.environ["PLACET_URL"]
        with Lossy() as proxy:
            with mock.patch.dict(os.environ, {"PLACET_URL": f"{away}, {proxy.url} {there}"}):
                gate = Gate()
                self.assertEqual(gate.url, away)
                self.assertEqual((gate.workspace, gate.url), ("default", proxy.url))

                @gate.gated()
                def other_address(text: str) -> None: ...

                proxy.lose = 1
                signal = other_address("once")
                self.assertEqual((proxy.lose, gate.url), (0, there))
        rows = owner("GET", "?tool_name=other_address")["items"]
        self.assertEqual([row["id"] for row in rows], [signal["pending_action_id"]])

        with self.assertRaises(GateError) as refused:
            Gate(url=f"{away} {away}/", timeout=0.5).workspace
        self.assertEqual(refused.exception.message.count(f"No gate at {away}"), 2)
        with self.assertRaises(GateError) as refused:
            Gate(url=" , ")
        self.assertEqual(refused.exception.code, "NO_GATE")


class Lossy(socketserver.ThreadingTCPServer):
    """Hands requests on to the gate, and loses as many answers as `lose` says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hand)
        self.lose = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *args: Any) -> None:
        self.shutdown()
        super().__exit__(*args)


class _Hand(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        head, length = b"", 0
        for line in self.rfile:
            head += b"Connection: close\r\n\r\n" if line == b"\r\n" else line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                break
        host, port = os.environ["PLACET_URL"].rsplit("/", 1)[1].split(":")
        with socket.create_connection((host, int(port)), LIMIT) as gate:
            gate.sendall(head + self.rfile.read(length))
            answer = gate.makefile("rb").read()
        assert isinstance(self.server, Lossy)
        if self.server.lose:
            self.server.lose -= 1
        else:
            self.wfile.write(answer)


if __name__ == "__main__":
    unittest.main()
