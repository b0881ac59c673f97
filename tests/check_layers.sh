#!/bin/bash
# What the compiler does not enforce: the direction of includes, and where SQL may stand.
# check_layers.sh SOURCE-DIRECTORY
set -euo pipefail
shopt -s nullglob globstar
cd "$1"

failed=0

# forbid WHY PATTERN FILE...: no line of the files matches the Perl pattern.
forbid() {
  local why=$1 pattern=$2 status=0
  shift 2
  [ $# -gt 0 ] || return 0
  grep -nHP "$pattern" "$@" || status=$?
  [ $status -eq 1 ] || { # 1: no line matches
    echo "  ^ $why" >&2
    failed=1
  }
}

include='^\s*#\s*include\s*'
graph_headers='(weir/)?(graph|graph_async|io|query|search|traverse|projection|algo)\.h'

forbid "pool/ knows nothing of graphs" "$include([<\"]$graph_headers|\"[^\"]*graph/)" pool/**/*.[ch]
forbid "pool/ and graph/ do not stand on examples, benches, tests or cli" \
  "$include\"[^\"]*(examples|benches|tests|cli)/" {pool,graph}/**/*.[ch]
forbid "graph/ uses the pool through its public header" "$include\"[^\"]*pool/" graph/**/*.[ch]
forbid "a public header includes no SQLite" "${include}[<\"]sqlite3" {pool,graph}/include/**/*.h
forbid "public headers only, as a user of the installed library spells them: <weir/graph.h>" \
  "$include\"[^\"]*/" {examples,benches,cli}/**/*.[ch]
forbid "include weir's headers with <>" "$include\"weir/" {examples,benches,cli,tests}/**/*.[ch]

# SQL: in pool/, and in graph/store/.
no_sql=()
for file in graph/**/*.[ch] cli/**/*.[ch]; do
  case ${file#graph/} in
  store/*) ;;
  *) no_sql+=("$file") ;;
  esac
done
forbid "SQL belongs into graph/store/" \
  '"\s*(SELECT|INSERT|REPLACE|UPDATE|DELETE FROM|WITH|CREATE (TABLE|INDEX|TRIGGER|VIEW)|DROP|ALTER|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|ATTACH|VACUUM)\s' \
  "${no_sql[@]}"

exit $failed
