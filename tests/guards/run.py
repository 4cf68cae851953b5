"""G37, the test of the tests: takes each guard out in turn, and expects that a test fails.

Works in a checkout of its own under target/guards, of what is committed. About a minute a guard; names as arguments choose some.
Ends with 1 when a guard can go without a test that notices, or when its removal does not build.
"""

import os
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "target" / "guards"
# Longest a build with its tests may take, in seconds. A test that hangs without its guard has noticed, too.
LIMIT = 900


def git(*args: str, at: pathlib.Path = ROOT) -> None:
    subprocess.run(["git", *args], cwd=at, check=True, stdout=subprocess.DEVNULL)


def verdict(guard: dict[str, str]) -> str:
    path = COPY / guard["file"]
    text = path.read_text(encoding="utf-8")
    if text.count(guard["old"]) != 1:
        return "NOT THERE"
    path.write_text(text.replace(guard["old"], guard["new"]), encoding="utf-8")
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target" / "guards-target"), **os.environ}
    cargo = ["cargo", "test", "--locked", "--lib"]
    options = {"cwd": COPY, "env": environment, "capture_output": True, "text": True}
    try:
        built = subprocess.run([*cargo, "--no-run"], timeout=LIMIT, **options)
        if built.returncode != 0:
            return "DOES NOT BUILD\n" + built.stderr[-2000:]
        ran = subprocess.run([*cargo, "--", *guard["tests"].split()], timeout=LIMIT, **options)
    except subprocess.TimeoutExpired:
        return "held (a test hangs)"
    finally:
        path.write_text(text, encoding="utf-8")
    failed = [line.split()[1] for line in ran.stdout.splitlines() if line.endswith("... FAILED")]
    return f"held by {len(failed)}: {failed[0]}" if failed else "NOT HELD"


def main() -> int:
    guards = tomllib.loads((ROOT / "tests" / "guards" / "guards.toml").read_text(encoding="utf-8"))["guard"]
    chosen = sys.argv[1:]
    if not COPY.exists():
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(COPY), "HEAD")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    git("checkout", "--quiet", "--force", "--detach", head, at=COPY)
    bad = 0
    for guard in guards:
        if chosen and not any(word in guard["name"] for word in chosen):
            continue
        said = verdict(guard)
        bad += not said.startswith("held")
        print(f"{guard['name']}: {said}", flush=True)
    git("worktree", "remove", "--force", str(COPY))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
