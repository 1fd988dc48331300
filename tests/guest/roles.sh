# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Who may do what: users of this guest with no group, with rpmad as a supplementary group, and root; the daemon runs as
# the user rpmad. A folder and a socket that let everybody in show the roles, the usual ones who does not get in at all.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

getent group rpmad >/dev/null || groupadd -r rpmad
getent passwd rpmad >/dev/null || useradd -r -M -g rpmad -d / -s /usr/sbin/nologin rpmad
useradd -M -U -d / outsider
useradd -M -U -d / -G rpmad member
outsider=$(id -u outsider) member=$(id -u member)
check_is "rpmad is no primary group of the member" member "$(id -gn member)"

# What other users run and read.
chmod 755 "$DIR"
install -m 755 "$RPMAD" "$RPMACTL" "$DIR/"
install -d -o rpmad -g rpmad -m 750 "$DIR/run"
export RPMAD_SOCKET=$DIR/run/rpmad.sock
: >rpmad.log && chown rpmad rpmad.log

# as USER COMMAND...: with all groups of that user.
as() {
  local user=$1
  shift
  setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
}

# start_as_rpmad MODE-OF-FOLDER [FILTER]
start_as_rpmad() {
  chmod "$1" "$DIR/run"
  write_config "${2:-.}"
  chmod 644 rpmad.json
  (ulimit -l unlimited && as rpmad "$DIR/rpmad" -c "$DIR/rpmad.json") >>rpmad.log 2>&1 &
  RPMAD_PID=$!
  wait_until 15 rpmad_runs || fail "rpmad starts as the user rpmad" "$("$RPMACTL" status 2>&1)" "$(tail -n 5 rpmad.log)"
}

# The daemon itself, which is a child of the shell that raised its limit.
stop_as_rpmad() {
  "$RPMACTL" stop >/dev/null
  wait "$RPMAD_PID"
  check_is "$1" 0 $?
  RPMAD_PID=
}

# audited PATTERN: how many lines of the log are like that.
audited() { grep -cE "$1" rpmad.log; }

# --- everybody gets in, and the roles count ---

start_as_rpmad 755 '.control.mode = "0666"'
check_is "the socket is as configured" "666 rpmad rpmad" "$(stat -c '%a %U %G' "$RPMAD_SOCKET")"
before=$("$RPMACTL" stats --json | jq -c .slots)
"$RPMACTL" methods --json | jq -c '.methods[] | select(.changes)' >methods.json
check "there are methods that change something" test "$(wc -l <methods.json)" -ge 10
jq -c '{jsonrpc: "2.0", id: .name, method: .name, params: {}}' methods.json |
  as outsider socat -t 10 - "UNIX-CONNECT:$RPMAD_SOCKET" >denied.json
# rpmactl does not come as far: it says hello first, which needs the role read.
check_is "a user in no group is denied each of them, and told the role" \
  "$(jq -r --arg uid "$outsider" '"\(.name) DENIED \(.name) needs the role \(.role); user \($uid) has the role none"' methods.json)" \
  "$(jq -r '"\(.id) \(.error.data.name) \(.error.message)"' denied.json)"
missing=''
while read -r method; do
  [ "$(audited "uid=$outsider pid=[0-9]+ method=$method result=DENIED")" = 1 ] || missing+="$method "
done < <(jq -r .name methods.json)
check_is "each denial is a line of the log with uid, pid, method and result" "" "$missing"
as outsider ./rpmactl status >out 2>&1
check_is "he may not read either" "5 1" "$? $(grep -c 'needs the role read' out)"
check_is "nothing has changed" "$before" "$("$RPMACTL" stats --json | jq -c .slots)"
check "the daemon was not stopped" rpmad_runs

# --- rpmad as a supplementary group ---

check "a member of the group posts" as member ./rpmactl post -n 1
check "a message is sent" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1
as member ./rpmactl poll -n 1 -w 10 --no-ack --lease 60 --json >polled.json 2>out
check_is "he polls it" "0 1" "$? $(jq '.completions | length' polled.json)"
check "he acknowledges it" as member ./rpmactl ack "$(jq -r '.completions[0].token' polled.json)"
check_json "it is gone" '.slots.ready == 0 and .slots.leased == 0 and .recv.acked_total == 1' "$("$RPMACTL" stats --json)"
check "his first call is a line of the log" test "$(audited "uid=$member pid=[0-9]+ method=recv.post result=ok")" = 1
as member ./rpmactl stop >out 2>&1
check_is "he may not stop it" "5 1" "$? $(grep -c "daemon.stop needs the role admin; user $member has the role post" out)"
check "root may change the log" "$RPMACTL" log debug
check "what an admin does is a line of the log" test "$(audited 'uid=0 pid=[0-9]+ method=log.set result=ok')" = 1

# --- a reload takes a role away, and gives one ---

jq --arg user outsider '.control.roles = {post: {users: [$user]}}' rpmad.json >new.json && cat new.json >rpmad.json
check "roles are reloaded" "$RPMACTL" reload
as member ./rpmactl post -n 1 >out 2>&1
check_is "the group has lost its role" 5 $?
check "the user who is named has it" as outsider ./rpmactl post -n 1
echo '{' >rpmad.json
"$RPMACTL" reload >out 2>&1
check_is "a broken file is refused with its name and the line" "1 1" "$? $(grep -c "$DIR/rpmad.json: line 2" out)"
check "and the roles are as they were" as outsider ./rpmactl post -n 1
stop_as_rpmad "it ends in order"

# --- as it is installed: the folder lets the group in, and nobody else ---

start_as_rpmad 750
check_is "the socket is for the group" "660 rpmad rpmad" "$(stat -c '%a %U %G' "$RPMAD_SOCKET")"
as outsider ./rpmactl status >out 2>&1
check_is "who is in no group does not get in, and is told the group to join" "5 1" "$? $(grep -c 'group rpmad' out)"
check "the member does" as member ./rpmactl status
stop_as_rpmad "it ends in order again"
finish
