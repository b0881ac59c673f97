#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# What the pages say of the tree is there: files and headings that they link to, and the tests that
# docs/testing.md names.
# check_links.sh SOURCE-DIRECTORY
set -euo pipefail
shopt -s nullglob
cd "$1"

failed=0
complain() {
  echo "$*" >&2
  failed=1
}

# anchors PAGE: its headings as GitHub links to them.
anchors() {
  sed -n '/^```/,/^```/!p' "$1" | sed -nE 's/^#+ +(.*)$/\1/p' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for page in *.md docs/*.md; do
  while read -r link; do
    case $link in http://* | https://* | mailto:*) continue ;; esac
    file=${link%%#*} anchor=
    [[ $link != *#* ]] || anchor=${link#*#}
    target=$page
    [ -z "$file" ] || target=$(dirname "$page")/$file
    if [ ! -e "$target" ]; then
      complain "$page: the link to $link leads nowhere"
    elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF -- "$anchor"; then
      complain "$page: $target has no heading #$anchor"
    fi
  done < <(sed '/^```/,/^```/d' "$page" | grep -oP '\]\(\K[^)\s]+' || true)
done

# `async_close/needs_no_callback`: a test of that name is there. Test(suite, name), GRAPH_TEST(suite, name),
# SCHEMA_TEST(name).
known=$(sed -nE 's,^\w*(Test|TEST)\((\w+)\, (\w+)\).*,\2/\3,p; s,^([A-Z]+)_TEST\((\w+)\).*,\L\1/\2,p' tests/*.c)
while read -r name; do
  grep -qxF -- "$name" <<<"$known" || complain "docs/testing.md: there is no test $name"
done < <(grep -oP '`\K[a-z0-9_]+/[a-z0-9_]+(?=`)' docs/testing.md | sort -u)

exit $failed
