/*
 * weir/query.h - finding nodes and edges by what they hold: conditions, property indexes, find.
 *
 * Values compare as JSON types
 *
 *   A property (a member of props) is a truth value, a number, a string, an array or an object; null is the
 *   same as a member that is not there. A test compares within one type: "5" is not 5, and 1 is not true.
 *   Numbers compare by value, integers and reals alike (1 equals 1.0; 2^53 + 1 does not equal 2^53), strings
 *   by the bytes of their UTF-8, false is less than true. Objects are only ever found to exist; arrays also
 *   to contain a value (WEIR_CONTAINS). A test is true or false, never unknown: WEIR_NE is true where WEIR_EQ
 *   is not, so also for a value of another type and for none at all, and WEIR_NOT turns one into the other.
 *
 * What an index changes
 *
 *   Time, and nothing else: with an index or without, a find visits the same rows in the same order.
 *   weir_node_explain says which way it goes.
 *
 * Threads, transactions and errors are those of weir/graph.h. WEIR_INVALID is returned for a condition that
 * makes no sense (a key compared with a number, an unknown operator, more than WEIR_COND_MAX parts,
 * deeper than WEIR_COND_DEPTH).
 */
#ifndef WEIR_QUERY_H
#define WEIR_QUERY_H

#include <weir/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values ---- */

/* The type of a weir_value. */
typedef enum weir_type {
  WEIR_TYPE_NONE = 0, /* no value */
  WEIR_TYPE_BOOL = 1, /* integer: 0 or 1 */
  WEIR_TYPE_INT = 2,  /* integer */
  WEIR_TYPE_REAL = 3, /* real: finite */
  WEIR_TYPE_TEXT = 4  /* text: UTF-8 without a NUL; may be empty */
} weir_type;

/* A value to compare with. Make it with one of the functions below. */
typedef struct weir_value {
  weir_type type;  /* which of the others counts */
  int64_t integer; /* of WEIR_TYPE_BOOL and WEIR_TYPE_INT */
  double real;     /* of WEIR_TYPE_REAL */
  weir_text text;  /* of WEIR_TYPE_TEXT; the caller's */
} weir_value;

/* true (1) or false (0). */
static inline weir_value weir_bool(int truth) {
  weir_value value = {WEIR_TYPE_BOOL, 0, 0, {NULL, 0}};
  value.integer = truth != 0;
  return value;
}

/* An integer. */
static inline weir_value weir_int(int64_t integer) {
  weir_value value = {WEIR_TYPE_INT, 0, 0, {NULL, 0}};
  value.integer = integer;
  return value;
}

/* A real number. */
static inline weir_value weir_real(double real) {
  weir_value value = {WEIR_TYPE_REAL, 0, 0, {NULL, 0}};
  value.real = real;
  return value;
}

/* A string, from a NUL-terminated one that must stay while the value is in use. */
static inline weir_value weir_string(const char *string) {
  weir_value value = {WEIR_TYPE_TEXT, 0, 0, {NULL, 0}};
  value.text = weir_str(string);
  return value;
}

/* ---- Conditions ---- */

/* What a test looks at, and what a find can be ordered by. */
typedef enum weir_field {
  WEIR_FIELD_NONE = 0,
  WEIR_FIELD_PROP = 1,   /* the member of props that `path` names */
  WEIR_FIELD_KEY = 2,    /* of a node: its key, a string */
  WEIR_FIELD_REV = 3,    /* the write that last wrote the row, an integer */
  WEIR_FIELD_WEIGHT = 4, /* of an edge: a number */
  WEIR_FIELD_RANK = 5,   /* of an edge: an integer */
  WEIR_FIELD_SRC = 6,    /* of an edge: the key of the node that it leaves */
  WEIR_FIELD_DST = 7     /* of an edge: the key of the node that it leads to */
} weir_field;

/* How a condition tests. */
typedef enum weir_op {
  WEIR_ALWAYS = 0,     /* true; all else has to be zero */
  WEIR_EQ = 1,         /* equal to `value` */
  WEIR_NE = 2,         /* not equal to `value` */
  WEIR_LT = 3,         /* less */
  WEIR_LE = 4,         /* less or equal */
  WEIR_GT = 5,         /* greater */
  WEIR_GE = 6,         /* greater or equal */
  WEIR_PREFIX = 7,     /* a string that begins with the bytes of `value` */
  WEIR_CONTAINS = 8,   /* an array, of props, with an element that is equal to `value` */
  WEIR_ONE_OF = 9,     /* equal to one of values[0..count-1]; of none: false */
  WEIR_PRESENT = 10,   /* there is such a member of props, and it is not null */
  WEIR_HAS_LABEL = 11, /* the row has the label value.text */
  WEIR_AND = 12,       /* all of parts[0..count-1]; of none: true */
  WEIR_OR = 13,        /* one of parts[0..count-1] at least; of none: false */
  WEIR_NOT = 14        /* not parts[0]; count is 1 */
} weir_op;

#define WEIR_COND_MAX   256  /* conditions within a condition, itself included */
#define WEIR_COND_DEPTH 16   /* of WEIR_AND, WEIR_OR and WEIR_NOT one within another; see below */
#define WEIR_PATH_MAX   1024 /* bytes in a path */

/*
 * A condition on a node or an edge. NULL, or one of zeros, is true for all. It is read during the call that
 * it is given to, and stays the caller's. A WEIR_AND right within a WEIR_AND, or a WEIR_OR within a WEIR_OR,
 * makes it no deeper.
 *
 * `path` is the name of a member of props, taken as it is ("age", "home.town" is one name), or, if it begins
 * with a $, a JSON path of SQLite: "$.home.town", "$.tags[0]", "$.tags[#-1]". Names are compared as they are
 * written in props: a name with a quote or a backslash in it cannot be asked for.
 */
typedef struct weir_cond {
  weir_op op;                    /* how to test */
  weir_field field;              /* what to look at */
  weir_text path;                /* of WEIR_FIELD_PROP */
  weir_value value;              /* what to compare with */
  const weir_value *values;      /* of WEIR_ONE_OF */
  const struct weir_cond *parts; /* of WEIR_AND, WEIR_OR, WEIR_NOT */
  size_t count;                  /* of values or parts */
} weir_cond;

#ifndef __cplusplus
/* A test of a property, from a C string: WEIR_PROP("age", WEIR_GE, weir_int(30)). */
#define WEIR_PROP(name_, op_, value_)                                                                        \
  ((weir_cond){.op = (op_), .field = WEIR_FIELD_PROP, .path = weir_str(name_), .value = (value_)})

/* A test of another field: WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("user:")). */
#define WEIR_TEST(field_, op_, value_) ((weir_cond){.op = (op_), .field = (field_), .value = (value_)})

/* True if there is a property of that name. */
#define WEIR_HAS(name_) ((weir_cond){.op = WEIR_PRESENT, .field = WEIR_FIELD_PROP, .path = weir_str(name_)})

/* True if the property is one of the values: WEIR_PROP_IN("state", weir_string("new"), weir_string("open")).
 */
#define WEIR_PROP_IN(name_, ...)                                                                             \
  ((weir_cond){.op = WEIR_ONE_OF,                                                                            \
               .field = WEIR_FIELD_PROP,                                                                     \
               .path = weir_str(name_),                                                                      \
               .values = (const weir_value[]){__VA_ARGS__},                                                  \
               .count = sizeof((weir_value[]){__VA_ARGS__}) / sizeof(weir_value)})

/* True if another field is one of the values: WEIR_TEST_IN(WEIR_FIELD_KEY, weir_string("a"),
 * weir_string("b")). */
#define WEIR_TEST_IN(field_, ...)                                                                            \
  ((weir_cond){.op = WEIR_ONE_OF,                                                                            \
               .field = (field_),                                                                            \
               .values = (const weir_value[]){__VA_ARGS__},                                                  \
               .count = sizeof((weir_value[]){__VA_ARGS__}) / sizeof(weir_value)})

/* True for rows with the label. */
#define WEIR_LABELED(label_) ((weir_cond){.op = WEIR_HAS_LABEL, .value = weir_string(label_)})

/* All of the conditions. What it points to lives as long as the block that it stands in; so of WEIR_PROP_IN,
 * WEIR_TEST_IN, WEIR_ANY and WEIR_EXCEPT. docs/querying.md shows how a function makes one for its caller. */
#define WEIR_ALL(...)                                                                                        \
  ((weir_cond){.op = WEIR_AND,                                                                               \
               .parts = (const weir_cond[]){__VA_ARGS__},                                                    \
               .count = sizeof((weir_cond[]){__VA_ARGS__}) / sizeof(weir_cond)})

/* At least one of the conditions. */
#define WEIR_ANY(...)                                                                                        \
  ((weir_cond){.op = WEIR_OR,                                                                                \
               .parts = (const weir_cond[]){__VA_ARGS__},                                                    \
               .count = sizeof((weir_cond[]){__VA_ARGS__}) / sizeof(weir_cond)})

/* Not the condition. */
#define WEIR_EXCEPT(cond_) ((weir_cond){.op = WEIR_NOT, .parts = (const weir_cond[]){(cond_)}, .count = 1})
#endif

/* ---- Property indexes ---- */

/* Nodes or edges. */
typedef enum weir_target { WEIR_NODES = 1, WEIR_EDGES = 2 } weir_target;

/*
 * An index of a property over the nodes, or the edges, with one label. (target, label, path) is its identity;
 * `path` as in weir_cond. A unique index refuses (WEIR_EXISTS) a write that would give two rows the same
 * truth value, number or string; rows without the property, or with an array or an object, are not compared.
 * The message names the property, the value, and the key of the other node, or the other edge.
 */
typedef struct weir_index {
  weir_target target; /* nodes or edges */
  weir_text label;    /* never empty */
  weir_text path;     /* never empty */
  int unique;         /* 1: values are unique */
  int ready;          /* output only: 1; 0 while it is being made, or if that was cut off */
} weir_index;

/* How far something has come that takes long: the making of an index, and what weir/projection.h and
 * weir/algo.h do, in units of their own. */
typedef struct weir_progress {
  uint64_t done;  /* of an index: rows looked at */
  uint64_t total; /* of an index: rows that there were when it began */
} weir_progress;

/* How an index is made, or columns are written (weir_projection_write). NULL: the defaults; else start from
 * WEIR_BUILD_OPTIONS_INIT, since `size` has to be set. A member that is zero means its default. */
typedef struct weir_build_options {
  size_t size;                                                   /* sizeof(weir_build_options) */
  unsigned batch;                                                /* rows in one write; default 2000 */
  int (*on_progress)(const weir_progress *progress, void *data); /* or NULL. At the beginning, after each
                     batch and at the end, with no lock held but that of a write transaction that the call is
                     in, so it may use the store; nonzero gives it up: WEIR_CANCELED */
  void *data;                                                    /* handed to it */
} weir_build_options;

#define WEIR_BUILD_OPTIONS_INIT                                                                              \
  { sizeof(weir_build_options), 0, NULL, NULL }

/*
 * Makes an index. With weir_graph_auto it is made in many small writes of priority WEIR_BULK, between which
 * others write: readers and writers go on, and the index serves queries once it is complete. Inside a write
 * transaction it is made at once, within that. One that was cut off by a crash is begun anew by the next
 * call; and of two calls for the same index at a time the later begins anew, the earlier is canceled.
 *
 * Errors: WEIR_EXISTS (there is such an index; or, of a unique one, two rows have the same value: the message
 * names both and the value), WEIR_CANCELED (by on_progress; or somebody else has dropped it meanwhile, or
 * begun it anew). After an error there is no index, unless it is that of somebody else.
 */
WEIR_API int weir_index_create(weir_txn *txn, const weir_index *index, const weir_build_options *options,
                               weir_error *err);

/* Drops the index with the identity of `index`. *existed (NULL: not wanted) becomes 1 or 0; none is no error.
 */
WEIR_API int weir_index_drop(weir_txn *txn, const weir_index *index, int *existed, weir_error *err);

/* Visits one index; as weir_node_fn. */
typedef int (*weir_index_fn)(const weir_index *index, void *data, weir_error *err);

/* Visits all indexes, in the order in which they were made. A path is the bare name of a member, or a JSON
 * path with all its names quoted, however it was given. */
WEIR_API int weir_index_list(weir_txn *txn, weir_index_fn visit, void *data, weir_error *err);

/* ---- Find ---- */

/*
 * A place in the result of a find or a search: where the next page begins. Zero it, or WEIR_PLACE_INIT, to
 * begin with. A call that ends early leaves it where the next one goes on, in the same transaction or a later
 * one, in this process or another: `token` is printable text that may be kept, sent away, and given back with
 * weir_place_set. It belongs to one question (label, conditions, order), and is refused with another. It
 * stays valid while others write: a row that is there all the time, and keeps its place in the order, is
 * visited exactly once.
 */
typedef struct weir_place {
  char *token; /* NUL-terminated, the place's own; NULL: the beginning, or the end: look at `done` */
  int done;    /* 1 once the result has come to its end: a call with it visits nothing */
} weir_place;

#define WEIR_PLACE_INIT                                                                                      \
  { NULL, 0 }

/* Frees what the place holds and makes it the beginning again. NULL is a no-op. */
WEIR_API void weir_place_clear(weir_place *place);

/* Makes `place` the one that `token` names; empty: the beginning. What is wrong with a token is found by the
 * call that the place is given to. Errors: WEIR_NOMEM. */
WEIR_API int weir_place_set(weir_place *place, weir_text token, weir_error *err);

/*
 * What to find. NULL: everything; else start from WEIR_FIND_INIT, since `size` has to be set. A member that
 * is zero means: not restricted, not ordered, from the beginning.
 *
 * Without an order rows come in that of weir_node_scan and weir_edge_scan. Ordered by a property, rows come
 * as: those without it, or with null; false, true; numbers; strings; arrays and objects (by the bytes of
 * their text). Rows that are equal in the order come in that of the scan.
 */
typedef struct weir_find {
  size_t size;            /* sizeof(weir_find) */
  weir_text label;        /* only rows with this label; empty: any. An index serves finds with its label */
  const weir_cond *where; /* only rows for which this is true; NULL: all */
  weir_field order;       /* nodes: KEY, REV or PROP; edges: WEIGHT, REV or PROP; or NONE */
  weir_text order_path;   /* of WEIR_FIELD_PROP */
  int descending;         /* 1: backwards, ties too */
  size_t limit;           /* visit at most so many; 0: no limit */
  weir_place *place;      /* in and out; NULL: from the beginning */
} weir_find;

#define WEIR_FIND_INIT                                                                                       \
  { sizeof(weir_find), {NULL, 0}, NULL, WEIR_FIELD_NONE, {NULL, 0}, 0, 0, NULL }

/* Visits the nodes that were asked for, from one snapshot. Errors: WEIR_INVALID (also a place that is not of
 * this question). */
WEIR_API int weir_node_find(weir_txn *txn, const weir_find *find, weir_node_fn visit, void *data,
                            weir_error *err);

/* Visits the edges that were asked for, from one snapshot, as weir_node_find does nodes. */
WEIR_API int weir_edge_find(weir_txn *txn, const weir_find *find, weir_edge_fn visit, void *data,
                            weir_error *err);

/* How the rows of a find are come by. */
typedef enum weir_access {
  WEIR_BY_SCAN = 0,   /* all rows are looked at */
  WEIR_BY_LABEL = 1,  /* all nodes with the label */
  WEIR_BY_KEY = 2,    /* by node keys: the node with the key, or a range of keys in their order; edges of the
                         node with the key src or dst */
  WEIR_BY_INDEX = 3,  /* by a property index */
  WEIR_BY_NOTHING = 4 /* there cannot be any: a label that no row ever had */
} weir_access;

/* How a find is answered. */
typedef struct weir_plan {
  weir_access
      access; /* where the rows come from; what the condition asks beyond that is looked at row by row */
  char index_path[WEIR_PATH_MAX + 1]; /* of WEIR_BY_INDEX: the path of the index; its label is the find's */
  int sorted;     /* 1: rows have to be sorted: the first is visited after all were looked at */
  char text[256]; /* the same for people, in one line */
} weir_plan;

/* Tells how weir_node_find would answer. */
WEIR_API int weir_node_explain(weir_txn *txn, const weir_find *find, weir_plan *out, weir_error *err);

/* Tells how weir_edge_find would answer. */
WEIR_API int weir_edge_explain(weir_txn *txn, const weir_find *find, weir_plan *out, weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_QUERY_H */
