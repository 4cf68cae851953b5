"""placet hook with the real Claude Code, Codex and Gemini CLI, a scripted model and a real gate. tests/reach/hook.sh runs it.

Each client has its own home folder. Every command that runs appends a line to a file outside it. The tests decide at the gate, over HTTP,
with the owner's token.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from provider import Provider

ROOT = Path(__file__).parents[2]
PLACET = ROOT / "target/debug/placet"
REACH = ROOT / "target/reach"
LIMIT = 60.0


def eventually(what, probe, limit=LIMIT):
    """Waits until `probe` returns something, and returns it."""
    started, pause = time.monotonic(), threading.Event()
    while time.monotonic() - started < limit:
        found = probe()
        if found:
            return found
        pause.wait(0.05)
    raise AssertionError(f"never happened: {what}")


class Gate:
    """A gate with its own database, found by placet's hook."""

    def __init__(self, state):
        self.state = state
        self.process = None

    def start(self):
        environment = {**os.environ, "PLACET_STATE_DIR": str(self.state), "HOME": str(self.state)}
        command = [PLACET, "gate", "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.note = eventually("the gate says where it is", self.read_note)

    def read_note(self):
        try:
            note = json.loads((self.state / "gate.json").read_text())
        except (OSError, ValueError):
            return None
        return note if note["pid"] == self.process.pid else None

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def ask(self, path="", body=None):
        """Sends a request as the reviewer."""
        token = Path(self.note["tokenFile"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.note["url"] + "/api/pending-actions" + path, data, headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=LIMIT) as reply:
            return json.load(reply)

    def rows(self, status):
        return self.ask(f"?status={status}")["items"]

    def pending(self):
        """Returns the only pending action, in full."""
        row = eventually("a proposal", lambda: self.rows("pending"))[0]
        return self.ask(f"/{row['id']}")

    def became(self, action, status):
        is_there = lambda: (lambda now: now if now["status"] == status else None)(self.ask(f"/{action['id']}"))
        return eventually(f"the action is {status}", is_there)


class Client:
    """An agent's program with its own home folder and the hook installed."""

    NAME = AGENT = TOOL = None

    def __init__(self, folder, state):
        self.home, self.work = folder / "home", folder / "work"
        self.effects = folder / "effects"
        self.home.mkdir()
        self.work.mkdir()
        self.environment = {
            "HOME": str(self.home), "PATH": f"{REACH}/node/bin:{os.environ['PATH']}", "TERM": "dumb", "LANG": "C.UTF-8",
            "PLACET_STATE_DIR": str(state), "PLACET_LOG": str(state / "hook.log"),
        }
        self.prepare()

    def prepare(self):
        pass

    def placet(self, *words, code=0):
        ended = subprocess.run([PLACET, *words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
        assert ended.returncode == code, (words, ended)
        return ended.stdout + ended.stderr

    def install(self, *words):
        said = self.placet("hook", "install", self.NAME, "--yes", *words)
        self.trust()
        return said

    def trust(self):
        pass

    def settings(self):
        raise NotImplementedError

    def call(self, line, call_id=None):
        """A step whose command appends a line."""
        given = {self.ARGUMENT: f"echo {line} >> {self.effects}; echo ran {line}", **self.MORE}
        return {"tool": self.TOOL, "input": given, **({"id": call_id} if call_id else {})}

    def lines(self):
        return self.effects.read_text().split() if self.effects.exists() else []

    def begin(self, provider, *more):
        command, environment = self.command(provider, *more)
        return subprocess.Popen(command, cwd=self.work, env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def end(self, process):
        try:
            out, err = process.communicate(timeout=2 * LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return out, err

    def hooks_that_wait(self):
        """Process ids of this client's hook, found by its state folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                known = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = f"PLACET_STATE_DIR={self.environment['PLACET_STATE_DIR']}".encode() in known
            if ours and words[0] == str(PLACET.resolve()).encode() and b"hook" in words:
                found.append(int(process.name))
        return found


class ClaudeCode(Client):
    NAME, AGENT, TOOL, ARGUMENT, MORE = "claude-code", "claude-code", "Bash", "command", {}

    def settings(self):
        return self.home / ".claude/settings.json"

    def command(self, provider, *more):
        # The client itself allows all tools: calls that the hook fails to stop, run.
        command = [REACH / "claude-code/node_modules/.bin/claude", "-p", "--output-format", "json", "--allowedTools", "Bash,Write,Edit", *more]
        command += [] if more else ["--", "go"]
        return command, {"ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": "x", "DISABLE_TELEMETRY": "1",
                         "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


class Codex(Client):
    NAME, AGENT, TOOL, ARGUMENT, MORE = "codex", "codex", "exec_command", "cmd", {}

    def settings(self):
        return self.home / ".codex/hooks.json"

    def prepare(self):
        (self.home / ".codex").mkdir()
        # doctor asks it which hooks it trusts.
        self.environment["PATH"] = f"{REACH}/codex/node_modules/.bin:{self.environment['PATH']}"
        self.trusted = ""

    def trust(self):
        """Trusts the hooks, as /hooks does."""
        server = subprocess.Popen([REACH / "codex/node_modules/.bin/codex", "app-server"], cwd=self.work, env=self.environment,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        late = threading.Timer(LIMIT, server.kill)
        late.start()
        for request in ({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "0"}}},
                        {"method": "initialized"}, {"id": 2, "method": "hooks/list", "params": {"cwds": [str(self.work)]}}):
            server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = next(reply for reply in map(json.loads, server.stdout) if reply.get("id") == 2)
        server.kill()
        server.communicate()
        late.cancel()
        hooks = [hook for place in answer["result"]["data"] for hook in place["hooks"]]
        assert len(hooks) == 2, answer
        self.trusted = "".join(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n' for hook in hooks)
        (self.home / ".codex/config.toml").write_text(self.trusted)

    def command(self, provider, *more):
        (self.home / ".codex/config.toml").write_text(
            'model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
            f'base_url = "{provider.url}/v1"\nwire_api = "responses"\n' + self.trusted)
        return [REACH / "codex/node_modules/.bin/codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"], {}


class GeminiCli(Client):
    NAME, AGENT, TOOL, ARGUMENT, MORE = "gemini", "gemini-cli", "run_shell_command", "command", {"description": "leaves a line"}

    def settings(self):
        return self.home / ".gemini/settings.json"

    def prepare(self):
        self.settings().parent.mkdir()
        self.settings().write_text('{\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n')

    def command(self, provider, *more):
        command = [REACH / "gemini-cli/node_modules/.bin/gemini", "-p", "go", "--yolo", "--skip-trust", "--model", "gemini-2.5-pro"]
        return command, {"GOOGLE_GEMINI_BASE_URL": provider.url, "GEMINI_API_KEY": "x"}


class World(unittest.TestCase):
    """Tests for every client."""

    CLIENT = None

    @classmethod
    def setUpClass(cls):
        if cls.CLIENT is None:
            raise unittest.SkipTest("of the clients")

    def setUp(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        state = folder / "state"
        state.mkdir(mode=0o700)
        self.gate = Gate(state)
        self.addCleanup(self.gate.stop)
        self.client = self.CLIENT(folder, state)

    def provider(self, *steps):
        provider = Provider(list(steps))
        self.addCleanup(provider.close)
        return provider

    def begun(self, *steps):
        """Returns the client, which waits for the gate, and its model."""
        provider = self.provider(*steps)
        process = self.client.begin(provider)
        self.addCleanup(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
        return process, provider

    def nothing_ran(self, provider, *words):
        """The model continued without an effect, and read these words."""
        self.assertEqual(self.client.lines(), [])
        self.assertEqual(len(provider.results()), 1, provider.results())
        for word in words:
            self.assertIn(word, provider.results()[0])

    def test_edited_at_the_gate_then_the_edit_runs_and_its_output_is_recorded(self):
        self.gate.start()
        self.client.install()
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()
        self.assertEqual((action["agent"], action["status"]), (self.client.AGENT, "pending"))
        self.assertRegex(action["missionId"], r"^work-[0-9a-f]{8}$")
        self.assertEqual(self.client.lines(), [])

        edited = re.sub("agent", "human", action["toolInput"]["command"])
        self.gate.ask(f"/{action['id']}/approve", {"userEdits": {"command": edited}})
        self.client.end(process)

        self.assertEqual(self.client.lines(), ["human"])
        done = self.gate.became(action, "executed")
        self.assertIn("ran human", json.dumps(done["result"]))
        self.assertIn("ran human", provider.results()[0])
        self.assertEqual(list((self.gate.state / "hook").iterdir()), [])

    def test_approved_as_it_is_then_exactly_that_runs(self):
        self.gate.start()
        self.client.install()
        process, _ = self.begun(self.client.call("agent"))
        action = self.gate.pending()

        self.gate.ask(f"/{action['id']}/approve", {})
        self.client.end(process)

        self.assertEqual(self.client.lines(), ["agent"])
        self.gate.became(action, "executed")

    def test_rejected_then_nothing_runs_and_the_model_reads_why(self):
        self.gate.start()
        self.client.install()
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()

        self.gate.ask(f"/{action['id']}/reject", {"reason": "not on a Friday"})
        self.client.end(process)

        self.nothing_ran(provider, "A human rejected this call: not on a Friday. Do not repeat it unchanged.")

    def test_gate_away_then_nothing_runs(self):
        self.client.install()
        process, provider = self.begun(self.client.call("agent"))

        self.client.end(process)

        self.nothing_ran(provider, "No gate on this machine. Start `placet`.")

    def test_program_missing_then_nothing_runs(self):
        self.gate.start()
        self.client.install()
        settings = self.client.settings()
        text = settings.read_text()
        self.assertIn(str(PLACET), text)
        settings.write_text(text.replace(str(PLACET), "/nowhere/placet"))
        self.client.trust()
        process, provider = self.begun(self.client.call("agent"))

        self.client.end(process)

        self.nothing_ran(provider)
        self.assertEqual(self.gate.rows("pending"), [])

    def test_hook_killed_then_nothing_runs(self):
        self.gate.start()
        self.client.install()
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()

        for hook in eventually("the hook waits", self.client.hooks_that_wait):
            os.kill(hook, signal.SIGKILL)
        self.client.end(process)

        self.nothing_ran(provider)
        # It cannot be withdrawn, so it expires.
        self.assertEqual(self.gate.ask(f"/{action['id']}")["status"], "pending")
        self.assertIn("expiresAt", action)

    def test_hook_stopped_then_its_proposal_is_withdrawn(self):
        self.gate.start()
        self.client.install()
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()

        for hook in eventually("the hook waits", self.client.hooks_that_wait):
            os.kill(hook, signal.SIGTERM)
        self.client.end(process)

        self.nothing_ran(provider, "The hook was stopped before anybody decided.")
        self.gate.became(action, "withdrawn")

    def test_deadline_passed_then_nothing_runs_and_nobody_can_approve_it(self):
        self.gate.start()
        self.client.install("--wait", "2s")
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()

        self.client.end(process)

        self.nothing_ran(provider, "Nobody decided within 2 s. The call did not run.")
        self.gate.became(action, "withdrawn")

    def test_doctor_sends_a_probe_through_the_installed_hook(self):
        self.client.install()
        said = self.client.placet("doctor", code=1)
        self.assertRegex(said, r"WRONG +hook +%s: .*does not reach" % re.escape(self.title()))
        self.gate.start()
        said = self.client.placet("doctor")
        self.assertRegex(said, r"ok +hook +%s: " % re.escape(self.title()))
        self.assertEqual(self.gate.rows("pending"), [])

    def title(self):
        return {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}[self.client.NAME]

    def test_uninstalled_then_the_settings_are_what_they_were(self):
        settings = self.client.settings()
        before = settings.read_bytes() if settings.exists() else b"{}\n"
        self.client.install()
        first = settings.read_bytes()
        self.assertIn("already", self.client.placet("hook", "install", self.client.NAME, "--yes"))
        self.assertEqual(settings.read_bytes(), first)

        self.client.placet("hook", "uninstall", self.client.NAME, "--yes")

        self.assertEqual(settings.read_bytes(), before)


class WithCallIds:
    """Tests for clients with call ids, which a model's provider may repeat."""

    def test_same_call_id_again_then_it_does_not_run_twice(self):
        self.gate.start()
        self.client.install()
        call = self.client.call("agent", "call_1")
        process, provider = self.begun(call, call)
        action = self.gate.pending()

        self.gate.ask(f"/{action['id']}/approve", {})
        self.client.end(process)

        self.assertEqual(self.client.lines(), ["agent"])
        self.assertGreater(len(provider.requests), 2)
        self.assertEqual(self.gate.became(action, "executed")["id"], action["id"])
        self.assertEqual(self.gate.rows("pending"), [])


class ClaudeCodeTest(WithCallIds, World):
    CLIENT = ClaudeCode

    def test_failed_then_the_gate_knows_why(self):
        self.gate.start()
        self.client.install()
        process, _ = self.begun({"tool": "Bash", "input": {"command": f"echo x >> {self.client.effects}; exit 3"}})
        action = self.gate.pending()

        self.gate.ask(f"/{action['id']}/approve", {})
        self.client.end(process)

        self.assertIn("Exit code 3", self.gate.became(action, "failed")["error"])

    def test_file_is_written_then_the_reviewer_saw_what_it_held(self):
        self.gate.start()
        self.client.install()
        file = self.client.work / "a.txt"
        file.write_text("old\n")
        process, _ = self.begun({"tool": "Read", "input": {"file_path": str(file)}},
                                {"tool": "Write", "input": {"file_path": str(file), "content": "new\n"}})
        action = self.gate.pending()
        self.assertEqual((action["toolName"], action["before"]), ("Write", {"content": "old\n"}))

        self.gate.ask(f"/{action['id']}/approve", {"userEdits": {"content": "newer\n"}})
        self.client.end(process)

        self.assertEqual(file.read_text(), "newer\n")
        self.gate.became(action, "executed")

    def test_deferred_decided_and_resumed_then_it_runs_once(self):
        self.gate.start()
        self.client.install("--defer")
        process, provider = self.begun(self.client.call("agent"))
        out, _ = self.client.end(process)
        self.assertEqual(json.loads(out)["stop_reason"], "tool_deferred")
        self.assertEqual(self.client.lines(), [])
        session = json.loads(out)["session_id"]
        action = self.gate.pending()
        self.assertIn("waits for a decision", self.client.placet("hook", "resume"))

        edited = re.sub("agent", "human", action["toolInput"]["command"])
        self.gate.ask(f"/{action['id']}/approve", {"userEdits": {"command": edited}})
        said = self.client.placet("hook", "resume")
        self.assertIn(f"claude -p --resume {session}", said)
        again = self.client.begin(provider, "--resume", session)
        self.client.end(again)

        self.assertEqual(self.client.lines(), ["human"])
        self.gate.became(action, "executed")
        self.assertIn("ran human", provider.results()[0])
        self.assertIn("No session is deferred", self.client.placet("hook", "resume"))

    def test_several_calls_at_once_deferred_then_none_runs(self):
        self.gate.start()
        self.client.install("--defer", "--wait", "5s")
        process, _ = self.begun({"calls": [self.client.call("one", "toolu_1"), self.client.call("two", "toolu_2")]})

        self.client.end(process)

        self.assertEqual(self.client.lines(), [])


class OtherHooksTest(World):
    """Other PreToolUse hooks of Claude Code next to placet's."""

    CLIENT = ClaudeCode

    def other(self, output):
        """Another hook, with this answer after placet's has claimed the call."""
        body = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", **output}})
        claimed = f"ls {self.gate.state}/hook 2>/dev/null | grep -q claimed"
        command = f"cat >/dev/null; until {claimed}; do sleep 0.1; done; sleep 1; echo '{body}'"
        settings = self.client.work / ".claude/settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}))

    def something_else_ran(self, edits, ran):
        self.assertRegex(self.client.placet("doctor"), r"note +hook +Claude Code: cat >/dev/null.* also answers for Bash")
        process, provider = self.begun(self.client.call("agent"))
        action = self.gate.pending()
        approved = re.sub("agent", edits, action["toolInput"]["command"])
        self.gate.ask(f"/{action['id']}/approve", {"userEdits": {"command": approved}} if edits != "agent" else {})
        self.client.end(process)

        self.assertEqual(self.client.lines(), [ran])
        failed = self.gate.became(action, "failed")
        self.assertEqual(failed["error"], "something else ran than what was approved")
        self.assertEqual(failed["effectiveInput"]["command"], approved)
        self.assertIn(f"echo {ran} >>", failed["result"]["ranInput"]["command"])
        self.assertIn("Something else ran than what was approved", json.dumps(provider.requests[-1]["body"]))

    def test_later_hook_allows_then_the_edit_is_not_recorded_as_executed(self):
        self.gate.start()
        self.client.install()
        self.other({})
        self.something_else_ran("human", "agent")

    def test_later_hook_rewrites_then_the_approval_is_not_recorded_as_executed(self):
        self.gate.start()
        self.client.install()
        self.other({"updatedInput": self.client.call("rewritten")["input"]})
        self.something_else_ran("agent", "rewritten")

    def test_hooks_disabled_then_install_refuses_and_doctor_says_so(self):
        self.gate.start()
        self.client.install()
        local = self.client.work / ".claude/settings.local.json"
        local.parent.mkdir()
        local.write_text('{"disableAllHooks": true}')
        self.assertRegex(self.client.placet("doctor", code=1), r"WRONG +hook +Claude Code: .*turns all hooks off")
        self.assertIn("turns all hooks off", self.client.placet("hook", "install", "claude-code", "--yes", "--wait", "9m", code=2))

    def test_state_folder_is_fenced(self):
        self.gate.start()
        self.client.install()
        token = self.gate.state / "owner.token"
        process, provider = self.begun({"tool": "Read", "input": {"file_path": str(token)}}, {"tool": "Bash", "input": {"command": f"{PLACET} decide x approve"}})
        self.client.end(process)
        self.assertEqual(len(provider.results()), 2, provider.results())
        for result in provider.results():
            self.assertIn("Agents must not", result)
        self.assertNotIn(token.read_text().strip(), json.dumps([request["body"] for request in provider.requests]))


class CodexTest(WithCallIds, World):
    CLIENT = Codex

    def test_not_trusted_then_doctor_says_so(self):
        self.gate.start()
        self.client.install()
        self.assertRegex(self.client.placet("doctor"), r"ok +hook +Codex: .*trusted")
        (self.client.home / ".codex/config.toml").write_text("")

        said = self.client.placet("doctor", code=1)

        self.assertRegex(said, r"WRONG +hook +Codex: .*not trusted")

    def test_defer_is_refused_when_installed_and_when_run(self):
        self.assertIn("leave --defer out", self.client.placet("hook", "install", "codex", "--defer", "--yes", code=2))
        self.assertIn("leave --defer out", self.client.placet("hook", "--client", "codex", "--defer", code=2))


class GeminiCliTest(World):
    CLIENT = GeminiCli

    def test_defer_is_refused_when_installed_and_when_run(self):
        self.assertIn("leave --defer out", self.client.placet("hook", "install", "gemini", "--defer", "--yes", code=2))
        self.assertIn("leave --defer out", self.client.placet("hook", "--client", "gemini", "--defer", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
