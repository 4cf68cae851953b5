#!/usr/bin/env bash
# Two inboxes on two gates on one PostgreSQL; one gate is killed with kill -9, and both reviewers continue.
#
# Needs target/debug/placet (cargo build), tmux, Python 3 and PostgreSQL (Debian's packages tmux and postgresql), and no network.
# Prints both terminals step by step; its recording is docs/screens/two-gates.txt:
#
#   tests/reach/two_gates.sh > docs/screens/two-gates.txt
set -euo pipefail
. "$(dirname "$0")/inboxes.bash"
programs=$(ls -d target/postgres/usr/lib/postgresql/*/bin /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1 || true)
[ -n "$programs" ] || { echo "PostgreSQL is missing; install Debian's package postgresql" >&2; exit 2; }
as_server() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
end() {
    as_server "$programs/pg_ctl" -D "$home/db/data" -m immediate stop >/dev/null 2>&1 || true
    clean_up
}
trap end EXIT

# --- one PostgreSQL, two gates ------------------------------------------------------------------------------------------------
mkdir "$home/db"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$home/db"
port=$(free_port)
(cd / && as_server "$programs/initdb" -D "$home/db/data" -U placet --auth=trust -E UTF8 --locale=C -N >/dev/null)
(cd / && as_server "$programs/pg_ctl" -D "$home/db/data" -w -l "$home/db/log" \
    -o "-c listen_addresses=127.0.0.1 -p $port -k $home/db" start >/dev/null)
database=(--database "postgres://placet@127.0.0.1:$port/postgres")
echo '[gate]' >"$PLACET_CONFIG"
"$placet" gate migrate "${database[@]}" >&2
serve
serve
token kim read,decide
token lee read,decide
token agent propose

# --- two reviewers in two terminals, each with both URLs; Kim's gate is the first one, Lee's is the second one -----------------
reviewer kim "$placet" "${urls[0]}" "${urls[1]}"
reviewer lee "$placet" "${urls[1]}" "${urls[0]}"

waits kim "Nothing is pending"
waits lee "Nothing is pending"
step "An agent proposes three issues at the first gate; both reviewers see them"
for title in "Checkout fails for some customers" "Export takes an hour" "Login page is blank"; do proposes "$title"; done
for who in kim lee; do waits "$who" "3 to decide"; done
look

step "Kim approves the first one, at the first gate"
keys kim g g a
sends kim
waits lee "2 to decide"
look

step "kill -9 of the first gate, while the agent goes on proposing"
kill -9 "${gates[0]}"
wait "${gates[0]}" 2>/dev/null || true
proposes "Search finds nothing"
proposes "Prices are shown twice"
for who in kim lee; do waits "$who" "4 to decide"; done
look

step "Kim goes on at the second gate, and Lee as before"
keys kim a
sends kim
waits lee "3 to decide"
keys lee g g x
sends lee
waits kim "2 to decide"
look

step "What the audit says, and what happened to each"
audit
