# A comment at the beginning of a line is of what follows, one behind code of what is before it.
1,/\*\//b
/^\/\* -{10,}/d
/^\/\* Fields/,/clang-format/d
/^ *\/\*/ { s,/\*,/**,; b }
s,/\* ,/**< ,
