"""Real agents of one framework, gated as docs/agents.md says, against a real gate and a scripted model.

    python.py FRAMEWORK          the tests
    python.py FRAMEWORK agent    one agent, configured by the environment

tests/reach/python.sh runs it with the framework and the package installed. An agent's tool writes each effect to a file, which the tests
count.
"""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path
from typing import Any, Callable, Dict, List

from pydantic import BaseModel, SecretStr

ROOT = Path(__file__).parents[2]
LIMIT = 60.0
PROMPT = "Refund what is to be refunded."


def refund(to: str, cents: int) -> str:
    """Pays money back."""
    with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
        file.write(f"{to} {cents}\n")
    if cents == 0:
        raise ValueError("nothing to refund")
    return f"refunded {cents} to {to}"


class Kind(enum.Enum):
    PART = "part"
    FULL = "full"


def typed(to: str, due: datetime.date, amount: decimal.Decimal, kind: Kind, password: SecretStr) -> str:
    """Pays money back, by arguments that JSON does not have."""
    with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
        file.write(f"{to} {due!r} {amount!r} {kind} {password.get_secret_value()}\n")
    return "refunded"


def priced(to: str, price: float) -> str:
    """Pays money back."""
    with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
        file.write(f"{to} {price}\n")
    return "refunded"


class Cred(BaseModel):
    user: str
    pw: SecretStr


def credited(to: str, creds: List[Cred]) -> str:
    """Pays money back to several."""
    with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
        file.writelines(f"{cred.user} {cred.pw.get_secret_value()}\n" for cred in creds)
    return "refunded"


def lazy(to: str, cents: int) -> Any:
    """Pays money back, once its result is iterated."""
    def paid(part: int) -> str:
        with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
            file.write(f"{to} {part}\n")
        return f"refunded {part}"

    return map(paid, [cents, 1])


def partly(to: str, cents: int) -> Any:
    """Pays money back. A part of its result is lazy."""
    with open(os.environ["EFFECTS"], "a", encoding="utf-8") as file:
        file.write(f"{to} {cents}\n")
    return {"sent": cents, "ids": (str(n) for n in range(2))}


if os.environ.get("TOOL"):
    refund = {"partly": partly, "typed": typed, "priced": priced, "lazy": lazy, "credited": credited}[os.environ["TOOL"]]  # type: ignore[assignment]
    refund.__name__ = "refund"


def as_documented(framework: str, **names: Any) -> Dict[str, Any]:
    """Returns the arguments of an agent by running the framework's row of docs/agents.md."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| {re.escape(framework)} \| (`from placet.*) \|$", page, re.MULTILINE)
    imported, arguments = re.findall(r"`([^`]+)`", row)
    exec(imported, names)  # noqa: S102
    found: Dict[str, Any] = eval(f"dict({arguments})", names)  # noqa: S307
    return found


# ---- one agent of each framework; the session is what the framework calls a conversation ------------------------------------------


async def openai_agents(url: str, session: str) -> None:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
    from openai import AsyncOpenAI

    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=url, api_key="any"))
    agent = Agent(name="support", model=model, **as_documented("OpenAI Agents", refund=refund))
    await Runner.run(agent, PROMPT, run_config=RunConfig(group_id=session, tracing_disabled=True))


async def pydantic_ai(url: str, session: str) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.toolsets import FunctionToolset

    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="any"))
    documented = as_documented("Pydantic AI", refund=refund, FunctionToolset=FunctionToolset)
    await Agent(model, **documented).run(PROMPT, conversation_id=session)


async def langchain(url: str, session: str) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    model = ChatOpenAI(model="scripted", base_url=url, api_key="any", use_responses_api=False)
    agent = create_agent(model, tools=[refund], checkpointer=InMemorySaver(), **as_documented("LangChain"))
    asked = {"messages": [{"role": "user", "content": PROMPT}]}
    config = {"configurable": {"thread_id": session}}
    if os.environ.get("SYNC"):
        agent.invoke(asked, config)
    else:
        await agent.ainvoke(asked, config)


async def agent_framework(url: str, session: str) -> None:
    from agent_framework import Agent, AgentSession
    from agent_framework.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model="scripted", base_url=url, api_key="any")
    agent = Agent(client, tools=[refund], **as_documented("MS Agent Framework"))
    await agent.run(PROMPT, session=AgentSession(session_id=session))


AGENTS: Dict[str, Callable[[str, str], Any]] = {
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
    "langchain": langchain,
    "agent-framework": agent_framework,
}


# ---- the tests --------------------------------------------------------------------------------------------------------------------


def eventually(what: str, probe: Callable[[], Any]) -> Any:
    started, pause = time.monotonic(), threading.Event()
    while time.monotonic() - started < LIMIT:
        found = probe()
        if found:
            return found
        pause.wait(0.05)
    raise AssertionError(f"never happened: {what}")


class Real(unittest.TestCase):
    framework = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = Path(folder.name)
        (cls.home / "state").mkdir()
        (cls.home / "config.toml").write_text('[gate]\nlisten = "127.0.0.1:0"\n')
        names = {"PLACET_CONFIG": cls.home / "config.toml", "PLACET_STATE_DIR": cls.home / "state", "HOME": cls.home}
        environment = {**os.environ, **{name: str(path) for name, path in names.items()}}
        binary = ROOT / "target" / "debug" / "placet"
        gate = subprocess.Popen([binary, "gate", "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        cls.addClassCleanup(gate.wait)
        cls.addClassCleanup(gate.stdout.close)
        cls.addClassCleanup(gate.kill)
        cls.note = json.loads(gate.stdout.readline())

    def setUp(self) -> None:
        self.session = self.id()
        self.effects = self.home / f"effects-{self.session}"
        self.effects.touch()

    def agent(self, provider: Any, **environment: str) -> "subprocess.Popen[bytes]":
        """Starts an agent in another process."""
        surroundings = {
            **os.environ,
            "PLACET_URL": self.note["url"],
            "PLACET_TOKEN_FILE": self.note["agentTokenFile"],
            "PROVIDER": f"{provider.url}/v1",
            "SESSION": self.session,
            "EFFECTS": str(self.effects),
            **environment,
        }
        with open(self.home / "agent.err", "a") as err:
            started = subprocess.Popen([sys.executable, __file__, self.framework, "agent"], env=surroundings, stderr=err)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def ends(self, agent: "subprocess.Popen[bytes]") -> None:
        self.assertEqual(agent.wait(LIMIT), 0, (self.home / "agent.err").read_text())

    def gate(self, method: str, path: str, body: Any = None) -> Any:
        token = Path(self.note["tokenFile"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"{self.note['url']}/api/pending-actions{path}", data, headers, method=method)
        with direct.open(request, timeout=LIMIT) as reply:
            return json.load(reply)

    def actions(self) -> List[Dict[str, Any]]:
        """Returns the actions of this test, oldest first."""
        items: List[Dict[str, Any]] = self.gate("GET", f"?session_id={self.session}")["items"]
        return items[::-1]

    def pending(self, many: int) -> Dict[str, str]:
        """Waits for a number of pending actions; returns their ids by recipient."""
        def there() -> Any:
            waiting = [action for action in self.actions() if action["status"] == "pending"]
            return waiting if len(waiting) == many else None

        return {action["toolInput"]["to"]: action["id"] for action in eventually(f"{many} wait", there)}

    def test_two_at_once_one_edited_one_rejected(self) -> None:
        calls = [
            {"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 12990}},
            {"tool": "refund", "id": "call_b", "input": {"to": "teodor", "cents": 110}},
        ]
        for form in ("", "sync") if self.framework == "langchain" else ("",):
            with self.subTest(form), Provider([{"calls": calls}]) as provider:
                self.session = f"{self.id()}{form}"
                self.effects.write_text("")
                agent = self.agent(provider, SYNC=form)
                waiting = self.pending(2)
                self.gate("POST", f"/{waiting['ilka']}/approve", {"userEdits": {"cents": 100}})
                self.gate("POST", f"/{waiting['teodor']}/reject", {"reason": "not on a Friday"})
                self.ends(agent)

                self.assertEqual(self.effects.read_text(), "ilka 100\n")
                note = 'A human changed this call before it ran. It ran with: {"to": "ilka", "cents": 100}\n\nrefunded 100 to ilka'
                rejected = "A human rejected this call: not on a Friday. Do not repeat it unchanged."
                self.assertEqual(sorted(provider.results()), sorted([note, rejected]))
                ends = {action["toolCallId"]: (action["status"], action["result"]) for action in self.actions()}
                self.assertEqual(ends, {"call_a": ("executed", "refunded 100 to ilka"), "call_b": ("rejected", None)})

    def test_killed_while_waiting_it_runs_once_and_replayed_not_again(self) -> None:
        with Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 12990}}]) as provider:
            first = self.agent(provider)
            waiting = self.pending(1)
            first.kill()
            first.wait(LIMIT)
            self.gate("POST", f"/{waiting['ilka']}/approve")
            self.ends(self.agent(provider))
            self.assertEqual(self.effects.read_text(), "ilka 12990\n")

            self.ends(self.agent(provider))

            self.assertEqual(self.effects.read_text(), "ilka 12990\n")
            told = [request["results"] for request in provider.requests if request["results"]]
            self.assertEqual(told, [["refunded 12990 to ilka"]] * 2)
            self.assertEqual([action["status"] for action in self.actions()], ["executed"])

    def test_typed_arguments_reach_the_tool_as_types_after_an_edit(self) -> None:
        asked = {"to": "ilka", "due": "2026-01-02", "amount": "12.50", "kind": "full", "password": "hunter2"}
        with Provider([{"tool": "refund", "id": "call_a", "input": asked}]) as provider:
            agent = self.agent(provider, TOOL="typed")
            waiting = self.pending(1)
            self.gate("POST", f"/{waiting['ilka']}/approve", {"userEdits": {"to": "teodor"}})
            self.ends(agent)

            ran = "teodor datetime.date(2026, 1, 2) Decimal('12.50') Kind.FULL hunter2\n"
            self.assertEqual(self.effects.read_text(), ran)
            [action] = self.actions()
            shown = {name: value for name, value in action["toolInput"].items() if name != "password"}
            self.assertEqual(shown, {name: value for name, value in asked.items() if name != "password"})
            self.assertEqual((action["status"], action["result"]), ("executed", "refunded"))
            # A repeated call finds the same action.
            self.ends(self.agent(provider, TOOL="typed"))
            self.assertEqual(self.effects.read_text(), ran)
            self.assertEqual(len(self.actions()), 1)

    def test_odd_arguments_are_told_and_parallel_calls_run(self) -> None:
        calls = [
            {"tool": "refund", "id": "call_a", "input": {"to": "ilka", "price": 1.5}},
            {"tool": "refund", "id": "call_b", "input": {"to": "nan", "price": math.nan}},
            {"tool": "refund", "id": "call_c", "input": {"to": "infinite", "price": math.inf}},
            {"tool": "refund", "id": "call_d", "input": {"to": "\ud83d", "price": 1.5}},
        ]
        if self.framework in ("langchain", "openai-agents"):
            calls.pop()  # half a surrogate pair ends the run without a gate, too: in OpenAI's client, and in the framework itself
        with Provider([{"calls": calls}]) as provider:
            agent = self.agent(provider, TOOL="priced")
            self.gate("POST", f"/{self.pending(1)['ilka']}/approve")
            self.ends(agent)

            self.assertEqual(self.effects.read_text(), "ilka 1.5\n")
            self.assertEqual(len(provider.results()), len(calls))
            self.assertEqual([action["status"] for action in self.actions()], ["executed"])

    def test_a_lazy_result_runs_before_it_is_executed(self) -> None:
        for form in ("", "sync") if self.framework == "langchain" else ("",):
            with self.subTest(form), Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 5}}]) as provider:
                self.session = f"{self.id()}{form}"
                self.effects.write_text("")
                agent = self.agent(provider, SYNC=form, TOOL="lazy")
                self.gate("POST", f"/{self.pending(1)['ilka']}/approve")
                self.ends(agent)

                self.assertEqual(self.effects.read_text(), "ilka 5\nilka 1\n")
                [action] = self.actions()
                self.assertEqual(action["status"], "executed")
                self.assertIn("refunded 5", str(action["result"]))

    def test_a_call_that_ran_is_executed_though_a_part_of_its_result_is_lazy(self) -> None:
        with Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 5}}]) as provider:
            agent = self.agent(provider, TOOL="partly")
            self.gate("POST", f"/{self.pending(1)['ilka']}/approve")
            if self.framework == "pydantic-ai":
                agent.wait(LIMIT)  # it does not make text of a generator
            else:
                self.ends(agent)

            self.assertEqual(self.effects.read_text(), "ilka 5\n")
            [action] = self.actions()
            self.assertEqual((action["status"], action["error"]), ("executed", None))

    def test_an_edit_that_does_not_fit_is_told_as_not_run(self) -> None:
        if self.framework != "langchain":
            self.skipTest("the others raise, or ask the model again")
        for form in ("", "sync"):
            with self.subTest(form), Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 5}}]) as provider:
                self.session = f"{self.id()}{form}"
                agent = self.agent(provider, SYNC=form)
                self.gate("POST", f"/{self.pending(1)['ilka']}/approve", {"userEdits": {"cents": "lots"}})
                self.ends(agent)

                self.assertEqual(self.effects.read_text(), "")
                begin = 'This call did not run. A human changed it to: {"to": "ilka", "cents": "lots"}\n\nError invoking tool'
                self.assertTrue(provider.results()[0].startswith(begin), provider.results())
                [action] = self.actions()
                self.assertEqual((action["status"], action["error"][:30]), ("failed", "It did not run: Error invoking"))

    def test_images_stay_images_after_an_edit(self) -> None:
        from placet import Gate

        call = Gate(url="http://127.0.0.1:1", token="any").hold("refund", {"to": "ilka"})
        call._approved = {"to": "kim"}
        note = 'A human changed this call before it ran. It ran with: {"to": "kim"}'
        if self.framework == "openai-agents":
            from agents import ToolOutputImage, ToolOutputText
            from placet.openai_agents import _told

            image: Any = ToolOutputImage(image_url="data:image/png;base64,AA==")
            first: Any = ToolOutputText(text=note)
        elif self.framework == "pydantic-ai":
            from placet.pydantic_ai import _told
            from pydantic_ai import BinaryContent

            image, first = BinaryContent(b"\0", media_type="image/png"), note
        else:
            self.skipTest("the framework makes parts of every result")
        for result, parts in ((image, [image]), ([image, image], [image, image])):
            call.result, call.edited = result, True
            self.assertEqual(_told(call), [first, *parts])
            call.edited = False
            self.assertIs(_told(call), result)
        call.result, call.edited = "refunded", True
        self.assertEqual(_told(call), f"{note}\n\nrefunded")

    def test_an_edited_call_keeps_each_secret_with_its_owner(self) -> None:
        if self.framework != "pydantic-ai":
            self.skipTest("only here are secrets objects in lists")
        asked = {"to": "ilka", "creds": [{"user": "kim", "pw": "hunter2"}, {"user": "b", "pw": "pw2"}]}
        star = "**********"
        edits = {
            "renamed": ([{"user": "pam", "pw": star}, {"user": "b", "pw": star}], "pam hunter2\nb pw2\n", "executed"),
            "swapped": ([{"user": "b", "pw": star}, {"user": "kim", "pw": star}], "", "failed"),
        }
        for word, (creds, effects, status) in edits.items():
            with self.subTest(word), Provider([{"tool": "refund", "id": "call_a", "input": asked}]) as provider:
                self.session = f"{self.id()}{word}"
                self.effects.write_text("")
                agent = self.agent(provider, TOOL="credited")
                self.gate("POST", f"/{self.pending(1)['ilka']}/approve", {"userEdits": {"creds": creds}})
                self.ends(agent)

                self.assertEqual(self.effects.read_text(), effects)
                self.assertEqual(self.actions()[0]["status"], status)

    def test_what_a_tool_raises_is_a_failed_run(self) -> None:
        with Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 0}}]) as provider:
            agent = self.agent(provider)
            self.gate("POST", f"/{self.pending(1)['ilka']}/approve")
            agent.wait(LIMIT)  # some frameworks end with the error, some tell the model

            [action] = self.actions()
            self.assertEqual((action["status"], action["result"]), ("failed", None))
            self.assertIn("nothing to refund", action["error"])

    def test_without_a_gate_nothing_runs_and_the_model_is_told(self) -> None:
        with Provider([{"tool": "refund", "id": "call_a", "input": {"to": "ilka", "cents": 12990}}]) as provider:
            self.ends(self.agent(provider, PLACET_URL="http://127.0.0.1:1"))

            self.assertEqual(self.effects.read_text(), "")
            self.assertEqual(provider.results(), ["This call did not run: No gate at http://127.0.0.1:1. Start `placet`."])


if __name__ == "__main__":
    Real.framework = sys.argv[1]
    if sys.argv[2:] == ["agent"]:
        asyncio.run(AGENTS[Real.framework](os.environ["PROVIDER"], os.environ["SESSION"]))
    else:
        from provider import Provider

        unittest.main(argv=sys.argv[:1])
