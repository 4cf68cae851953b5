"""The agent's bridge against a real gate: PLACET_URL, PLACET_TOKEN_FILE (the agent's) and OWNER_TOKEN_FILE say where it is.

tests/slow/bridge.rs starts the gate and runs this. Every test has tools of its own, named after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import socketserver
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "assets" / "bridges" / "python" / "src"))

import placet
from placet import Decided, Gate, GateError, Refused

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

        action = recorded(identify("a", workspace_id="default", mission_id="m-1", session_id="s-1"))

        self.assertEqual((action["missionId"], action["sessionId"], action["batchId"]), ("m-1", "s-1", "m-1:identify"))
        self.assertEqual(action["toolInput"]["session_id"], "s-1")
        with self.assertRaises(GateError) as refused:
            identify("a", workspace_id="elsewhere")
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
        self.assertEqual((odd.status, odd.result), ("executed", "{1}"))
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

    def test_a_result_that_is_too_much_for_the_gate_is_executed_all_the_same(self) -> None:
        @self.gate.gated()
        def nesting() -> Any:
            deep: List[Any] = []
            for _ in range(600):
                deep = [deep]
            return deep

        signal = nesting()
        approve(signal)
        self.gate.work_once()

        decided = self.gate.wait(signal, LIMIT)
        self.assertEqual(decided.status, "executed")
        self.assertIn("The gate did not keep it", decided.result)

    def test_a_worker_ends_when_its_token_is_refused(self) -> None:
        gate = Gate(token="placet_agent_wrong")
        gate.gated(tool_name="tokenless")(lambda: None)
        with self.assertRaises(GateError) as refused:
            gate.run_worker()
        self.assertEqual(refused.exception.status, 401)


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
        for url in ("127.0.0.1:7878", "ftp://a", "http://kim:secret@127.0.0.1", "http://127.0.0.1:port"):
            with self.assertRaises(GateError) as refused:
                Gate(url=url)
            self.assertEqual(refused.exception.code, "NO_GATE", url)
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
