#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Metrics: as text, as the answer to an HTTP request, and the numbers in them.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
"$fake_send" "127.0.0.1:$port" --count 5 --size 100
ctl a poll -n 5 -w 5 >/dev/null

exits 'metrics' 0 ctl a metrics
cp "$dir/out" "$dir/metrics"
is 'counters of what was sent' "$(grep -E '^rpmad_recv_(messages|bytes|acked)_total ' "$dir/metrics")" 'rpmad_recv_messages_total 5
rpmad_recv_bytes_total 500
rpmad_recv_acked_total 5'
exits 'as JSON' 0 ctl a metrics --json
like 'in one member' "$(cat "$dir/out")" '{"text":"# HELP *"}'

# Every line has the form that the format gives: a comment, or a name with labels and a number.
name='[a-zA-Z_:][a-zA-Z0-9_:]*'
label='[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*"'
! grep -vE "^(# HELP $name .+|# TYPE $name (counter|gauge|histogram)|$name(\{$label(,$label)*\})? [0-9]+(\.[0-9]+)?)$" "$dir/metrics"
result 'each line is a comment or a sample'
is 'each metric has one type' "$(grep '^# TYPE' "$dir/metrics" | sort | uniq -d)" ''
grep '^# TYPE' "$dir/metrics" | while read -r _ _ metric type; do
  case $type in histogram) sample=${metric}_count ;; *) sample=$metric ;; esac
  grep -qE "^${sample}[ {]" "$dir/metrics" || echo "$metric"
done >"$dir/without"
is 'and a sample' "$(cat "$dir/without")" ''

# http TEXT: the answer to a request, without CRs
http() {
  printf "%b" "$1" | ctl a metrics --http | tr -d '\r'
}

http 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >"$dir/out"
is 'a request for the metrics' "$(sed -n 1,2p "$dir/out")" 'HTTP/1.1 200 OK
Content-Type: text/plain; version=0.0.4; charset=utf-8'
is 'with the length' "$(sed -n 's/^Content-Length: //p' "$dir/out")" "$(sed '1,/^$/d' "$dir/out" | wc -c)"
sed '1,/^$/d' "$dir/out" | grep -q '^rpmad_recv_messages_total 5$'
result 'with the numbers'
like 'with a query' "$(http 'GET /metrics?name=x HTTP/1.0\n\n')" 'HTTP/1.1 200 OK*rpmad_*'
like 'only the head' "$(http 'HEAD /metrics HTTP/1.1\r\n\r\n')" 'HTTP/1.1 200 OK*Connection: close'
like 'the root' "$(http 'GET / HTTP/1.1\r\n\r\n')" 'HTTP/1.1 200 OK*/metrics'
like 'another path' "$(http 'GET /metricsx HTTP/1.1\r\n\r\n')" 'HTTP/1.1 404 Not Found*'
like 'a change' "$(http 'POST /metrics HTTP/1.1\r\n\r\n')" 'HTTP/1.1 405 Method Not Allowed
Allow: GET, HEAD
*'
like 'another method' "$(http 'BREW /metrics HTTP/1.1\r\n\r\n')" 'HTTP/1.1 405 *'
for line in '' '\r\n' 'garbage\r\n' 'GET\r\n' 'GET /metrics\r\n' 'GET  HTTP/1.1\r\n' ' GET /metrics HTTP/1.1\r\n' \
  'GET /metrics HTTP/11\r\n' 'GET /metrics HTTP/1.1 x\r\n' 'GET /metrics SMTP/1.1\r\n' 'G(T /metrics HTTP/1.1\r\n'; do
  like "no request: '$line'" "$(http "$line\r\n")" 'HTTP/1.1 400 Bad Request
*'
done
like 'no end' "$(head -c 20000 /dev/zero | tr '\0' x | ctl a metrics --http)" 'HTTP/1.1 431 *'
like 'no daemon' "$(printf 'GET /metrics HTTP/1.1\r\n\r\n' | "$rpmactl" -s "$dir/nobody.sock" metrics --http)" \
  'HTTP/1.1 503 Service Unavailable*nobody.sock*'
exits 'a dry run of an answer' 2 ctl a --dry-run metrics --http
one_error 'a dry run of an answer' 'rpmactl: metrics: what --http does depends on what it reads: *'
exits 'a dry run' 0 ctl a --dry-run metrics
like 'is the request' "$(cat "$dir/out")" '*"method":"stats.metrics"*'
stop a
is 'the daemon left nothing behind' $? 0
finish
