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

pages=(*.md docs/*.md)

# Every heading as GitHub links to it: docs/storage.md#in-memory
declare -A headings
while IFS= read -r heading; do
  headings[$heading]=1
done < <(awk '
  FNR == 1 { code = 0 }
  /^```/ { code = !code }
  !code && sub(/^#+ +/, "") {
    text = tolower($0)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    print FILENAME "#" text
  }' "${pages[@]}")

# Every link: the page, a tab, where it leads.
while IFS=$'\t' read -r page link; do
  case $link in http://* | https://* | mailto:*) continue ;; esac
  file=${link%%#*}
  case $page/$file in
  */) target=$page ;;
  docs/*/../*) target=${file#../} ;;
  docs/*) target=docs/$file ;;
  *) target=$file ;;
  esac
  if [ ! -e "$target" ]; then
    complain "$page: the link to $link leads nowhere"
  elif [[ $link == *#* && -z ${headings[$target#${link#*#}]:-} ]]; then
    complain "$page: $target has no heading #${link#*#}"
  fi
done < <(awk '
  FNR == 1 { code = 0 }
  /^```/ { code = !code }
  !code {
    while (match($0, /\]\([^)[:space:]]+/)) {
      print FILENAME "\t" substr($0, RSTART + 2, RLENGTH - 2)
      $0 = substr($0, RSTART + RLENGTH)
    }
  }' "${pages[@]}")

# `async_close/needs_no_callback`: a test of that name is there. Test(suite, name), GRAPH_TEST(suite, name),
# SCHEMA_TEST(name).
known=$(sed -nE 's,^\w*(Test|TEST)\((\w+)\, (\w+)\).*,\2/\3,p; s,^([A-Z]+)_TEST\((\w+)\).*,\L\1/\2,p' tests/*.c)
while read -r name; do
  complain "docs/testing.md: there is no test $name"
done < <(grep -oP '`\K[a-z0-9_]+/[a-z0-9_]+(?=`)' docs/testing.md | grep -vxFf <(echo "$known"))

exit $failed
