#!/bin/bash
# The library opens no file but the input of its loaders (graph/io/source.c): closing any descriptor of a database
# drops the locks that SQLite holds on it, for the whole process.
#
# usage: check_descriptors.sh LIBRARY.a
set -euo pipefail

symbols=$(nm --undefined-only "$1")
grep -q '^pool\.c\.o:$' <<<"$symbols" # the names are what this expects
awk '
  /\.o:$/ { member = $1 }
  member != "source.c.o:" && $2 ~ /^(open|openat|creat|fopen|freopen|gzopen|dup|dup2|dup3)(64)?$/ {
    print member, "calls", $2
    bad = 1
  }
  END { exit bad }
' <<<"$symbols"
