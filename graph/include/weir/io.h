/*
 * weir/io.h - graphs from files: CSV and SNAP edge lists.
 *
 * A loader reads a file row by row in bounded memory and writes it within one transaction: the one passed in,
 * or with weir_graph_auto() one of its own. So a file is loaded as a whole or not at all, and several loads
 * in one weir_write are one transaction too. Files that are gzip-compressed are recognized by their content.
 */
#ifndef WEIR_IO_H
#define WEIR_IO_H

#include <weir/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What to do with a row that cannot be loaded. A few faults end the load in any case, since what is behind
 * them would be lost unseen: a header at fault, a quote that is never closed, a field of more than 16 MiB.
 */
typedef enum weir_bad_rows {
  WEIR_BAD_ROWS_STOP = 0, /* end the load with an error; nothing is kept */
  WEIR_BAD_ROWS_SKIP = 1  /* leave it out, count it, tell on_bad_row. After a misplaced quote the rest of the
                             line is left out, and the next line begins a row */
} weir_bad_rows;

/* Where in the file a row is at fault. */
typedef struct weir_bad_row {
  uint64_t line;       /* where the row begins, from 1 */
  unsigned column;     /* the column at fault, from 1; 0: the row as a whole */
  const char *name;    /* that column's name in the header, or NULL */
  const char *message; /* what is wrong with it */
} weir_bad_row;

/* How far a load has come. */
typedef struct weir_load_progress {
  uint64_t rows;        /* data rows read */
  uint64_t bytes;       /* bytes of the file read (compressed bytes, for .gz) */
  uint64_t bytes_total; /* its size; 0 if it is not known (a pipe) */
} weir_load_progress;

/* Options of a load. Start from WEIR_LOAD_OPTIONS_INIT; zero means the default. */
typedef struct weir_load_options {
  size_t size;               /* sizeof(weir_load_options) */
  const char *label;         /* label of rows that bring none: nodes: none by default; edges: "edge" */
  const char *key_column;    /* name of the key's column; default "key" */
  const char *label_column;  /* default "label" */
  const char *src_column;    /* default "src" */
  const char *dst_column;    /* default "dst" */
  const char *weight_column; /* default "weight" */
  const char *rank_column;   /* default "rank" */
  char delimiter;            /* default ',' */
  char quote;                /* default '"' */
  int create_endpoints;      /* 1: edges make the endpoints that are missing; 0: such a row is bad */
  weir_bad_rows bad_rows;    /* default: stop */
  void (*on_bad_row)(const weir_bad_row *row, void *data); /* or NULL */
  int (*on_progress)(const weir_load_progress *progress,
                     void *data); /* or NULL. At the beginning (with 0 rows), about ten times a second, and at
                                     the end; nonzero ends the load with WEIR_CANCELED */
  void *data; /* handed to both. They are called on the thread that runs the transaction; if that is run
                 again (see weir_txn_fn), so are they, from the beginning */
} weir_load_options;

#define WEIR_LOAD_OPTIONS_INIT                                                                               \
  {                                                                                                          \
    sizeof(weir_load_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, WEIR_BAD_ROWS_STOP, NULL,  \
        NULL, NULL                                                                                           \
  }

/* What a load did. */
typedef struct weir_load_report {
  uint64_t rows;      /* data rows read, bad ones included */
  uint64_t inserted;  /* nodes or edges inserted */
  uint64_t updated;   /* that were there with other content */
  uint64_t unchanged; /* that were there with the same content */
  uint64_t bad;       /* rows skipped */
  uint64_t created;   /* endpoints made */
} weir_load_report;

/*
 * Loads nodes from a CSV file (RFC 4180: quoted fields with commas, line breaks and doubled quotes; LF or
 * CRLF; a UTF-8 byte order mark is skipped). The first row names the columns. The key's column must be there;
 * the label's may be, with several labels separated by ';'; a column that an option names must be there.
 * Every other column becomes a member of props. Spelling alone decides of what type, with quotes or without:
 * a field that is a JSON number of 64 bits (integers) or a double (others), or true or false, stays as it is,
 * and anything else becomes a string: 00123, 1e999 and True, too. An empty unquoted field is left out.
 *
 * A row has as many fields as the header and at most 16 MiB. Memory is bounded by the largest row. A pipe can
 * be loaded, unless its transaction has to be run again.
 *
 * Rows are put (weir_node_put), so loading a file twice changes nothing. *report (NULL: not wanted) is filled
 * on success.
 *
 * Errors: WEIR_NOT_FOUND (no such file), WEIR_IO (unreadable, or a damaged .gz), WEIR_INVALID (a bad row and
 * bad_rows is STOP: the message gives file, line and column; no header; key column missing; a directory; the
 * store's own file), WEIR_EXISTS (the same for a row that a unique index refuses), WEIR_CANCELED, and those
 * of weir_write.
 */
WEIR_API int weir_load_csv_nodes(weir_txn *txn, const char *path, const weir_load_options *options,
                                 weir_load_report *report, weir_error *err);

/*
 * Loads edges from a CSV file, as weir_load_csv_nodes; src and dst columns must be there, weight, rank and
 * label may.
 */
WEIR_API int weir_load_csv_edges(weir_txn *txn, const char *path, const weir_load_options *options,
                                 weir_load_report *report, weir_error *err);

/*
 * Loads a SNAP edge list (snap.stanford.edu): a line an edge, source and target separated by tabs or spaces,
 * and optionally a weight (columns 1, 2 and 3 of a bad row); lines that begin with '#' and empty lines are
 * skipped. A line has at most 16 KiB. The delimiter, quote and column options do not matter. Endpoints are
 * always made. Errors: as weir_load_csv_nodes.
 */
WEIR_API int weir_load_snap(weir_txn *txn, const char *path, const weir_load_options *options,
                            weir_load_report *report, weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_IO_H */
