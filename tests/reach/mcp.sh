#!/usr/bin/env bash
# `placet mcp` between real clients and real servers, with a real gate.
#
#   tests/reach/mcp.sh          the MCP clients of Python and TypeScript, the filesystem server, a Python server and a scripted one
#   tests/reach/mcp.sh --all    also the everything server; Claude Code, Codex, Gemini CLI and opencode, with an edit and a parked call
#
# Further arguments are names of tests, as unittest takes them. PLACET is the program to test [target/debug/placet].
set -euo pipefail
cd "$(dirname "$0")/../.."
names=(server-filesystem python-mcp typescript-mcp)
if [ "${1:-}" = --all ]; then
    shift
    export REACH_ALL=1
    names+=(server-everything claude-code codex gemini-cli opencode)
fi
tests/reach/install.sh "${names[@]}"
export PLACET="${PLACET:-$PWD/target/debug/placet}" PATH="$PWD/target/reach/node/bin:$PATH"
[ -x "$PLACET" ] || cargo build
exec target/reach/python-mcp/bin/python -W error::ResourceWarning tests/reach/proxy.py "$@"
