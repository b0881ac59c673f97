#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# The program in README.md is examples/first_graph.c, byte for byte: it is compiled, run and compared there. What
# it prints is what the README says.
# check_readme.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

# block N: the Nth block of code in the README.
block() {
  awk -v n="$1" '
    /^```/ && inside && seen == n { exit }
    /^```/ { inside = !inside; seen += inside; next }
    inside && seen == n' README.md
}

failed=0
compare() {
  if ! diff --label README.md --label "$2" -u <(block "$1") "$2"; then
    echo "README.md: block $1 of code is not $2: copy the file into it" >&2
    failed=1
  fi
}
compare 1 examples/first_graph.c
compare 2 examples/first_graph.expected
exit $failed
