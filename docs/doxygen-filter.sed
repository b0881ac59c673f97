# Marks up the plain comments of a public header for doxygen.
# The comment that opens the file, other blocks, one-line comments, comments behind code.
1 s|^/\*$|/** @file|
2,$ s|^( *)/\*$|\1/**|
2,$ s|^( *)/\* ([^-])|\1/** \2|
/^#endif/!s|^([^/]*[^/ ]) +/\* |\1 /**< |
# Aligned tables: preformatted text.
s|^ \*   ([A-Za-z_])| *       \1|
# The initializers need no words of their own.
s|^#define WEIR_[A-Z_]+_INIT .*|/** Initial value of the struct of this name. */\n&|
