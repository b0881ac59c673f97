#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# The program in README.md is examples/first_graph.c, byte for byte: it is compiled, run and compared there.
# check_readme.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

shown=$(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;/^```$/,$d')
[ -n "$shown" ] || { echo "README.md shows no C program" >&2 && exit 1; }
if ! diff --label README.md --label examples/first_graph.c -u <(echo "$shown") examples/first_graph.c; then
  echo "README.md shows another program than examples/first_graph.c: copy the file into the first block of C" >&2
  exit 1
fi
