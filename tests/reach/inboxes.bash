# Shared by the recordings of several inboxes: a folder, tokens, inboxes in tmux, their keys and screens. Source it.
#
# To watch: tmux -S $(cat target/inboxes.tmux) attach -r
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
placet=${PLACET_PROGRAM:-$PWD/target/debug/placet}
[ -x "$placet" ] || { echo "$placet is missing; run cargo build" >&2; exit 2; }
command -v tmux >/dev/null || { echo "tmux is missing; install it first" >&2; exit 2; }

home=$(mktemp -d)
chmod 711 "$home"
export PLACET_CONFIG=$home/gate.toml PLACET_STATE_DIR=$home/gate
# Set by the script: process ids of gates, arguments for the gate's database, the reviewers, and the gates' URLs.
gates=() database=() reviewers=() urls=()
size=(-x 100 -y 24)

clean_up() {
    tmux -S "$home/tmux" kill-server 2>/dev/null || true
    for gate in "${gates[@]}"; do kill -9 "$gate" 2>/dev/null || true; done
    rm -rf "$home" target/inboxes.tmux
}
trap clean_up EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Waits until a command succeeds, for at most 30 s.
until_true() {
    for _ in $(seq 300); do "$@" && return; sleep 0.1; done
    echo "never happened: $*" >&2
    look >&2
    exit 1
}
# The gate's program; differs from the inboxes' to test two versions.
gate_program=$placet
# Serves a gate, and adds its URL.
serve() {
    local port
    port=$(free_port)
    "$gate_program" gate serve "${database[@]}" --listen "127.0.0.1:$port" >"$home/$port.ready" &
    gates+=($!)
    urls+=("http://127.0.0.1:$port")
    until_true test -s "$home/$port.ready"
}
# A token of a subject, with scopes and other arguments of `placet gate token create`.
token() {
    local subject=$1 scopes=$2
    shift 2
    (umask 077; "$gate_program" gate token create "${database[@]}" --scopes "$scopes" --subject "$subject" --workspace default "$@" \
        >"$home/$subject.token")
}

# Starts a subject's inbox in a terminal, from a given program, with its order of URLs.
reviewer() {
    local name=$1 program=$2 list
    shift 2
    list=$(printf '"%s", ' "$@")
    cat >"$home/$name.toml" <<TOML
[ui]
hold_seconds = 0
hints = false
[[source]]
name = "team"
kind = "gate"
url = [${list%, }]
token_file = "$home/$name.token"
TOML
    # Keeps tmux's server, which ends with its last session.
    tmux -S "$home/tmux" -f /dev/null new-session -d -s keep cat 2>/dev/null || true
    mkdir -p target
    echo "$home/tmux" >target/inboxes.tmux
    tmux -S "$home/tmux" new-session -d -s "$name" "${size[@]}" \
        "env LANG=C.UTF-8 PLACET_CONFIG=$home/$name.toml PLACET_STATE_DIR=$home/$name HOME=$home $program"
    reviewers+=("$name")
}
screen() { tmux -S "$home/tmux" capture-pane -p -t "$1"; }
shows() { screen "$1" | grep -qF -- "$2"; }
gone() { ! shows "$1" "$2"; }
waits() { until_true shows "$1" "$2"; }
# Types at a person's pace; faster keys count as a paste.
keys() {
    local who=$1 key
    shift
    for key in "$@"; do tmux -S "$home/tmux" send-keys -t "$who" "$key"; sleep 0.3; done
}
# The review sheet ignores keys at first.
sends() {
    keys "$1" s
    waits "$1" "Press y to send"
    sleep 1.2
    keys "$1" y
    until_true gone "$1" "Press y to send"
}
step() { printf '\n########## %s\n' "$1"; }
# Prints every reviewer's screen.
look() {
    sleep 1
    for who in "${reviewers[@]}"; do printf '\n=== %s\n' "$who"; screen "$who"; done
}
# Proposes a title by a tool (create_linear_issue). Tries the next URL like the inboxes, under the same key.
proposes() {
    python3 - "$home/agent.token" "$1" "${2:-create_linear_issue}" "${urls[@]}" <<'PYTHON'
import json, sys, urllib.request, uuid
token, title, tool, *urls = sys.argv[1:]
body = {"workspaceId": "default", "toolName": tool, "agent": "triage", "toolInput": {"title": title}}
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
# Verifies the audit and that no action was decided twice; counts its events.
audit() {
    "$gate_program" gate audit verify "${database[@]}"
    "$gate_program" gate audit export "${database[@]}" | python3 -c '
import collections, json, sys
rows = [json.loads(line) for line in sys.stdin]
print(dict(collections.Counter(row["event"] for row in rows if row.get("pendingActionId"))))
decided = [row["pendingActionId"] for row in rows if row["event"] in ("approved", "rejected")]
assert len(decided) == len(set(decided)), "decided twice"
print("decided twice: 0")
'
}
