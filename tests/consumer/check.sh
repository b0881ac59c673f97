#!/bin/bash
# Builds tests/consumer against an installed weir and runs it.
# check.sh PREFIX WORK-DIRECTORY cmake-shared|cmake-static|pkgconfig-shared|pkgconfig-static
set -euo pipefail

prefix=$1 work=$2 way=$3
source=$(cd "$(dirname "$0")" && pwd)
pc=$(find "$prefix" -name weir.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=$libdir/pkgconfig
rm -rf "$work"
mkdir -p "$work"

die() {
  echo "check.sh: $*" >&2
  exit 1
}

# needs PROGRAM LIBRARY: whether the program loads the library.
needs() {
  objdump -p "$1" | grep -q "NEEDED .*$2"
}

case $way in
cmake-*)
  # The other prefix of weir's, if one is installed on this machine, must not be what is found.
  cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DWEIR_TARGET="$([ "$way" = cmake-static ] && echo weir::static || echo weir::weir)"
  cmake --build "$work"
  ;;
pkgconfig-shared)
  read -ra flags <<<"$(pkg-config --cflags --libs weir)"
  [[ ${flags[*]} != *sqlite3* ]] || die "private libraries leak to users of the shared one: ${flags[*]}"
  gcc -std=gnu11 -Wall -Wextra -Werror -o "$work/consumer" "$source/consumer.c" "${flags[@]}"
  g++ -std=c++11 -Wall -Wextra -Werror -o "$work/consumer_cxx" "$source/consumer.cpp" "${flags[@]}"
  ;;
pkgconfig-static)
  # Where both libraries are installed, -lweir means the shared one.
  read -ra flags <<<"$(pkg-config --static --cflags --libs weir | sed 's/-lweir/-l:libweir.a/')"
  gcc -std=gnu11 -Wall -Wextra -Werror -o "$work/consumer" "$source/consumer.c" "${flags[@]}"
  g++ -std=c++11 -Wall -Wextra -Werror -o "$work/consumer_cxx" "$source/consumer.cpp" "${flags[@]}"
  ;;
*) die "unknown way: $way" ;;
esac

if [[ $way == *-shared ]]; then
  needs "$work/consumer" 'libweir\.so\.0$' || die "does not load libweir.so.0"
  ! needs "$work/consumer" libsqlite3 || die "links SQLite itself"
else
  ! needs "$work/consumer" libweir || die "loads the shared library"
fi

[[ $way != pkgconfig-shared ]] || export LD_LIBRARY_PATH=$libdir
"$work/consumer" "$work/store.weir"
"$work/consumer_cxx"
