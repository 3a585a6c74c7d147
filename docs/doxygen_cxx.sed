# Comments outside of functions, up to the first of which is the header's own.
1,/^#ifndef/b
/^( {4})?\/\// s,//,///,
