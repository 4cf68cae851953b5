#!/usr/bin/env bash
# Two inboxes on two gates on one PostgreSQL; one gate is killed with kill -9 in the middle, and both reviewers go on.
#
# It needs target/debug/placet (cargo build), tmux, Python 3 and PostgreSQL (Debian's packages tmux and postgresql), and no network.
# What both terminals show is printed step by step; docs/screens/two-gates.txt is what it printed once:
#
#   tests/reach/two_gates.sh > docs/screens/two-gates.txt
#
# To look on: tmux -S $(cat target/two_gates.tmux) attach -r
set -euo pipefail
cd "$(dirname "$0")/../.."
placet=$PWD/target/debug/placet
[ -x "$placet" ] || { echo "target/debug/placet is missing; run cargo build" >&2; exit 2; }
command -v tmux >/dev/null || { echo "tmux is missing; install it first" >&2; exit 2; }
programs=$(ls -d target/postgres/usr/lib/postgresql/*/bin /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1 || true)
[ -n "$programs" ] || { echo "PostgreSQL is missing; install Debian's package postgresql" >&2; exit 2; }

home=$(mktemp -d)
chmod 711 "$home"
gates=()
as_server() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
end() {
    tmux -S "$home/tmux" kill-server 2>/dev/null || true
    for gate in "${gates[@]}"; do kill -9 "$gate" 2>/dev/null || true; done
    as_server "$programs/pg_ctl" -D "$home/db/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$home" target/two_gates.tmux
}
trap end EXIT
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Waits until a command succeeds, for at most 30 s.
until_true() {
    for _ in $(seq 300); do "$@" && return; sleep 0.1; done
    echo "never happened: $*" >&2
    exit 1
}

# --- one PostgreSQL, two gates ------------------------------------------------------------------------------------------------
mkdir "$home/db"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$home/db"
port=$(free_port)
(cd / && as_server "$programs/initdb" -D "$home/db/data" -U placet --auth=trust -E UTF8 --locale=C -N >/dev/null)
(cd / && as_server "$programs/pg_ctl" -D "$home/db/data" -w -l "$home/db/log" \
    -o "-c listen_addresses=127.0.0.1 -p $port -k $home/db" start >/dev/null)
database=postgres://placet@127.0.0.1:$port/postgres
export PLACET_CONFIG=$home/gate.toml PLACET_STATE_DIR=$home/gate
echo '[gate]' >"$PLACET_CONFIG"
"$placet" gate migrate --database "$database" >&2
a=$(free_port) b=$(free_port)
for listen in "$a" "$b"; do
    "$placet" gate serve --database "$database" --listen "127.0.0.1:$listen" >"$home/$listen.ready" &
    gates+=($!)
    until_true test -s "$home/$listen.ready"
done
urls=("http://127.0.0.1:$a" "http://127.0.0.1:$b")
token() { "$placet" gate token create --database "$database" --scopes "$2" --subject "$1" --workspace default >"$home/$1.token"; }
umask 077
token kim read,decide
token lee read,decide
token agent propose

# --- two reviewers in two terminals, each with both URLs; Kim's gate is the first one, Lee's is the second one -----------------
tmux -S "$home/tmux" -f /dev/null new-session -d -s kim -x 100 -y 24 cat
echo "$home/tmux" >target/two_gates.tmux
reviewer() { # name, URLs
    cat >"$home/$1.toml" <<TOML
[ui]
hold_seconds = 0
hints = false
[[source]]
name = "team"
kind = "gate"
url = ["$2", "$3"]
token_file = "$home/$1.token"
TOML
    tmux -S "$home/tmux" kill-session -t "$1" 2>/dev/null || true
    tmux -S "$home/tmux" -f /dev/null new-session -d -s "$1" -x 100 -y 24 \
        "env LANG=C.UTF-8 PLACET_CONFIG=$home/$1.toml PLACET_STATE_DIR=$home/$1 HOME=$home $placet"
}
tmux -S "$home/tmux" new-session -d -s keep cat
reviewer kim "${urls[0]}" "${urls[1]}"
reviewer lee "${urls[1]}" "${urls[0]}"
screen() { tmux -S "$home/tmux" capture-pane -p -t "$1"; }
shows() { screen "$1" | grep -qF -- "$2"; }
waits() { until_true shows "$1" "$2"; }
# At a person's pace: what comes faster is a paste.
keys() {
    local who=$1 key
    shift
    for key in "$@"; do tmux -S "$home/tmux" send-keys -t "$who" "$key"; sleep 0.3; done
}
# The review sheet takes no key in its first moment.
sends() {
    keys "$1" s
    waits "$1" "Press y to send"
    sleep 1.2
    keys "$1" y
    until_true gone "$1" "Press y to send"
}
gone() { ! shows "$1" "$2"; }
step() { printf '\n########## %s\n' "$1"; }
both() {
    sleep 1
    for who in kim lee; do printf '\n=== %s\n' "$who"; screen "$who"; done
}
# An agent, which goes on with the next URL as the inboxes do, under the same key.
proposes() {
    python3 - "$home/agent.token" "$1" "${urls[@]}" <<'PYTHON'
import json, sys, urllib.request, uuid
token, title, *urls = sys.argv[1:]
body = {"workspaceId": "default", "toolName": "create_linear_issue", "agent": "triage", "toolInput": {"title": title}}
headers = {"Authorization": "Bearer " + open(token).read().strip(), "Content-Type": "application/json",
           "Idempotency-Key": str(uuid.uuid4())}
for url in urls:
    try:
        asked = urllib.request.Request(url + "/api/pending-actions", json.dumps(body).encode(), headers)
        answer = json.load(urllib.request.urlopen(asked, timeout=30))
        print("agent:", title, "->", answer["status"] if "status" in answer else "queued")
        break
    except OSError as error:
        print("agent:", url.rsplit(":", 1)[0] + ":… does not answer, going on with the next one")
else:
    sys.exit("no gate answers")
PYTHON
}

waits kim "Nothing is pending"
waits lee "Nothing is pending"
step "An agent proposes three issues at the first gate; both reviewers see them"
for title in "Checkout fails for some customers" "Export takes an hour" "Login page is blank"; do proposes "$title"; done
for who in kim lee; do waits "$who" "3 to decide"; done
both

step "Kim approves the first one, at the first gate"
keys kim g g a
sends kim
waits lee "2 to decide"
both

step "kill -9 of the first gate, while the agent goes on proposing"
kill -9 "${gates[0]}"
wait "${gates[0]}" 2>/dev/null || true
proposes "Search finds nothing"
proposes "Prices are shown twice"
for who in kim lee; do waits "$who" "4 to decide"; done
both

step "Kim goes on at the second gate, and Lee as before"
keys kim a
sends kim
waits lee "3 to decide"
keys lee g g x
sends lee
waits kim "2 to decide"
both

step "What the audit says, and what happened to each"
"$placet" gate audit verify --database "$database"
"$placet" gate audit export --database "$database" | python3 -c '
import collections, json, sys
rows = [json.loads(line) for line in sys.stdin]
events = collections.Counter(row["event"] for row in rows if row.get("pendingActionId"))
decided = [row["pendingActionId"] for row in rows if row["event"] in ("approved", "rejected")]
print(dict(events))
print("decided twice:", len(decided) - len(set(decided)))
assert events["created"] == 5 and len(decided) == len(set(decided)) == 3, events
'
