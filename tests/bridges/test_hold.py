"""`hold` against a real gate, on threads and on asyncio. The surroundings are those of test_gated.py."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import datetime
import decimal
import hashlib
import json
import math
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple
from unittest import mock

from test_gated import LIMIT, approve, eventually, owner, recorded

import placet
from placet import AlreadyRan, Gate, GateError, InputError, Refused, Undecided
from placet.gate import _call_key

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"

#: Another process that holds one call and writes down what it ran with.
PROGRAM = """
import sys
from placet import Gate, Refused

try:
    with Gate(agent="restarted").hold("restarted", {"title": "once"}, call_id=sys.argv[1], timeout=60) as call:
        with open(sys.argv[2], "a") as file:
            file.write(call.input["title"] + "\\n")
        call.result = "written"
except Refused as refused:
    print(refused)
"""


#: A process that forks twice, and says the sessions of calls that name none.
FORKS = """
import os
from placet import Gate

def session():
    return Gate(url="http://127.0.0.1:1", token="any")._hold_for("forked", {}, "call-1", None, {})._ids["sessionId"]

print(session(), flush=True)
for _ in range(2):
    child = os.fork()
    if child == 0:
        print(session(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(session(), flush=True)
"""


def pending(tool: str, many: int = 1) -> List[Dict[str, Any]]:
    """The pending actions of a tool, once there are so many."""
    def there() -> Any:
        items = owner("GET", f"?status=pending&tool_name={tool}")["items"]
        return items if len(items) == many else None

    found: List[Dict[str, Any]] = eventually(f"{many} of {tool} are pending", there)
    return found


def only(tool: str) -> Dict[str, Any]:
    """The one action of a tool, whatever became of it."""
    items = owner("GET", f"?tool_name={tool}")["items"]
    assert len(items) == 1, items
    return recorded({"pending_action_id": items[0]["id"]})


def decide(tool: str, edits: Any = None, reason: str = "") -> None:
    """Approves or rejects the pending action of a tool."""
    action_id = pending(tool)[0]["id"]
    if reason:
        owner("POST", f"/{action_id}/reject", {"reason": reason})
    else:
        approve({"pending_action_id": action_id}, **(edits or {}))


class Holding(unittest.TestCase):
    def setUp(self) -> None:
        # A session of its own: within one, a call id names one call.
        self.gate = Gate(agent="holder", session=self.id())
        self.ran: List[Any] = []

    def held(self, tool: str, **options: Any) -> Any:
        """Holds one call, and runs it where it may."""
        with self.gate.hold(tool, {"title": "draft", "n": 1}, **{"timeout": LIMIT, **options}) as call:
            self.ran.append(call.input)
            call.result = {"saved": call.input["title"], "key": placet.idempotency_key.get()}
        return call

    async def held_async(self, tool: str, **options: Any) -> Any:
        async with self.gate.hold(tool, {"title": "draft", "n": 1}, **{"timeout": LIMIT, **options}) as call:
            self.ran.append(call.input)
            call.result = {"saved": call.input["title"], "key": placet.idempotency_key.get()}
        return call

    def both(self) -> Iterator[Tuple[str, Any]]:
        """The same on a thread and on asyncio: a word for names, and a function that holds one call."""
        yield "sync", self.held
        yield "async", lambda *args, **options: asyncio.run(self.held_async(*args, **options))

    def test_what_was_approved_runs_and_is_reported(self) -> None:
        for word, held in self.both():
            with self.subTest(word), ThreadPoolExecutor() as threads:
                self.ran.clear()
                holding = threads.submit(
                    held, f"edited-{word}", call_id=f"call-{word}", risk="high", before={"title": "old"}, preview=lambda it: it["n"]
                )
                action = recorded({"pending_action_id": pending(f"edited-{word}")[0]["id"]})
                self.assertEqual(self.ran, [])
                decide(f"edited-{word}", {"title": "final"})
                call = holding.result(LIMIT)

                said = [action[name] for name in ("agent", "sessionId", "toolCallId", "risk", "before", "preview")]
                self.assertEqual(said, ["holder", self.id(), f"call-{word}", "high", {"title": "old"}, 1])
                self.assertEqual(self.ran, [{"title": "final", "n": 1}])
                self.assertTrue(call.edited)
                note = 'A human changed this call before it ran. It ran with: {"title": "final", "n": 1}\n\ndone'
                self.assertEqual(call.told("done"), note)
                action = only(f"edited-{word}")
                self.assertEqual((action["status"], action["result"]["saved"]), ("executed", "final"))
                self.assertTrue(action["result"]["key"].startswith(action["id"]))
                self.assertRaises(LookupError, placet.idempotency_key.get)

    def test_an_argument_that_was_not_edited_stays_its_object(self) -> None:
        due, price, tags = datetime.date(2026, 1, 2), decimal.Decimal("1.10"), {"b", "a"}
        changed: Dict[str, Any] = {"to": "ilka"}
        given = {"due": due, "price": price, "tags": tags, "changed": changed, "note": "draft"}
        with ThreadPoolExecutor() as threads:
            def held() -> Any:
                with self.gate.hold("objects", given, timeout=LIMIT) as call:
                    return call

            holding = threads.submit(held)
            action = recorded({"pending_action_id": pending("objects")[0]["id"]})
            asked = {"due": "2026-01-02", "price": "1.10", "tags": ["a", "b"], "changed": {"to": "ilka"}, "note": "draft"}
            self.assertEqual(action["toolInput"], asked)
            changed["to"] = "mallory"
            decide("objects", {"price": "9.99"})
            call = holding.result(LIMIT)
        self.assertEqual(call.input, {**given, "price": "9.99", "changed": {"to": "ilka"}})
        self.assertIs(call.input["tags"], tags)
        self.assertIn('"price": "9.99", "tags": ["a", "b"]', call.told("done"))

    def test_the_same_call_meets_its_action_whatever_its_types(self) -> None:
        given = {"due": datetime.date(2026, 1, 2), "tags": {"b", "a", "c"}}
        with ThreadPoolExecutor() as threads:
            def held(tool_input: Dict[str, Any]) -> None:
                with self.gate.hold("typed-again", tool_input, call_id="call-1", timeout=LIMIT):
                    self.ran.append(tool_input)

            holding = threads.submit(held, given)
            decide("typed-again")
            holding.result(LIMIT)
            for again in (given, {"due": "2026-01-02", "tags": ["a", "b", "c"]}):
                self.assertRaises(AlreadyRan, held, again)
        self.assertEqual(len(self.ran), 1)

    def test_an_input_that_is_not_json_is_told_in_words(self) -> None:
        async def enter(given: Any) -> None:
            async with self.gate.hold("not-json", given):
                self.fail("it ran")

        cases: List[Tuple[Any, str]] = [
            ({"cents": math.nan}, "This call did not run: input.cents is nan, which JSON does not have."),
            ({"cents": -math.inf}, "This call did not run: input.cents is -inf, which JSON does not have."),
            ({"to": ["\ud83d"]}, "This call did not run: input.to[0] holds half a character (a lone surrogate), which JSON does not have."),
            ({"to": object()}, "This call did not run: input.to is a object, which JSON does not have."),
            ([1], "This call did not run: the arguments are not an object."),
        ]
        for given, told in cases:
            for held in (lambda it: self.gate.hold("not-json", it).__enter__(), lambda it: asyncio.run(enter(it))):
                with self.assertRaises(InputError) as refused:
                    held(given)
                self.assertEqual(refused.exception.told, told)
        self.assertEqual(owner("GET", "?tool_name=not-json")["items"], [])

    def test_ids_that_are_too_long_are_hashed(self) -> None:
        ids = {"call_id": "call_1__thought__" + "Q" * 4000, "session_id": "s" * 513, "mission_id": "é" * 513}
        with ThreadPoolExecutor() as threads:
            holding = threads.submit(self.held, "long-ids", **ids)
            decide("long-ids")
            holding.result(LIMIT)
            self.assertRaises(AlreadyRan, self.held, "long-ids", **ids)
        said = [only("long-ids")[name] for name in ("toolCallId", "sessionId", "missionId")]
        self.assertEqual(said, ["sha256:" + hashlib.sha256(own.encode()).hexdigest() for own in ids.values()])

    def test_a_result_that_did_not_run_is_failed(self) -> None:
        async def coroutine() -> None:
            self.ran.append("coroutine")

        def generator() -> Iterator[None]:
            self.ran.append("generator")
            yield

        async def async_generator() -> Any:
            self.ran.append("async generator")
            yield

        def lazy() -> Any:
            return map(self.ran.append, ["lazy"])

        class AsyncIterator:
            def __aiter__(self) -> Any:
                return self

            async def __anext__(self) -> None: ...

        manager = contextlib.contextmanager(generator)
        manager.__name__ = "manager"

        begun, async_begun = generator(), async_generator()
        next(begun)
        asyncio.run(async_begun.__anext__())
        self.ran.clear()
        cursor = sqlite3.connect(":memory:").execute("create table done (n)")
        self.addCleanup(cursor.connection.close)
        for make in (coroutine, generator, async_generator, lazy, AsyncIterator, manager):
            with self.subTest(make.__name__), ThreadPoolExecutor() as threads:
                def held() -> None:
                    with self.gate.hold(f"unrun-{make.__name__}", {}) as call:
                        call.result = make()

                holding = threads.submit(held)
                decide(f"unrun-{make.__name__}")
                holding.result(LIMIT)
                action = only(f"unrun-{make.__name__}")
                self.assertEqual((action["status"], self.ran), ("failed", []))
                self.assertIn("It did not run: it returned a", action["error"])
        within = {"x": generator()}
        for tool, result in (("begun", begun), ("begun-async", async_begun), ("cursor", cursor), ("within", within)):
            with ThreadPoolExecutor() as threads:
                def held_begun() -> None:
                    with self.gate.hold(tool, {}) as call:
                        call.result = result

                holding = threads.submit(held_begun)
                decide(tool)
                holding.result(LIMIT)
            self.assertEqual(only(tool)["status"], "executed")

    def test_a_future_without_an_outcome_is_not_reported(self) -> None:
        with ThreadPoolExecutor() as threads, self.assertLogs("placet", "WARNING"):
            def held() -> None:
                with self.gate.hold("pending-future", {}) as call:
                    call.result = Future()

            holding = threads.submit(held)
            decide("pending-future")
            holding.result(LIMIT)
        self.assertEqual((only("pending-future")["status"], only("pending-future")["result"]), ("approved", None))

    def test_an_outcome_of_any_kind_stays_that_outcome(self) -> None:
        def held(tool: str, result: Any, error: Any) -> None:
            with self.gate.hold(tool, {}) as call:
                call.result, call.error = result, error

        cases = {
            "odd-result": ({"a": math.nan, "b": b"\xff"}, None, ("executed", {"a": "nan", "b": "b'\\xff'"})),
            "half-error": (None, "\ud83d no", ("failed", "? no")),
            "long-error": (None, "x" * (17 << 20), ("failed", "x" * 3998 + " …")),
        }
        for tool, (result, error, end) in cases.items():
            with self.subTest(tool), ThreadPoolExecutor() as threads:
                holding = threads.submit(held, tool, result, error)
                decide(tool)
                holding.result(LIMIT)
                action = only(tool)
                self.assertEqual((action["status"], action["error"] if error else action["result"]), end)

    def test_each_forked_process_has_its_own_session(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(Path(placet.__file__).parents[1])}
        said = subprocess.run([sys.executable, "-c", FORKS], env=environment, timeout=LIMIT, capture_output=True, text=True, check=True)
        first, one, two, last = said.stdout.split()
        self.assertEqual(first, last)
        self.assertEqual(len({first, one, two}), 3)

    def test_a_call_as_it_was_is_told_as_it_is(self) -> None:
        with ThreadPoolExecutor() as threads:
            holding = threads.submit(self.held, "unedited")
            decide("unedited")
            call = holding.result(LIMIT)
        self.assertEqual((call.edited, call.told({"a": 1})), (False, {"a": 1}))

    def test_a_rejected_call_does_not_run(self) -> None:
        for word, held in self.both():
            with self.subTest(word), ThreadPoolExecutor() as threads:
                holding = threads.submit(held, f"rejected-{word}")
                decide(f"rejected-{word}", reason="not on a Friday")
                with self.assertRaises(Refused) as refused:
                    holding.result(LIMIT)
                self.assertEqual(str(refused.exception), "A human rejected this call: not on a Friday. Do not repeat it unchanged.")
                self.assertEqual((refused.exception.decided.status, refused.exception.decided.reason), ("rejected", "not on a Friday"))
                self.assertEqual(self.ran, [])

    def test_the_same_call_again_gives_the_first_result(self) -> None:
        for word, held in self.both():
            with self.subTest(word), ThreadPoolExecutor() as threads:
                self.ran.clear()
                holding = threads.submit(held, f"replayed-{word}", call_id=f"call-{word}", before={"title": "old"})
                decide(f"replayed-{word}", {"title": "final"})
                holding.result(LIMIT)
                with self.assertRaises(AlreadyRan) as again:
                    held(f"replayed-{word}", call_id=f"call-{word}", before={"title": "final"})
                self.assertEqual(len(self.ran), 1)
                self.assertEqual(again.exception.decided.result["saved"], "final")
                self.assertTrue(again.exception.told.startswith("A human changed this call before it ran."))
                self.assertIn("was not run again", str(again.exception))
                self.assertEqual(only(f"replayed-{word}")["status"], "executed")

    def test_a_call_that_nobody_decides_is_withdrawn_in_time(self) -> None:
        for word, held in self.both():
            with self.subTest(word):
                with self.assertRaises(TimeoutError) as late:
                    held(f"late-{word}", timeout=0.3)
                self.assertIsInstance(late.exception, Undecided)
                self.assertEqual(str(late.exception), "Nobody decided within 0.3 s. This call did not run.")
                self.assertEqual(only(f"late-{word}")["status"], "withdrawn")
                self.assertEqual(self.ran, [])

    def test_waiting_that_is_broken_off_withdraws(self) -> None:
        # A shell starts what runs behind it deaf to this signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def interrupt() -> None:
            pending("interrupted")
            os.kill(os.getpid(), signal.SIGINT)

        with ThreadPoolExecutor() as threads:
            threads.submit(interrupt)
            with self.assertRaises(KeyboardInterrupt):
                self.held("interrupted")
        self.assertEqual(only("interrupted")["status"], "withdrawn")

        async def cancelled() -> None:
            task = asyncio.ensure_future(self.held_async("cancelled"))
            await asyncio.to_thread(pending, "cancelled")
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        self.assertEqual(only("cancelled")["status"], "withdrawn")
        self.assertEqual(self.ran, [])

    def test_what_the_block_raises_is_reported_and_goes_on(self) -> None:
        async def fail_async() -> None:
            async with self.gate.hold("raising-async", {}):
                raise ValueError("no such ticket")

        def fail() -> None:
            with self.gate.hold("raising-sync", {}):
                raise ValueError("no such ticket")

        def fail_quietly() -> None:
            with self.gate.hold("failing", {}) as call:
                call.error = "no such ticket"

        for tool, run, error in (
            ("raising-sync", fail, "ValueError: no such ticket"),
            ("raising-async", lambda: asyncio.run(fail_async()), "ValueError: no such ticket"),
        ):
            with self.subTest(tool), ThreadPoolExecutor() as threads:
                running = threads.submit(run)
                decide(tool)
                self.assertRaises(ValueError, running.result, LIMIT)
                self.assertEqual((only(tool)["status"], only(tool)["error"]), ("failed", error))
        with ThreadPoolExecutor() as threads:
            running = threads.submit(fail_quietly)
            decide("failing")
            running.result(LIMIT)
        self.assertEqual((only("failing")["status"], only("failing")["error"]), ("failed", "no such ticket"))

    def test_a_block_that_is_broken_off_reports_nothing(self) -> None:
        async def broken_off() -> None:
            inside = asyncio.Event()

            async def run() -> None:
                async with self.gate.hold("broken-off", {}, call_id="call-1"):
                    inside.set()
                    await asyncio.sleep(LIMIT)

            task = asyncio.ensure_future(run())
            await asyncio.to_thread(decide, "broken-off")
            await asyncio.wait_for(inside.wait(), LIMIT)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        with self.assertLogs("placet", "WARNING"):
            asyncio.run(broken_off())
        self.assertEqual((only("broken-off")["status"], only("broken-off")["result"]), ("approved", None))
        with self.assertRaises(Refused) as again:
            self.gate.hold("broken-off", {}, call_id="call-1").__enter__()
        self.assertEqual(str(again.exception), "This call is being run already and was not started again.")

    def test_a_program_that_is_killed_while_it_waits_runs_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            command = [sys.executable, "-c", PROGRAM, "call-1", str(out)]
            environment = {**os.environ, "PYTHONPATH": str(Path(placet.__file__).parents[1])}
            with subprocess.Popen(command, env=environment) as first:
                pending("restarted")
                first.kill()
            decide("restarted", {"title": "edited"})
            for said in ("", "This call ran already and was not run again. Its result: written\n"):
                again = subprocess.run(command, env=environment, timeout=LIMIT, capture_output=True, text=True, check=True)
                self.assertEqual((again.stdout, again.stderr), (said, ""))
            self.assertEqual(out.read_text(), "edited\n")
        self.assertEqual(only("restarted")["status"], "executed")

    def test_many_coroutines_wait_without_a_thread_each(self) -> None:
        async def agent() -> Tuple[int, List[Any]]:
            calls = [asyncio.ensure_future(self.held_async("many", call_id=f"call-{n}")) for n in range(20)]
            decider = threading.Thread(target=approve_all)
            decider.start()
            threads = threading.active_count()
            done = await asyncio.wait_for(asyncio.gather(*calls), LIMIT)
            decider.join(LIMIT)
            return threads, done

        def approve_all() -> None:
            for action in pending("many", 20):
                approve({"pending_action_id": action["id"]})

        before = threading.active_count()
        threads, done = asyncio.run(agent())
        self.assertEqual((threads - before, len(done), len(self.ran)), (1, 20, 20))

    def test_a_paused_gate_lets_nothing_begin(self) -> None:
        def administer(word: str) -> None:
            token = Path(os.environ["OWNER_TOKEN_FILE"]).read_text().strip()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            request = urllib.request.Request(f"{os.environ['PLACET_URL']}/api/gate/{word}", b"{}", headers, method="POST")
            direct.open(request, timeout=LIMIT).close()

        with ThreadPoolExecutor() as threads, mock.patch("placet.gate._PAUSED", 0.1):
            holding = threads.submit(self.held, "paused")
            administer("pause")
            try:
                decide("paused")
                with mock.patch.object(self.gate, "_claimed", wraps=self.gate._claimed) as asked:
                    eventually("it asks again", lambda: asked.call_count > 1)
                self.assertEqual(self.ran, [])
            finally:
                administer("resume")
            holding.result(LIMIT)
        self.assertEqual(len(self.ran), 1)

    def test_the_package_is_written_for_python_3_9(self) -> None:
        files = list(Path(placet.__file__).parent.glob("*.py"))
        self.assertEqual(len(files), 6)
        for file in files:
            ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))

    def test_keys_are_those_of_every_door(self) -> None:
        for case in json.loads((FIXTURES / "call_keys.json").read_text(encoding="utf-8")):
            key = _call_key(case["agent"], case["session"], case["callId"], case["tool"], case["input"])
            self.assertEqual(key, case["key"])


class Scripted(ThreadingHTTPServer):
    """A gate that approves everything, remembers what it was asked, and renews until `renewals` are used up."""

    daemon_threads = True

    def __init__(self, renewals: int) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.renewals = renewals
        self.renewed = threading.Condition()
        self.asked: List[Tuple[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = {"id": "a-1", "status": "approved", "items": [{"id": "default"}]}
        self.answer(200, body)

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Scripted)
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        word = self.path.rsplit("/", 1)[1]
        with server.renewed:
            server.asked.append((word, sent))
            left = server.renewals - sum(word == "renew" for word, _ in server.asked)
            server.renewed.notify_all()
        if word == "renew" and left < 0:
            return self.answer(409, {"error": {"code": "INVALID_STATE", "message": "another run has it"}})
        self.answer(200, {"pending_action_id": "a-1", "toolInput": {"n": 1}, "fence": 7, "idempotencyKey": "k"})

    def answer(self, status: int, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def scripted(renewals: int = 0, tls: bool = False) -> Iterator[Scripted]:
    with Scripted(renewals) as server:
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(FIXTURES / "tls.cert.pem", FIXTURES / "tls.key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.url = f"https://localhost:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Reaching(unittest.TestCase):
    def renewals(self, server: Scripted) -> List[Any]:
        return [sent for word, sent in server.asked if word == "renew"]

    def test_a_lease_is_renewed_while_the_block_runs(self) -> None:
        with scripted(renewals=2) as server:
            gate = Gate(url=server.url)

            def renewed() -> bool:
                with server.renewed:
                    return server.renewed.wait_for(lambda: len(self.renewals(server)) == 3, LIMIT)

            async def run() -> None:
                async with gate.hold("slow", {"n": 1}, lease_seconds=1):
                    self.assertTrue(await asyncio.to_thread(renewed))

            for held in ("sync", "async"):
                server.asked.clear()
                with self.subTest(held):
                    if held == "async":
                        asyncio.run(run())
                    else:
                        with gate.hold("slow", {"n": 1}, lease_seconds=1):
                            self.assertTrue(renewed())
                    # The third was answered by 409: the run is not ours any more, and no fourth is sent.
                    self.assertEqual(self.renewals(server), [{"fence": 7, "leaseSeconds": 1}] * 3)
                    self.assertEqual(server.asked[-1], ("result", {"fence": 7, "result": None}))

    def test_a_certificate_is_checked_before_the_token_is_sent(self) -> None:
        async def held() -> None:
            async with gate.hold("secure", {"n": 1}) as call:
                call.result = call.input

        with scripted(tls=True) as server:
            gate = Gate(url=server.url, timeout=LIMIT)
            with self.assertRaises(GateError) as refused:
                asyncio.run(held())
            self.assertEqual(refused.exception.code, "UNTRUSTED")
            with mock.patch.dict(os.environ, {"SSL_CERT_FILE": str(FIXTURES / "tls.cert.pem")}):
                asyncio.run(held())
                with gate.hold("secure", {"n": 1}) as call:
                    call.result = "sync"
            self.assertEqual([sent["result"] for word, sent in server.asked if word == "result"], [{"n": 1}, "sync"])

    def test_without_a_gate_nothing_runs(self) -> None:
        async def held(gate: Gate) -> None:
            async with gate.hold("gateless", {}):
                self.fail("it ran")

        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PLACET_STATE_DIR": folder}):
            os.environ.pop("PLACET_URL")
            with self.assertRaises(GateError) as missing:
                asyncio.run(held(Gate(timeout=0.3)))
            self.assertTrue(missing.exception.told.startswith("This call did not run: No gate on this machine. Start `placet`"))
        with self.assertRaises(GateError) as away:
            asyncio.run(held(Gate(url="http://127.0.0.1:1", timeout=0.3)))
        self.assertEqual(away.exception.told, "This call did not run: No gate at http://127.0.0.1:1. Start `placet`.")

    def test_a_gate_that_starts_in_time_is_found(self) -> None:
        note = {"url": os.environ["PLACET_URL"], "agentTokenFile": os.environ["PLACET_TOKEN_FILE"]}
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PLACET_STATE_DIR": folder}):
            os.environ.pop("PLACET_URL")
            gate = Gate()
            # It starts while the first pause lasts.
            found = gate._run(gate._own_workspace(), lambda _: (Path(folder) / "gate.json").write_text(json.dumps(note)))
            self.assertEqual(found, "default")


if __name__ == "__main__":
    unittest.main()
