"""The bridge for dendrux, over HTTP, against the package as it is installed: `tests/bridges/dendrux.sh` runs this for two versions."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).parent
BRIDGE = HERE.parents[1] / "assets" / "bridges" / "dendrux" / "placet_dendrux.py"
sys.path[:0] = [str(HERE), str(BRIDGE.parent)]

import dendrux
import dendrux_agent
import placet_dendrux
import uvicorn
from dendrux.store import RunStore
from dendrux_agent import build_agent
from fastapi import FastAPI
from placet_dendrux import Bridge, bearer

#: Seconds for which anything may take.
LIMIT = 30.0
TOKEN = "inbox-token"
#: Whether this version decides each call by itself.
PER_CALL = hasattr(dendrux, "ApprovalDecision")

BUY = ["buy", {"part": "bolt", "amount": 7}]
SCRAP = ["scrap", {"machine": "lathe"}]
STOCK = ["stock", {"part": "nut"}]
SIGN = ["sign", {"parcel": "P-1"}]


def eventually(what: str, probe: Callable[[], Any]) -> Any:
    started, pause = time.monotonic(), threading.Event()
    while time.monotonic() - started < LIMIT:
        found = probe()
        if found:
            return found
        pause.wait(0.02)
    raise AssertionError(f"never happened: {what}")


def ask(url: str, body: Any = None, token: str | None = TOKEN) -> tuple[int, Any]:
    """A GET, or a POST of JSON; status and answer."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    data = None if body is None else json.dumps(body).encode()
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(urllib.request.Request(url, data, headers), timeout=LIMIT) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


class Stream:
    """What listens at the bridge."""

    def __init__(self, url: str) -> None:
        host, _, path = url.removeprefix("http://").partition("/")
        self._connection = http.client.HTTPConnection(host, timeout=LIMIT)
        self._connection.request("GET", f"/{path}", headers={"Authorization": f"Bearer {TOKEN}"})
        self.reply = self._connection.getresponse()

    def frame(self) -> tuple[str, Any] | None:
        """The next; `None` at the end."""
        event, data, _ = (self.reply.readline().decode() for _ in range(3))
        return (event.removeprefix("event: ").strip(), json.loads(data.removeprefix("data: "))) if data else None

    def briefing(self, **wanted: int) -> None:
        """Waits for one of that kind."""
        started = time.monotonic()
        while (found := self.frame()) != ("briefing", wanted):
            assert found is not None and time.monotonic() - started < LIMIT, f"{found}, and not {wanted}"

    def close(self) -> None:
        self.reply.close()
        self._connection.close()


class Served:
    """An application that owns an agent, with the bridge mounted in it."""

    def __init__(self, database: Path, *names: str, **options: Any) -> None:
        self.database = database
        self._names, self._options = names or ("Storekeeper",), options
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        assert self._started.wait(LIMIT), "the application does not start"

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        url = f"sqlite+aiosqlite:///{self.database}"
        hooks = self._options.pop("agent", {})
        self.agents = {name: build_agent(url, name, **hooks) for name in self._names}
        store = RunStore.from_database_url(url)
        self.other = build_agent(url)  # as another process would have it
        self.bridge = Bridge(agents=self.agents.values(), store=store, authorize=bearer(TOKEN), **self._options)
        await placet_dendrux._reach(self.other)  # its tables
        self.closed = False

        @contextlib.asynccontextmanager
        async def lifespan(_: FastAPI) -> Any:
            self._started.set()
            yield
            self.closed = True

        app = FastAPI(lifespan=lifespan)
        app.include_router(self.bridge.router, prefix="/dendrux")
        self.server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/dendrux"
        await self.server.serve([listener])
        for agent in (self.other, *self.agents.values()):
            await agent.close()
        await store.close()

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # it ended already
            self.loop.call_soon_threadsafe(self.bridge.end_streams)
        self.server.should_exit = True
        self._thread.join(LIMIT)
        assert not self._thread.is_alive(), "the application does not end"

    def do(self, work: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, *turns: list[Any], by: str = "Storekeeper", tenant_id: str | None = None, **script: Any) -> str:
        """Runs an agent until it waits; the id of the run."""
        text = json.dumps({"turns": list(turns), **script})
        given: Any = {"metadata": {"ticket": "T-7", "dendrux.own": 1}, "tenant_id": tenant_id}
        return str(self.do(self.agents[by].run(text, **given)).result(LIMIT).run_id)

    def ask(self, path: str, body: Any = None, token: str | None = TOKEN) -> tuple[int, Any]:
        return ask(f"{self.url}{path}", body, token)

    def waiting(self, query: str = "") -> list[Any]:
        status, found = self.ask(f"/placet/waiting{query}")
        assert (status, found["broken"]) == (200, []), found
        return list(found["turns"])

    def turn(self, run_id: str) -> Any:
        return next(turn for turn in self.waiting() if turn["run_id"] == run_id)

    def decide(self, run_id: str, pause: int, **body: Any) -> tuple[int, Any]:
        return self.ask(f"/placet/runs/{run_id}/decide", {"pause": pause, **body})

    def ended(self, run_id: str) -> Any:
        """The run, once it ended and its decision was followed to the end."""

        def probe() -> Any:
            found = self.ask(f"/runs/{run_id}")[1]
            return found if found["status"] in ("success", "error") and not self.bridge._going else None

        return eventually(f"{run_id} ends", probe)

    def said(self, run_id: str) -> Any:
        """The last words of a run: the results of its calls."""
        return json.loads(self.ended(run_id)["answer"])

    def sql(self, statement: str, *values: Any) -> None:
        with contextlib.closing(sqlite3.connect(self.database, timeout=LIMIT)) as connection, connection:
            assert connection.execute(statement, values).rowcount > 0, statement


def refused(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["detail"]["code"]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        dendrux_agent.ran.clear()

    def serve(self, *names: str, **options: Any) -> Served:
        served = Served(self.folder / "runs.db", *names, **options)
        self.addCleanup(served.stop)
        return served


class Reading(Case):
    def test_it_says_what_it_can_do(self) -> None:
        served = self.serve("Storekeeper", "Guard")

        status, report = served.ask("/placet")

        self.assertEqual((status, report["bridge"], report["agents"]), (200, 1, ["Storekeeper", "Guard"]))
        self.assertEqual((report["decisions"], report["notes"]), (PER_CALL, PER_CALL))
        self.assertEqual(report["dendrux"], os.environ.get("DENDRUX_VERSION", report["dendrux"]))

    def test_one_call_lists_everything_that_waits_newest_first(self) -> None:
        served = self.serve("Storekeeper", "Guard")
        bought = served.run([BUY, STOCK, SIGN], tenant_id="acme")
        signing = served.run([SIGN])
        asked = served.run([BUY], ask=["Which one?", "left", "right"], by="Guard")
        served.run()

        turns = served.waiting()

        self.assertEqual([turn["run_id"] for turn in turns], [asked, signing, bought])
        self.assertEqual([turn["status"] for turn in turns], ["waiting_human_input", "waiting_client_tool", "waiting_approval"])
        first, second, third = turns
        self.assertEqual(first["question"], {"text": "Which one?", "options": ["left", "right"]})
        self.assertEqual((first["calls"], first["agent_name"]), ([], "Guard"))
        self.assertEqual([(it["name"], it["target"], it["gated"]) for it in second["calls"]], [("sign", "client", False)])
        self.assertIsNone(second["question"])
        told = [(it["name"], it["params"], it["target"], it["gated"], it["gate_source"], it["reason"]) for it in third["calls"]]
        self.assertEqual(told[0], ("buy", {"part": "bolt", "amount": 7}, "server", True, "static", None))
        self.assertEqual(told[1], ("stock", {"part": "nut"}, "server", False, None, None))
        self.assertEqual(told[2], ("sign", {"parcel": "P-1"}, "client", False, None, None))
        self.assertEqual((third["tenant_id"], second["tenant_id"], third["parent_run_id"]), ("acme", None, None))
        self.assertEqual(third["metadata"], {"ticket": "T-7"})
        self.assertEqual(json.loads(third["input"]), {"turns": [[BUY, STOCK, SIGN]]})
        self.assertEqual([turn["run_id"] for turn in served.waiting("?agent_name=Guard")], [asked])
        self.assertEqual([turn["run_id"] for turn in served.waiting("?tenant_id=acme")], [bought])
        self.assertEqual(served.waiting("?agent_name=Guard&tenant_id=acme"), [])
        self.assertEqual([turn["run_id"] for turn in served.waiting(f"?run_id={bought}&run_id=nobody")], [bought])
        self.assertEqual({turn["run_id"] for turn in served.waiting(f"?run_id={bought}&run_id={asked}")}, {bought, asked})
        pauses = served.ask(f"/runs/{bought}/pauses")[1]["items"]
        self.assertEqual(pauses[-1]["pause_sequence_index"], third["pause"])

    def test_more_than_one_query_can_carry_are_all_listed(self) -> None:
        served = self.serve()
        runs = [served.run([BUY]) for _ in range(5)]

        with mock.patch.object(placet_dendrux, "_CHUNK", 2):
            self.assertEqual([turn["run_id"] for turn in served.waiting()], runs[::-1])

    def test_a_run_that_pauses_again_within_the_same_second_is_read_again(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], [SCRAP])
        at = "2026-03-04 05:06:07"  # the oldest version keeps no more
        served.sql("UPDATE agent_runs SET updated_at = ? WHERE id = ?", at, run_id)
        first = served.turn(run_id)
        served.do(served.other.submit_approval(run_id, approved=True)).result(LIMIT)
        served.sql("UPDATE agent_runs SET updated_at = ? WHERE id = ?", at, run_id)

        second = served.turn(run_id)

        self.assertGreater(second["pause"], first["pause"])
        self.assertEqual([call["name"] for call in second["calls"]], ["scrap"])

    def test_a_broken_run_hides_no_other(self) -> None:
        served = self.serve()
        good, bad, odd, half, lost = (served.run([BUY]) for _ in range(5))
        served.sql("UPDATE agent_runs SET input_data = '{' WHERE id = ?", bad)
        served.sql("UPDATE agent_runs SET meta = '{\"a\": NaN}' WHERE id = ?", odd)
        served.sql("UPDATE agent_runs SET meta = '{\"a\": \"\\ud800\"}' WHERE id = ?", half)
        served.sql("DELETE FROM run_events WHERE event_type = 'run.paused' AND agent_run_id = ?", lost)

        status, found = served.ask("/placet/waiting")

        self.assertEqual((status, [turn["run_id"] for turn in found["turns"]]), (200, [good]))
        self.assertEqual([run["run_id"] for run in found["broken"]], [lost, half, odd, bad])
        self.assertIn("input is not JSON", found["broken"][-1]["error"])
        self.assertEqual(refused(served.decide(bad, 3, approved=True)), (409, "pause_moved"))
        self.assertEqual(dendrux_agent.ran, [])
        served.sql("UPDATE agent_runs SET input_data = NULL WHERE id = ?", bad)
        self.assertIn(bad, [turn["run_id"] for turn in served.ask("/placet/waiting")[1]["turns"]])

    def test_times_of_every_shape_are_sent_as_utc(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        shapes = {
            "2026-03-04 05:06:07": "2026-03-04T05:06:07Z",
            "2026-03-04 05:06:07.890000": "2026-03-04T05:06:07.890000Z",
            "2026-03-04T05:06:07+00:00Z": "2026-03-04T05:06:07Z",
            "2026-03-04T05:06:07Z": "2026-03-04T05:06:07Z",
            "2026-03-04T05:06:07+02:00": "2026-03-04T03:06:07Z",
            "yesterday": None,
            "0001-01-01T00:00:00+09:00": None,
        }
        for number, (kept, sent) in enumerate(shapes.items()):
            with self.subTest(kept):
                at = f"2026-01-01 00:00:0{number}.000000"  # what is read once is read again when the run changed
                served.sql("UPDATE agent_runs SET created_at = ?, updated_at = ? WHERE id = ?", kept, at, run_id)
                served.sql("UPDATE run_events SET created_at = ? WHERE agent_run_id = ?", kept, run_id)
                turn = served.turn(run_id)
                self.assertEqual((turn["created_at"], turn["paused_at"]), (sent, sent))
                self.assertEqual(served.ask(f"/placet/runs/{run_id}")[1]["updated_at"], at.replace(" ", "T").replace(".000000", "Z"))

    @unittest.skipUnless(PER_CALL, "this version keeps no gates")
    def test_a_run_that_paused_under_an_older_version_needs_a_decision_on_all_that_runs_here(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, STOCK, SIGN])
        served.sql("UPDATE agent_runs SET pause_data = json_remove(pause_data, '$.approval_gates') WHERE id = ?", run_id)

        turn = served.turn(run_id)

        self.assertEqual([(it["gated"], it["gate_source"]) for it in turn["calls"]], [(True, None), (True, None), (False, None)])
        decisions = {it["id"]: {"approved": True} for it in turn["calls"] if it["gated"]}
        self.assertEqual(served.decide(run_id, turn["pause"], decisions=decisions)[0], 202)
        eventually("it waits for its client", lambda: served.waiting() and served.turn(run_id)["status"] == "waiting_client_tool")

    @unittest.skipUnless(PER_CALL, "this version has no hooks")
    def test_what_a_hook_held_says_why(self) -> None:
        async def hold(call: Any) -> Any:
            return dendrux.ToolDecision.require_approval("over the limit") if call.tool_name == "stock" else None

        served = self.serve(agent={"before_tool": hold})
        calls = served.turn(served.run([BUY, STOCK]))["calls"]

        self.assertEqual([(it["gate_source"], it["reason"]) for it in calls], [("static", None), ("hook", "over the limit")])

    def test_nothing_is_told_without_the_token(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        paths: dict[str, Any] = {
            "/placet": None,
            "/placet/waiting": None,
            "/placet/events": None,
            f"/placet/runs/{run_id}": None,
            "/runs": None,
            f"/placet/runs/{run_id}/decide": {"pause": 3, "approved": True},
            f"/placet/runs/{run_id}/results": {"pause": 3, "results": []},
            f"/placet/runs/{run_id}/input": {"pause": 3, "text": "yes"},
        }
        for path, body in paths.items():
            for token in (None, "", "another-token", TOKEN + "x", TOKEN[:-1], "ü"):
                with self.subTest(path, token=token):
                    status, answer = served.ask(path, body, token and token.encode().decode("latin-1"))
                    self.assertEqual((status, answer["detail"]["code"]), (401, "unauthorized"))
        self.assertEqual(dendrux_agent.ran, [])
        for no_token in ("", "two words", "line\nbreak", "ü"):
            with self.assertRaises(ValueError):
                bearer(no_token)


class Deciding(Case):
    @unittest.skipUnless(PER_CALL, "this version decides a turn as a whole")
    def test_each_gated_call_is_decided_by_itself_and_an_ungated_one_runs_beside_a_denied(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, SCRAP, STOCK])
        turn = served.turn(run_id)
        buy, scrap, stock = (call["id"] for call in turn["calls"])
        decisions: Any = {buy: {"approved": True}, scrap: {"approved": False, "reason": "still needed"}}

        answer = served.decide(run_id, turn["pause"], decisions=decisions, decided_by="ilka")

        self.assertEqual(answer, (202, {"status": "submitted", "run_id": run_id, "pause": turn["pause"]}))
        said = served.said(run_id)
        self.assertEqual(sorted(dendrux_agent.ran), [("buy", "bolt", 7), ("stock", "nut")])
        self.assertIn({"denied": "still needed"}, [json.loads(it) for it in said])
        status, found = served.ask(f"/placet/runs/{run_id}")
        self.assertEqual((status, found["status"], found["failure_reason"]), (200, "success", None))
        (entry,) = found["decided"]
        self.assertEqual((entry["pause"], entry["decided_by"], entry["error"]), (turn["pause"], "ilka", None))
        self.assertTrue(entry["at"].endswith("Z"))
        self.assertEqual(served.waiting(), [])

    @unittest.skipUnless(PER_CALL, "this version decides a turn as a whole")
    def test_decisions_that_are_not_exactly_those_asked_for_decide_nothing(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, SCRAP, STOCK])
        turn = served.turn(run_id)
        buy, scrap, stock = (call["id"] for call in turn["calls"])
        yes: Any = {"approved": True}

        for decisions in ({}, {buy: yes}, {buy: yes, scrap: yes, stock: yes}, {buy: yes, "other": yes}):
            with self.subTest(decisions):
                answer = served.decide(run_id, turn["pause"], decisions=decisions, note="hear me")
                self.assertEqual(refused(answer), (400, "bad_decisions"))
        self.assertEqual((served.turn(run_id), dendrux_agent.ran), (turn, []))
        self.assertEqual(served.ask(f"/placet/runs/{run_id}")[1]["decided"], [])
        self.assertEqual(served.do(served.bridge._runs._store.get_notes(run_id)).result(LIMIT), [])

    @unittest.skipIf(PER_CALL, "this version decides each call")
    def test_decisions_on_calls_are_refused_where_the_package_takes_none(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        turn = served.turn(run_id)
        decisions = {turn["calls"][0]["id"]: {"approved": True}}

        self.assertEqual(refused(served.decide(run_id, turn["pause"], decisions=decisions)), (501, "not_supported"))
        self.assertEqual(refused(served.decide(run_id, turn["pause"], approved=True, note="a")), (501, "not_supported"))
        self.assertEqual((served.turn(run_id), dendrux_agent.ran), (turn, []))

    def test_a_turn_is_approved_as_a_whole(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, SCRAP, STOCK])

        self.assertEqual(served.decide(run_id, served.turn(run_id)["pause"], approved=True)[0], 202)

        self.assertEqual(len(served.said(run_id)), 3)
        self.assertEqual(sorted(dendrux_agent.ran), [("buy", "bolt", 7), ("scrap", "lathe"), ("stock", "nut")])

    def test_a_turn_is_rejected_as_a_whole_and_its_ungated_call_too(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, STOCK])

        answer = served.decide(run_id, served.turn(run_id)["pause"], approved=False, rejection_reason="not today")

        self.assertEqual(answer[0], 202)
        self.assertEqual([json.loads(it) for it in served.said(run_id)], ["not today", "not today"])
        self.assertEqual(dendrux_agent.ran, [])

    @unittest.skipUnless(PER_CALL, "this version takes no notes")
    def test_a_note_reaches_the_model_with_the_decision(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])

        answer = served.decide(run_id, served.turn(run_id)["pause"], approved=True, note="buy local", decided_by="ilka")

        self.assertEqual(answer[0], 202)
        self.assertIn("buy local", served.said(run_id)[0])
        (note,) = served.do(served.bridge._runs._store.get_notes(run_id)).result(LIMIT)
        self.assertEqual((note.text, note.metadata), ("buy local", {"decided_by": "ilka"}))

    @unittest.skipUnless(PER_CALL, "this version takes no notes")
    def test_a_note_that_is_too_long_decides_nothing(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        turn = served.turn(run_id)

        self.assertEqual(refused(served.decide(run_id, turn["pause"], approved=True, note="a" * 33_000)), (400, "bad_decisions"))

        self.assertEqual((served.turn(run_id), dendrux_agent.ran), (turn, []))

    @unittest.skipUnless(PER_CALL, "this version takes no notes")
    def test_a_note_is_left_once_for_a_pause_and_a_refusal_says_that_it_was_left(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        pause = served.turn(run_id)["pause"]

        async def failing(*_: Any, **__: Any) -> Any:
            raise OSError("no tools today")

        def notes() -> list[str]:
            return [note.text for note in served.do(served.bridge._runs._store.get_notes(run_id)).result(LIMIT)]

        with mock.patch.object(served.agents["Storekeeper"], "submit_approval", failing):
            for note, left in (("buy local", ["buy local"]), ("buy local", ["buy local"]), ("or not", ["buy local", "or not"])):
                answer = served.decide(run_id, pause, approved=True, note=note)
                self.assertEqual(refused(answer), (500, "failed"))
                self.assertIn("no tools today", answer[1]["detail"]["message"])
                self.assertIn("the comment was already left for the agent", answer[1]["detail"]["message"])
                self.assertEqual(sorted(notes()), left)
            bare = served.decide(run_id, pause, approved=True)
            self.assertNotIn("comment", bare[1]["detail"]["message"])

        self.assertEqual(served.decide(run_id, pause, approved=True, note="buy local")[0], 202)
        served.ended(run_id)
        self.assertEqual(sorted(notes()), ["buy local", "or not"])

    @unittest.skipUnless(PER_CALL, "this version takes no notes")
    def test_who_loses_to_another_process_is_told_that_the_note_was_left(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], [SCRAP])
        pause = served.turn(run_id)["pause"]
        read = served.bridge._runs.open

        async def overtaken(*given: Any) -> Any:
            turn = await read(*given)
            await served.other.submit_approval(run_id, approved=True)
            return turn

        with mock.patch.object(served.bridge._runs, "open", overtaken):
            answer = served.decide(run_id, pause, approved=True, note="buy local")

        self.assertEqual(refused(answer), (409, "pause_moved"))
        self.assertIn("the comment was already left for the agent", answer[1]["detail"]["message"])
        # Before anything is left, nothing is said of it.
        again = served.decide(run_id, pause, approved=True, note="too late")
        self.assertEqual(refused(again), (409, "pause_moved"))
        self.assertNotIn("comment", again[1]["detail"]["message"])

    def test_what_is_no_decision_is_refused_before_anything_runs(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        turn = served.turn(run_id)
        given: list[Any] = [
            {},
            {"approved": True, "decisions": {}},
            {"approved": "yes"},
            {"approved": 1},
            {"approved": True, "rejection_reason": "no"},
            {"approved": True, "edits": {"amount": 1}},
            {"decisions": {turn["calls"][0]["id"]: {}}},
            {"pause": "3", "approved": True},
            {"pause": True, "approved": True},
        ]
        for body in given:
            with self.subTest(body):
                answer = served.ask(f"/placet/runs/{run_id}/decide", {"pause": turn["pause"], **body})
                self.assertEqual(answer[0], 422)
        self.assertEqual((served.turn(run_id), dendrux_agent.ran), (turn, []))

    def test_of_two_who_decide_at_once_one_is_told_that_it_counts(self) -> None:
        served = self.serve()
        for number in range(5):
            run_id = served.run([BUY], hold=f"race-{number}")
            pause = served.turn(run_id)["pause"]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                both = pool.map(lambda who: served.decide(run_id, pause, approved=True, decided_by=who), ("ilka", "bob"))
            answers = sorted(both, key=lambda answer: answer[0])
            dendrux_agent.release(f"race-{number}")
            self.assertEqual([status for status, _ in answers], [202, 409])
            self.assertEqual(refused(answers[1]), (409, "claimed"))
            served.ended(run_id)
            self.assertEqual(len(served.ask(f"/placet/runs/{run_id}")[1]["decided"]), 1)
        self.assertEqual(dendrux_agent.ran, [("buy", "bolt", 7)] * 5)

    def test_the_claim_of_another_process_is_never_taken_for_ones_own(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], hold="another")
        pause = served.turn(run_id)["pause"]
        read, others = served.bridge._runs.open, []

        async def too_late(*given: Any) -> Any:
            turn = await read(*given)
            others.append(asyncio.ensure_future(served.other.submit_approval(run_id, approved=False, rejection_reason="no")))
            while (await served.bridge._runs.state(run_id)).status != "running":
                await asyncio.sleep(0)
            return turn

        with mock.patch.object(served.bridge._runs, "open", too_late):
            answer = served.decide(run_id, pause, approved=True)
        dendrux_agent.release("another")

        self.assertIn(refused(answer), [(409, "not_paused"), (409, "claimed")])
        self.assertEqual(json.loads(served.said(run_id)[0]), "no")
        self.assertEqual((dendrux_agent.ran, served.ask(f"/placet/runs/{run_id}")[1]["decided"]), ([], []))

    @unittest.skipUnless(PER_CALL, "this version names no calls when it claims")
    def test_what_was_approved_is_not_what_came_in_its_place(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], [SCRAP])
        pause = served.turn(run_id)["pause"]
        read = served.bridge._runs.open

        async def overtaken(*given: Any) -> Any:
            turn = await read(*given)
            await served.other.submit_approval(run_id, approved=True)
            return turn

        with mock.patch.object(served.bridge._runs, "open", overtaken):
            answer = served.decide(run_id, pause, approved=True)

        self.assertEqual(refused(answer), (409, "pause_moved"))
        self.assertEqual([call["name"] for call in served.turn(run_id)["calls"]], ["scrap"])
        self.assertEqual(dendrux_agent.ran, [("buy", "bolt", 7)])

    def test_two_processes_that_race_agree_on_who_won(self) -> None:
        served = self.serve()
        for number in range(5):
            run_id = served.run([BUY], hold=f"two-{number}")
            pause = served.turn(run_id)["pause"]
            other = served.do(served.other.submit_approval(run_id, approved=True))
            status, answer = served.decide(run_id, pause, approved=True)
            dendrux_agent.release(f"two-{number}")
            lost = other.exception(LIMIT) is not None
            self.assertEqual((status == 202, status == 409), (lost, not lost), answer)
            served.ended(run_id)
        self.assertEqual(dendrux_agent.ran, [("buy", "bolt", 7)] * 5)

    def test_a_decision_holds_for_the_pause_that_it_names(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], [SCRAP])
        first = served.turn(run_id)["pause"]
        self.assertEqual(served.decide(run_id, first, approved=True)[0], 202)
        second = eventually("it pauses again", lambda: served.waiting() and served.turn(run_id)["pause"])
        eventually("the first is done", lambda: not served.bridge._going)

        self.assertNotEqual(first, second)
        self.assertEqual(refused(served.decide(run_id, first, approved=True)), (409, "pause_moved"))
        self.assertEqual(refused(served.decide(run_id, second + 1, approved=True)), (409, "pause_moved"))
        self.assertEqual(dendrux_agent.ran, [("buy", "bolt", 7)])
        self.assertEqual(served.decide(run_id, second, approved=True)[0], 202)
        self.assertEqual(len(served.said(run_id)), 2)
        self.assertEqual([it["pause"] for it in served.ask(f"/placet/runs/{run_id}")[1]["decided"]], [first, second])

    def test_the_answer_does_not_wait_for_a_slow_model(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], hold="slow")
        pause = served.turn(run_id)["pause"]

        with mock.patch.object(placet_dendrux, "_PATIENCE", LIMIT * 10):
            answer = served.decide(run_id, pause, approved=True)

        self.assertEqual(answer[0], 202)
        eventually("the model is asked", lambda: dendrux_agent.holds("slow"))
        self.assertEqual(served.ask(f"/placet/runs/{run_id}")[1]["status"], "running")
        self.assertEqual(served.waiting(), [])
        self.assertEqual(refused(served.decide(run_id, pause, approved=False)), (409, "claimed"))
        dendrux_agent.release("slow")
        self.assertEqual(served.ended(run_id)["status"], "success")
        self.assertEqual(refused(served.decide(run_id, pause, approved=True)), (409, "terminal"))

    def test_where_a_claim_cannot_be_seen_the_run_that_went_on_says_it(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], hold="unseen")
        pause = served.turn(run_id)["pause"]

        with mock.patch.object(placet_dendrux, "_Submit", Blind), mock.patch.object(placet_dendrux, "_PATIENCE", 0.5):
            answer = served.decide(run_id, pause, approved=True)
        dendrux_agent.release("unseen")

        self.assertEqual((answer[0], served.ended(run_id)["status"]), (202, "success"))

    def test_a_failure_after_the_claim_is_kept(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], hold="failing", fail="the model is gone")
        self.assertEqual(served.decide(run_id, served.turn(run_id)["pause"], approved=True)[0], 202)

        with self.assertLogs("placet.dendrux", "WARNING"):
            dendrux_agent.release("failing")
            served.ended(run_id)
            found = eventually("it is kept", lambda: served.ask(f"/placet/runs/{run_id}")[1])

        self.assertEqual(found["status"], "error")
        self.assertIn("the model is gone", found["decided"][0]["error"])

    def test_a_run_that_fails_at_once_was_decided_all_the_same(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], fail="the model is gone")

        self.assertEqual(served.decide(run_id, served.turn(run_id)["pause"], approved=True)[0], 202)

        served.ended(run_id)
        self.assertIn("the model is gone", served.ask(f"/placet/runs/{run_id}")[1]["decided"][0]["error"])

    def test_a_submit_that_fails_before_its_claim_decides_nothing(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        turn = served.turn(run_id)

        async def failing(*_: Any, **__: Any) -> Any:
            raise OSError("no tools today")

        with mock.patch.object(served.agents["Storekeeper"], "submit_approval", failing):
            answer = served.decide(run_id, turn["pause"], approved=True)

        self.assertEqual(refused(answer), (500, "failed"))
        self.assertIn("no tools today", answer[1]["detail"]["message"])
        self.assertEqual((served.turn(run_id), served.ask(f"/placet/runs/{run_id}")[1]["decided"]), (turn, []))

    def test_an_agent_without_its_database_is_told_apart(self) -> None:
        served = self.serve()
        run_id = served.run([BUY])
        alone = build_agent("", state_store=None)
        alone._database_url = None

        with mock.patch.dict(served.bridge._agents, {"Storekeeper": alone}):
            answer = served.decide(run_id, served.turn(run_id)["pause"], approved=True)

        self.assertEqual(refused(answer), (500, "no_persistence"))

    def test_a_run_that_is_not_there_is_told_apart(self) -> None:
        served = self.serve()
        bodies: dict[str, Any] = {"decide": {"approved": True}, "results": {"results": []}, "input": {"text": "a"}}
        for route, body in bodies.items():
            answer = served.ask(f"/placet/runs/nobody/{route}", {"pause": 1, **body})
            self.assertEqual(refused(answer), (404, "not_found"))
        self.assertEqual(refused(served.ask("/placet/runs/nobody")), (404, "not_found"))

    def test_a_run_of_an_unknown_agent_is_listed_and_not_decided(self) -> None:
        served = self.serve("Storekeeper", "Guard")
        run_id = served.run([BUY], by="Guard")
        pause = served.turn(run_id)["pause"]

        with mock.patch.dict(served.bridge._agents):
            del served.bridge._agents["Guard"]
            self.assertEqual(served.turn(run_id)["agent_name"], "Guard")
            answer = served.decide(run_id, pause, approved=True)

        self.assertEqual(refused(answer), (501, "not_supported"))
        self.assertIn("'Guard'", answer[1]["detail"]["message"])
        self.assertEqual(served.decide(run_id, pause, approved=True)[0], 202)
        self.assertEqual(served.ended(run_id)["status"], "success")

    def test_a_bridge_needs_agents_of_different_names_and_a_store_that_it_can_read(self) -> None:
        url = f"sqlite+aiosqlite:///{self.folder / 'none.db'}"
        given: Any = {"store": RunStore.from_database_url(url), "authorize": bearer(TOKEN)}
        with self.assertRaises(ValueError):
            Bridge(**given)
        with self.assertRaises(ValueError):
            Bridge(build_agent(url), agents=[build_agent(url)], **given)
        with self.assertRaises(TypeError):
            Bridge(build_agent(url), **{**given, "store": RunStore(mock.Mock(spec=[]))})


class Answering(Case):
    def test_results_of_client_tools_go_to_the_model(self) -> None:
        served = self.serve()
        run_id = served.run([SIGN, ["sign", {"parcel": "P-2"}]])
        turn = served.turn(run_id)
        one, two = (call["id"] for call in turn["calls"])
        results: Any = [
            {"call_id": two, "payload": None, "success": False, "error": "nobody home"},
            {"call_id": one, "payload": {"signed": True, "grams": 10**20}, "success": True, "error": None},
        ]

        for wrong in ([], results[:1], results + results[:1], [*results, {"call_id": "other", "payload": 1}]):
            answer = served.ask(f"/placet/runs/{run_id}/results", {"pause": turn["pause"], "results": wrong})
            self.assertEqual(refused(answer), (400, "bad_results"))
        self.assertEqual(refused(served.decide(run_id, turn["pause"], approved=True)), (409, "mismatch"))
        answer = served.ask(f"/placet/runs/{run_id}/results", {"pause": turn["pause"], "results": results})

        self.assertEqual(answer, (202, {"status": "submitted", "run_id": run_id, "pause": turn["pause"]}))
        self.assertIn({"signed": True, "grams": 10**20}, [json.loads(it) for it in served.said(run_id)])

    @unittest.skipUnless(PER_CALL, "this version runs client tools on the server")
    def test_a_client_call_beside_a_gated_one_is_answered_after_the_decision(self) -> None:
        served = self.serve()
        run_id = served.run([BUY, SIGN])
        first = served.turn(run_id)
        buy, sign = (call["id"] for call in first["calls"])
        self.assertEqual(served.decide(run_id, first["pause"], decisions={buy: {"approved": True}})[0], 202)

        second = eventually("it waits for its client", lambda: next(iter(served.waiting()), None))

        self.assertEqual((second["status"], [call["id"] for call in second["calls"]]), ("waiting_client_tool", [sign]))
        body = {"pause": second["pause"], "results": [{"call_id": sign, "payload": "signed"}]}
        self.assertEqual(served.ask(f"/placet/runs/{run_id}/results", body)[0], 202)
        self.assertIn("signed", [json.loads(it) for it in served.said(run_id) if it.startswith('"')])
        self.assertEqual(dendrux_agent.ran, [("buy", "bolt", 7)])

    def test_a_question_is_answered_in_words(self) -> None:
        served = self.serve()
        run_id = served.run(ask=["Which one?", "left", "right"])
        pause = served.turn(run_id)["pause"]

        others: dict[str, Any] = {"decide": {"approved": True}, "results": {"results": []}}
        for path, body in others.items():
            answer = served.ask(f"/placet/runs/{run_id}/{path}", {"pause": pause, **body})
            self.assertEqual(refused(answer), (409, "mismatch"))
        answer = served.ask(f"/placet/runs/{run_id}/input", {"pause": pause, "text": "left, süß"})

        self.assertEqual(answer[0], 202)
        self.assertEqual(served.said(run_id), ["left, süß"])


class Listening(Case):
    def test_a_listener_hears_how_much_waits_at_once_and_on_every_change(self) -> None:
        served = self.serve()
        served.run([SIGN, SIGN])
        stream = Stream(f"{served.url}/placet/events")
        self.addCleanup(stream.close)
        self.assertEqual(stream.reply.headers["content-type"].partition(";")[0], "text/event-stream")

        self.assertEqual(stream.frame(), ("briefing", {"pending": 2, "turns": 1}))
        served.run(ask=["Well?"])
        stream.briefing(pending=3, turns=2)
        run_id = served.run([BUY, STOCK, SIGN], [SCRAP])
        stream.briefing(pending=4, turns=3)
        pause = served.turn(run_id)["pause"]
        served.decide(run_id, pause, approved=True)
        if PER_CALL:  # older ones ran the client's call themselves
            eventually("its client is asked", lambda: any(turn["pause"] > pause for turn in served.waiting()))
            again = served.turn(run_id)
            results = [{"call_id": call["id"], "payload": 1} for call in again["calls"]]
            served.ask(f"/placet/runs/{run_id}/results", {"pause": again["pause"], "results": results})
        eventually("it scraps", lambda: served.turn(run_id)["calls"][0]["name"] == "scrap" if len(served.waiting()) == 3 else None)
        served.decide(run_id, served.turn(run_id)["pause"], approved=False)
        stream.briefing(pending=3, turns=2)

    def test_a_change_is_heard_even_where_the_numbers_stay_the_same(self) -> None:
        served = self.serve()
        run_id = served.run([BUY], [SCRAP], hold="same")
        stream = Stream(f"{served.url}/placet/events")
        self.addCleanup(stream.close)
        self.assertEqual(stream.frame(), ("briefing", {"pending": 1, "turns": 1}))

        for another in ("a", "b"):
            with mock.patch.object(served.bridge._watch, "_read", return_value=(another, {"pending": 1, "turns": 1})):
                self.assertEqual(stream.frame(), ("briefing", {"pending": 1, "turns": 1}))
        self.assertEqual(stream.frame(), ("briefing", {"pending": 1, "turns": 1}))
        served.decide(run_id, served.turn(run_id)["pause"], approved=True)
        stream.briefing(pending=0, turns=0)
        dendrux_agent.release("same")
        stream.briefing(pending=1, turns=1)

    def test_signs_of_life_come_and_one_poller_serves_all_who_listen(self) -> None:
        served = self.serve()
        with mock.patch.object(placet_dendrux, "_TICK", 0.05):
            streams = [Stream(f"{served.url}/placet/events") for _ in range(3)]
            for stream in streams:
                self.assertEqual(stream.frame(), ("briefing", {"pending": 0, "turns": 0}))
                self.assertEqual([stream.frame(), stream.frame()], [("tick", 1), ("tick", 2)])
        tasks = [task for task in served.do(all_tasks()).result(LIMIT) if task.get_name() == "placet:watch"]
        self.assertEqual(len(tasks), 1)
        for stream in streams:
            stream.close()
        eventually("it stops looking", lambda: tasks[0].done())

    def test_only_so_many_may_listen(self) -> None:
        served = self.serve()
        with mock.patch.object(placet_dendrux, "_STREAMS", 1):
            stream = Stream(f"{served.url}/placet/events")
            self.assertEqual(stream.frame(), ("briefing", {"pending": 0, "turns": 0}))
            self.assertEqual(refused(served.ask("/placet/events")), (503, "busy"))
            stream.close()
            eventually("there is room again", lambda: not served.bridge._watch.full)

    def test_a_store_that_fails_ends_no_stream(self) -> None:
        served = self.serve()
        stream = Stream(f"{served.url}/placet/events")
        self.addCleanup(stream.close)
        self.assertEqual(stream.frame(), ("briefing", {"pending": 0, "turns": 0}))

        with self.assertLogs("placet.dendrux", "WARNING"), mock.patch.object(served.bridge._watch, "_read") as looked:
            looked.side_effect = OSError("the disk is full")
            eventually("it looks twice", lambda: looked.call_count > 1)
        served.run([BUY])

        stream.briefing(pending=1, turns=1)


class Blind(placet_dendrux._Submit):
    """One that sees no claim, as with a version that submits in another way."""

    async def run(self) -> Any:
        return await self._submit


async def all_tasks() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks()


class Ending(Case):
    def test_the_application_ends_after_the_runs_that_were_decided(self) -> None:
        served = Served(self.folder / "runs.db")
        run_id = served.run([BUY], hold="drained")
        served.decide(run_id, served.turn(run_id)["pause"], approved=True)
        eventually("the model is asked", lambda: dendrux_agent.holds("drained"))
        stream = Stream(f"{served.url}/placet/events")
        stream.frame()

        with self.assertLogs("placet.dendrux", "INFO") as said:
            ending = threading.Thread(target=served.stop)
            ending.start()
            self.assertIsNone(stream.frame())
            stream.close()
            eventually("it waits", lambda: said.output)
            self.assertTrue(ending.is_alive())
            dendrux_agent.release("drained")
            ending.join(LIMIT)

        self.assertTrue(served.closed)
        self.assertEqual(self.status(run_id), "success")

    def status(self, run_id: str) -> str:
        with contextlib.closing(sqlite3.connect(self.folder / "runs.db", timeout=LIMIT)) as connection:
            return str(connection.execute("SELECT status FROM agent_runs WHERE id = ?", [run_id]).fetchone()[0])

    @contextlib.contextmanager
    def process(self, *more: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
        """The bridge in a process of its own, and what it says when it is ready."""
        process = self.start("--agent", "dendrux_agent:build_agent", "--token-file", str(self.token()), "--port", "0", *more)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield process, json.loads(line or self.fail(process.communicate()[1]))
        finally:
            process.kill()
            process.communicate()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        env = {**os.environ, "PYTHONPATH": str(HERE), "DENDRUX_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'runs.db'}"}
        pipe = subprocess.PIPE
        command = [sys.executable, str(BRIDGE), *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=env, stdout=pipe, stderr=pipe, text=True)

    def token(self, mode: int = 0o600) -> Path:
        path = self.folder / "token"
        path.write_text(TOKEN + "\n")
        path.chmod(mode)
        return path

    def seed(self, *turns: list[Any], **script: Any) -> str:
        async def run() -> str:
            async with build_agent(f"sqlite+aiosqlite:///{self.folder / 'runs.db'}") as agent:
                return str((await agent.run(json.dumps({"turns": list(turns), **script}))).run_id)

        return asyncio.run(run())

    def test_runs_that_wait_are_decidable_by_the_next_process(self) -> None:
        run_id = self.seed([BUY])
        with self.process() as (process, ready):
            self.assertEqual(ready["agents"], ["Storekeeper"])
            before = ask(f"{ready['url']}/placet/waiting")[1]["turns"]
            process.kill()
            process.wait(LIMIT)
        with self.process("--prefix", "other/") as (process, ready):
            self.assertTrue(ready["url"].startswith("http://127.0.0.1:") and ready["url"].endswith("/other"))
            self.assertEqual(ask(f"{ready['url']}/placet/waiting")[1]["turns"], before)
            body = {"pause": before[0]["pause"], "approved": True}
            self.assertEqual(ask(f"{ready['url']}/placet/runs/{run_id}/decide", body, "another")[0], 401)
            self.assertEqual(ask(f"{ready['url']}/placet/runs/{run_id}/decide", body)[0], 202)
            eventually("it ends", lambda: self.status(run_id) == "success")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(LIMIT), 0)

    def test_a_process_that_is_told_to_end_waits_for_the_runs_that_were_decided(self) -> None:
        held = self.folder / "held"
        run_id = self.seed([BUY], hold=str(held))
        with self.process() as (process, ready):
            pause = ask(f"{ready['url']}/placet/waiting")[1]["turns"][0]["pause"]
            self.assertEqual(ask(f"{ready['url']}/placet/runs/{run_id}/decide", {"pause": pause, "approved": True})[0], 202)
            stream = Stream(f"{ready['url']}/placet/events")
            stream.frame()
            process.send_signal(signal.SIGTERM)
            self.assertIsNone(stream.frame())
            stream.close()
            self.assertEqual((process.poll(), self.status(run_id)), (None, "running"))
            held.touch()
            self.assertEqual(process.wait(LIMIT), 0)
        self.assertEqual(self.status(run_id), "success")

    def test_a_run_that_takes_too_long_is_cut_off_and_named(self) -> None:
        run_id = self.seed([BUY], hold=str(self.folder / "never"))
        with self.process("--drain", "0.1") as (process, ready):
            pause = ask(f"{ready['url']}/placet/waiting")[1]["turns"][0]["pause"]
            self.assertEqual(ask(f"{ready['url']}/placet/runs/{run_id}/decide", {"pause": pause, "approved": True})[0], 202)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 0)
        self.assertIn(f"run {run_id} takes longer", said)

    def test_a_new_database_gets_its_tables(self) -> None:
        with self.process() as (_, ready):
            self.assertEqual(ask(f"{ready['url']}/placet/waiting"), (200, {"turns": [], "broken": []}))

    def test_what_is_not_safe_or_not_there_is_refused_in_words(self) -> None:
        token = str(self.token())
        agent = ["--agent", "dendrux_agent:build_agent"]
        safe = ["--token-file", token]
        (self.folder / "empty").touch(0o600)
        refusals: dict[str, list[str]] = {
            "must not travel in the clear": [*agent, *safe, "--host", "0.0.0.0"],
            "go together": [*agent, *safe, "--tls-cert", "a.pem"],
            "no token": [*agent, "--token-file", str(self.folder / "empty")],
            "No such file": [*agent, "--token-file", str(self.folder / "absent")],
            "No module named 'absent'": ["--agent", "absent:agent", *safe],
            "has no attribute 'absent'": ["--agent", "dendrux_agent:absent", *safe],
            "is no agent, and builds none": ["--agent", "dendrux_agent:LIMIT", *safe],
            "cannot serve": [*agent, *safe, "--host", "192.0.2.1", "--behind-proxy"],
        }
        started = {words: self.start(*arguments) for words, arguments in refusals.items()}
        for words, process in started.items():
            with self.subTest(words):
                out, said = process.communicate(timeout=LIMIT)
                self.assertIn(words, said)
                self.assertEqual((process.returncode, out), (2, ""))
                self.assertNotIn("Traceback", said)
        open_to_all = self.start(*agent, "--token-file", str(self.token(0o644)))
        self.assertIn("can be read by others; run: chmod 600", open_to_all.communicate(timeout=LIMIT)[1])


class Plain(unittest.TestCase):
    """The application that the inbox's own tests run, as dendrux's documentation would have it."""

    def test_it_decides_as_documented_and_ends_when_it_is_told(self) -> None:
        seed = [{"turns": [[BUY]]}, {"turns": [[SIGN]]}, {"ask": ["Well?"]}]
        env = {**os.environ, "SEED": json.dumps(seed), "TOKEN": TOKEN}
        process = subprocess.Popen([sys.executable, str(HERE / "dendrux_plain.py")], env=env, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            statuses = [run["status"] for run in ready["runs"]]
            self.assertEqual(statuses, ["waiting_approval", "waiting_client_tool", "waiting_human_input"])
            buying, signing, asking = (f"{ready['url']}/runs/{run['run_id']}" for run in ready["runs"])
            self.assertEqual(ask(f"{buying}/approval", {"approved": True}, "another")[0], 401)
            self.assertEqual(ask(f"{buying}/input", {"text": "a"})[0], 409)
            if PER_CALL:
                self.assertEqual(ask(f"{buying}/approval", {"decisions": {}})[0], 400)
                (call,) = ask(f"{buying}/pauses")[1]["items"][0]["pending_tool_calls"]
                body: Any = {"decisions": {call["id"]: {"approved": False, "reason": "no"}}}
            else:
                body = {"approved": False, "rejection_reason": "no"}
            self.assertEqual(ask(f"{buying}/approval", body)[1]["status"], "success")
            self.assertEqual(ask(f"{buying}/approval", {"approved": True})[0], 409)
            self.assertEqual(ask(f"{ready['url']}/runs/nobody/approval", {"approved": True})[0], 404)
            (call,) = ask(f"{signing}/pauses")[1]["items"][0]["pending_tool_calls"]
            result = {"name": "sign", "call_id": call["id"], "payload": '"signed"'}
            self.assertEqual(ask(f"{signing}/tool-results", [{**result, "call_id": "other"}])[0], 400)
            self.assertEqual(ask(f"{signing}/tool-results", [result]), (200, {"status": "success", "answer": '["\\"signed\\""]'}))
            self.assertEqual(ask(f"{asking}/input", {"text": "fine"}), (200, {"status": "success", "answer": '["fine"]'}))
            process.terminate()
            process.wait(LIMIT)
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    unittest.main()
