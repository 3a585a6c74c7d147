#!/bin/sh
# What ./dev demo has compiled, ./dev test does not compile again: both make one build folder, with the same commands for
# the library, the command and the demo.
#   check_one_build.sh SOURCE FOLDER
set -e
source=$1
folder=$2
rm -rf "$folder"
export PERM_BUILD_FOLDER="$folder"

# The commands of what is not a test, one a line.
commands() {
    python3 - "$folder/release/compile_commands.json" <<'END'
import json, sys
for entry in sorted(json.load(open(sys.argv[1])), key=lambda entry: entry["command"]):
    if "/tests/" not in entry["file"]:
        print(entry["command"])
END
}

"$source/dev" configure demo
commands >"$folder/demo"
"$source/dev" configure test
commands >"$folder/test"
[ -s "$folder/demo" ] || { echo "no commands were compared"; exit 1; }
again=$(comm -23 "$folder/demo" "$folder/test")
[ -z "$again" ] || { echo "./dev test compiles again what ./dev demo has compiled:"; echo "$again" | head -5; exit 1; }
echo "$(wc -l <"$folder/demo") commands are the same"
rm -rf "$folder"
