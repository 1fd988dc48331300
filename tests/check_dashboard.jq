# SPDX-License-Identifier: BSD-3-Clause
# What is wrong with a dashboard of Grafana, a line each. $dashboard[0] is the dashboard; $manual has a line
# "NAME TYPE LABEL..." for each metric.

# {NAME: {type, labels}}; of a histogram its samples. Prometheus adds two labels.
def metrics:
  [split("\n")[] | select(. != "") | split(" ") | {name: .[0], type: .[1], labels: (.[2:] + ["instance", "job"])}
    | if .type == "histogram" then .name += ("_bucket", "_sum", "_count") else . end
    | if .name | endswith("_bucket") then .labels += ["le"] else . end
    | {key: .name, value: .}] | from_entries;

# What a query uses: [NAME, SELECTOR] of each metric, the labels that are left of it, and those that its legend shows.
def used: [.expr | scan("(rpmad_[a-z0-9_]+)(\\{[^}]*\\})?")];
def left: [.expr | scan("\\bby *\\(([^)]*)\\)")[] | gsub(" "; "") | split(",")[]];
def shown: [.legendFormat | scan("\\{\\{ *([a-z_]+) *\\}\\}")[]];
# What is there besides, without labels and times.
def words: .expr | gsub("\"[^\"]*\""; "") | gsub("\\{[^}]*\\}|\\[[^\\]]*\\]|\\bby *\\([^)]*\\)"; "") | [scan("[a-zA-Z_][a-zA-Z0-9_]*")];

def faults_of_metric($metrics; $name; $selector; $labels):
  if $metrics[$name] == null then
    "asks for \($name), which does not exist"
  else
    (($selector | scan("([a-z_]+) *(?:=~|!~|!=|=)")[]), $labels[] | select(IN($metrics[$name].labels[]) | not)
      | "\($name) has no label \(.)"),
    (select($selector | test("instance=~\"\\$instance\"") | not) | "\($name) is not that of the chosen instances")
  end;

def faults_of_query($metrics):
  used as $used | left as $left | shown as $shown
  | (select($used == []) | "asks for no metric"),
    ($used[] | faults_of_metric($metrics; .[0]; .[1] // ""; if $left == [] then $shown else $left end)),
    (select($left != []) | $shown - $left | .[] | "shows \(.), which is summed up"),
    (words[] | select(startswith("rpmad_") or IN("sum", "max", "rate", "increase", "histogram_quantile") | not)
      | "has the unknown word \(.)"),
    (.expr | scan("\\b(?:rate|increase) *\\( *([a-z_]+)")[] | select($metrics[.].type | IN("counter", "histogram") | not)
      | "has the rate of \(.), which may fall"),
    (select(.expr | test("histogram_quantile") and (test("_bucket\\{") and test("by \\(le[,)]") | not))
      | "has percentiles of what is no histogram");

def faults_of_panel($metrics):
  (("title", "description") as $key | select(.[$key] // "" | length == 0) | "has no \($key)"),
  (select(.fieldConfig.defaults.unit // "" | length == 0) | "has no unit"),
  (., .targets[] | select(.datasource != {type: "prometheus", uid: "${datasource}"}) | "reads another source"),
  (select(.targets | length == 0 or (map(.refId) | unique | length) != length) | "has no queries, or two of one name"),
  (.targets[] | "\(.refId) " + faults_of_query($metrics));

# "Y X" of each place that a panel takes.
def places: .gridPos | [range(.x; .x + .w)] as $x | range(.y; .y + .h) | "\(.) \($x[])";

def faults($metrics):
  (select(.id != null or has("__inputs")) | "it is tied to one server"),
  (select([.uid, .title, .schemaVersion | type] != ["string", "string", "number"]) | "it has no name or no version"),
  (select(([.panels[].id] | unique | length) != (.panels | length)) | "two panels have one id"),
  (.panels[] | select(.gridPos | .x < 0 or .x + .w > 24 or .w < 1 or .h < 1) | "\(.title) has no room"),
  ([.panels[] | places] | group_by(.)[] | select(length > 1) | "two panels are at \(.[0])"),
  ([.templating.list[].name, "__rate_interval", "__all"] as $names
    | [.. | strings | scan("\\$\\{?([a-zA-Z_]+)")[]] - $names | unique[] | "there is no variable \(.)"),
  (.templating.list[] | select(.name == "instance").query.query
    | select(IN($metrics | keys[] | "label_values(\(.), instance)") | not) | "there are no instances of \(.)"),
  ([.panels[] | select(.type != "row")] | select(length < 10) | "there are hardly any panels"),
  (.panels[] | select(.type != "row") | "\(.title): " + faults_of_panel($metrics));

($manual | metrics) as $metrics | $dashboard[0] | faults($metrics)
