#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# docs/architecture.md says of each source file in one line what it is for, and names no file that is gone.
# check_architecture.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

map=docs/architecture.md
directories=(pool graph examples benches)
[ ! -d cli ] || directories+=(cli)

files=$(find "${directories[@]}" -name '*.[ch]' | LC_ALL=C sort)
# The first cell of the map's rows: | `pool/slots.c` | what it is for |
named=$(sed -nE 's/^\| `([a-z_]+\/[A-Za-z0-9_\/.-]+\.[ch])` \| .*/\1/p' "$map" | LC_ALL=C sort)

if ! diff --label files --label "$map" -U0 <(echo "$files") <(echo "$named"); then
  echo "$map: '-' has no row in the map, '+' has one too many (the file is gone, or named twice)" >&2
  exit 1
fi
echo "$(wc -l <<<"$files") files in the map"
