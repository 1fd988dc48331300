# SPDX-License-Identifier: BSD-3-Clause
# table.awk: the table of doc/benchmarks.md from what compare.sh measured. Ratios are those of a pair; of them, the median.

# The median of the words of a list.
function median(list, v, n, i, j, t) {
  n = split(list, v, " ")
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return n == 0 ? "-" : n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

# The median ratio of column c, WHO to OTHER.
function ratio(what, len, conns, who, other, c, i, a, b, list) {
  for (i = 1; i <= pairs; i++) {
    a = value[i, what, len, conns, who, c]
    b = value[i, what, len, conns, other, c]
    if (a != "" && b > 0) list = list " " a / b
  }
  i = median(list)
  return i == "-" ? i : sprintf("%.2f", i)
}

# Processor time of server and consumer together.
function both(who, len, conns, i) {
  for (i = 1; i <= pairs; i++)
    value[i, "rate", len, conns, who, 5] = value[i, "rate", len, conns, who, 2] + value[i, "rate", len, conns, who, 3]
}

# "4 connections".
function conns_of(n) { return n " connection" (n == 1 ? "" : "s") }

function row(text, a, b, goal) { printf "| %s | %s | %s | %s |\n", text, a, b, goal }

function verdict(r, limit, is_most) {
  if (r == "-") return ""
  return sprintf("%s %s: %s", is_most ? "at most" : "at least", limit, (is_most ? r + 0 <= limit : r + 0 >= limit) ? "met" : "missed")
}

{ for (i = 6; i <= NF; i++) value[$1, $2, $3, $4, $5, i - 5] = $i; if ($1 > pairs) pairs = $1 }

END {
  split("64 4096", lens, " "); split("1 4 64", numbers, " "); split("1 100 500", rooms, " ")
  print "| ratio of | rpmad : bare loop | rpmad : librpma 1.2.0 | goal, to the bare loop |"
  print "|---|---|---|---|"
  for (l = 1; l <= 2; l++) for (n = 1; n <= 3; n++) {
    r = ratio("rate", lens[l], numbers[n], "rpmad", "bare", 1)
    row("messages per second, " lens[l] " bytes, " conns_of(numbers[n]), r,
      ratio("rate", lens[l], numbers[n], "rpmad", "librpma", 1), numbers[n] == 4 ? verdict(r, 0.85, 0) : "")
  }
  for (l = 1; l <= 2; l++) for (n = 1; n <= 3; n++) {
    r = ratio("rate", lens[l], numbers[n], "rpmad", "bare", 2)
    row("processor time of the server per message, " lens[l] " bytes, " conns_of(numbers[n]), r,
      ratio("rate", lens[l], numbers[n], "rpmad", "librpma", 2), numbers[n] == 4 ? verdict(r, 1.25, 1) : "")
  }
  for (l = 1; l <= 2; l++) {
    both("rpmad", lens[l], 4); both("bare", lens[l], 4); both("librpma", lens[l], 4); both("json", lens[l], 4)
    row("the same with the consumer's, " lens[l] " bytes, 4 connections", ratio("rate", lens[l], 4, "rpmad", "bare", 5),
      ratio("rate", lens[l], 4, "rpmad", "librpma", 5), "")
  }
  for (l = 1; l <= 2; l++) {
    row("messages per second as JSON, " lens[l] " bytes, 4 connections", ratio("rate", lens[l], 4, "json", "bare", 1),
      ratio("rate", lens[l], 4, "json", "librpma", 1), "")
    row("processor time of the daemon as JSON, " lens[l] " bytes, 4 connections", ratio("rate", lens[l], 4, "json", "bare", 2),
      ratio("rate", lens[l], 4, "json", "librpma", 2), "")
  }
  row("round trip of 64 bytes", ratio("trip", 64, 1, "rpmad", "bare", 1), ratio("trip", 64, 1, "rpmad", "librpma", 1), "")
  for (n = 1; n <= 3; n++)
    row("resident memory per connection, " conns_of(rooms[n]), ratio("room", 0, rooms[n], "rpmad", "bare", 1),
      ratio("room", 0, rooms[n], "rpmad", "librpma", 1), "")
  print ""
  print "| ratio of | rpmad : a line echoed over the same kind of socket |"
  print "|---|---|"
  for (i = 1; i <= pairs; i++) list = list " " value[i, "control", 0, 0, "rpmad", 3]
  r = median(list)
  printf("| control requests per second | %s |\n", (r + 0 > 0) ? sprintf("%.2f", 1 / r) : "-")
  for (i = 1; i <= pairs; i++) rates = rates " " value[i, "rate", 64, 4, "bare", 1]
  printf "\nFor the scale: the bare loop took %.0f messages of 64 bytes a second over 4 connections. ", median(rates)
  printf "The daemon's queue was found empty %d times, so nothing was held up by it.\n", value[1, "rnr", 0, 0, "rpmad", 1]
}
