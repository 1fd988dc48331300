#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_dashboard.sh: contrib/grafana/rpmad.json is a dashboard as Grafana imports it, and asks for metrics and labels that
# there are: in the manual, which check_metrics holds to the table, and in what a daemon shows to which all that can be has
# happened. tests/guest/metrics.sh has a real Prometheus answer its queries.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

command -v jq >/dev/null || skip_all "no jq here"
dashboard=$top_srcdir/contrib/grafana/rpmad.json
promtool=$top_builddir/tests/peers/prometheus/usr/bin/promtool

# nothing NAME: the file found is empty.
nothing() {
  [ ! -s "$dir/found" ]
  result "$1"
  [ "$status" -eq 0 ] || sed 's/^/# /' "$dir/found"
}

# ---- what there is ----

# refused: one more message, after which a post was refused.
refused() {
  "$fake_send" "$addr" && ctl a poll -w 5 && [ "$(counter a srq.post_failures.ENOMEM)" = 1 ]
}

# "NAME TYPE LABEL..." for each metric of the manual.
awk '/^\.Sh / { inside = $2 == "METRICS" }
  inside && name { gsub(/[.,]/, ""); sub(/ always 1/, ""); sub(/ by/, ""); print name, tolower($0); name = "" }
  inside && /^\.It Va / { name = $3 }' "$top_srcdir/man/rpmad-rpc.7" >"$dir/manual"
[ "$(wc -l <"$dir/manual")" -gt 50 ]
result 'the manual has a list of metrics'

# The same of a daemon: messages, one that is too long for its slot, a connection too many, a post that is refused, and a
# completion of a slot that does not exist.
RPMAD_FAKE_CONTROL=$dir/a.control
export RPMAD_FAKE_CONTROL
start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' '"connections": {"max": 2}'
addr=127.0.0.1:$(ctl a listeners --json | first port)
exits 'messages are sent' 0 "$fake_send" "$addr" --count 5
exits 'one is too long' 0 "$fake_send" "$addr" --too-long --size 2000
exits 'of three connections one is refused' 1 "$fake_send" "$addr" --conns 3
exits 'messages are taken' 0 ctl a poll -n 5 -w 5
echo 'fail ibv_post_srq_recv 1 12' >"$dir/a.control"
exits 'a slot is taken, and refused when it is posted again' 0 wait_for refused
exits 'the connections have ended' 0 ctl a wait cm.conns==0 -t 20
"$fake_send" "$addr" --count 0 --hold 60 >/dev/null &
pids="$pids $!"
exits 'one more stays' 0 ctl a wait cm.conns==1 -t 20
echo "complete $(ctl a conns --json | first qp_num) 99999 5" >"$dir/a.control"
exits 'it has a completion that names no slot' 0 ctl a wait recv.dropped.error_not_posted==1 -t 20
exits 'and is closed' 0 ctl a disconnect "$(ctl a conns --json | first conn)"
exits 'the metrics are there' 0 ctl a metrics
stop a
result 'the daemon left nothing behind'
awk '/^# TYPE / { type = $4; metric = $3; types[metric] = type; next }
  /^#/ { next }
  {
    text = $0
    sub(/[{ ].*/, "", text)
    if (types[metric] == "histogram")
      text = metric
    labels[text]
    while (match($0, /[{,][a-z_]+="([^"\\]|\\.)*"/)) {
      label = substr($0, RSTART + 1, RLENGTH - 1)
      $0 = "{" substr($0, RSTART + RLENGTH)
      sub(/=.*/, "", label)
      if (label != "le" && index(labels[text] " ", " " label " ") == 0)
        labels[text] = labels[text] " " label
    }
  }
  END { for (name in labels) print name, types[name] labels[name] }' "$dir/out" | sort >"$dir/shown"

# Whatever is shown is as the manual says; only a device has ports, and a limit of memory not everybody.
sort "$dir/manual" | diff - "$dir/shown" | sed -n -e '/^< rpmad_port_/d' -e '/^< rpmad_memory_memlock_limit_bytes /d' \
  -e 's/^< /not shown: /p' -e 's/^> /shown, not in the manual: /p' >"$dir/found"
nothing 'the daemon shows all metrics of the manual, and no others'

# ---- the dashboard ----

# faults FILE: what is wrong with a dashboard, a line each.
faults() {
  jq -rn --rawfile manual "$dir/manual" --slurpfile dashboard "$1" -f "$top_srcdir/tests/check_dashboard.jq"
}

faults "$dashboard" >"$dir/found" 2>&1
nothing 'the dashboard is whole, and each metric and label in it exists'

# Each rule finds what breaks it: what is to be found, and what is done to the dashboard, or to the first query of a percentile.
while IFS='|' read -r wanted filter; do
  jq "def query: first(.panels[].targets[]? | select(.expr | test(\"quantile\"))); $filter" "$dashboard" >"$dir/bad.json" &&
    faults "$dir/bad.json" >"$dir/found" 2>&1
  grep -qF "$wanted" "$dir/found"
  result "a fault is found: $wanted"
  [ "$status" -eq 0 ] || sed 's/^/# /' "$dir/found"
done <<'END'
asks for rpmad_recv_size_byte_bucket|query.expr |= sub("size_bytes"; "size_byte")
has no label instances|query.expr |= sub("instance="; "instances=")
has no label status|query.expr |= sub("by \\(le\\)"; "by (le, status)")
has the unknown word rpmd_recv_size_bytes_bucket|query.expr |= sub("rpmad"; "rpmd")
asks for no metric|query.expr = "1"
not that of the chosen instances|query.expr |= sub("{[^}]*}"; "")
shows instance, which is summed up|query.legendFormat = "{{instance}}"
has the rate of rpmad_cm_conns|query.expr = "rate(rpmad_cm_conns{instance=~\"$instance\"}[1m])"
no histogram|query.expr |= sub("_bucket"; "_count")
there is no variable instanc|query.expr |= sub("[$]instance"; "$instanc")
has no unit|del(.panels[0].fieldConfig.defaults.unit)
has no description|.panels[0].description = ""
reads another source|.panels[0].datasource.uid = "abc"
two of one name|.panels[0].targets += .panels[0].targets
two panels have one id|.panels[1].id = .panels[0].id
two panels are at|.panels[1].gridPos = .panels[0].gridPos
has no room|.panels[0].gridPos.w = 25
tied to one server|.id = 7
no instances of|.templating.list[1].query.query = "label_values(rpmad_slot, instance)"
END

# PromQL as Prometheus reads it, which build.sh unpacks.
if [ -x "$promtool" ]; then
  jq '{groups: [{name: "dashboard", rules: [.panels[].targets[]? | {record: "a:b",
    expr: (.expr | gsub("\\$__rate_interval"; "1m") | gsub("\\$instance"; ".*"))}]}]}' "$dashboard" >"$dir/rules.yml"
  "$promtool" check rules "$dir/rules.yml" >"$dir/out" 2>&1
  result 'Prometheus understands the queries'
  [ "$status" -eq 0 ] || sed 's/^/# /' "$dir/out"
else
  echo "# left out: Prometheus understands the queries: tests/peers/build.sh has not unpacked it"
fi
finish
