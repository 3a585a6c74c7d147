#!/bin/sh
# No inline function of the library has the name and the arguments of another function: the linker would take
# one for both. A compiler that inlines hides it, so this tells most of a build that does not optimise.
#   check_one_definition.sh BUILD
cd "$1" || exit 1
objects=$(find lib jit preprocess capi -name '*.o')
[ -n "$objects" ] || { echo "no objects in $1"; exit 1; }
# shellcheck disable=SC2086
twice=$(nm -A --defined-only $objects 2>/dev/null | awk '
    { split($1, file, ":") }
    $2 == "T" { strong[$3] = file[1] }
    $2 == "W" { weak[$3] = file[1] }
    END {
        if (!length(strong) || !length(weak)) print "no functions were compared"
        for (name in strong) if (name in weak) print "defined twice, once inline:", name, strong[name], weak[name]
    }' | c++filt)
[ -z "$twice" ] && exit 0
echo "$twice"
exit 1
