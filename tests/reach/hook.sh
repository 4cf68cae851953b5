#!/usr/bin/env bash
# Tests `placet hook` with the real Claude Code; with --all also with Codex and Gemini CLI. A client that cannot be installed is a failure.
# Needs target/debug/placet. Further arguments go to Python's unittest: tests/reach/hook.sh --all -k killed
set -euo pipefail
cd "$(dirname "$0")/../.."
clients=(claude-code) classes=(ClaudeCodeTest OtherHooksTest)
if [ "${1:-}" = --all ]; then
    shift
    clients+=(codex gemini-cli) classes+=(CodexTest GeminiCliTest)
fi
[ -x target/debug/placet ] || { echo "target/debug/placet is missing; run cargo build" >&2; exit 2; }
tests/reach/install.sh "${clients[@]}"
exec python3 tests/reach/hook.py "${classes[@]}" "$@"
