/*
 * The text of a property, as a function of SQL: weir_text(props, path).
 *
 * It is what text indexes hold: the property if it is a string, the strings in it, one a line, if it is an
 * array; else NULL. The triggers of text indexes call it: SQLite's own functions of JSON are not for those,
 * as long as the schema is not trusted.
 */
#ifndef WEIR_GRAPH_TEXT_PROPS_H
#define WEIR_GRAPH_TEXT_PROPS_H

struct sqlite3;

/* Adds the function to a connection. Returns SQLite's code. */
int weir__text_function_add(struct sqlite3 *db);

#endif
