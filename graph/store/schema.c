/*
 * The tables of a graph store, and how an older store becomes one of this version.
 *
 *   label             a name, for nodes and edges alike
 *   label_set         labels: the numbers of its labels, ascending, as a JSON array; id 1 is the empty set
 *   label_set_member  the same by label: the sets that hold it
 *   node              key, the set of its labels, props; rev is the number of the write that last wrote it
 *   edge              from src to dst with a label; (src, label, dst, rank) is its identity and its order
 *   edge_reverse      the same edges in the order of dst
 *   property_index    the property indexes, each with a table of its own (storage_index.c)
 *   text_index        the text indexes, each with a table of its own (storage_text.c)
 *
 * Labels and sets are never deleted. The id of an index is never given twice, so whoever fills one notices
 * that it was dropped, or begun anew, meanwhile. Node ids are not AUTOINCREMENT: the id of a deleted node may
 * be given to a new one, which harms nothing, since ids are not seen outside, edges go with their nodes, and
 * a cursor only promises to visit what was there all the time. weir_commit, the table that numbers write
 * transactions, belongs to the pool.
 *
 * application_id says that a database is a graph store, user_version which schema it has. Both are set in the
 * transaction that makes the tables. A new version adds a step to `steps` and a number to SCHEMA_VERSION;
 * released steps never change. All steps that a store needs are one transaction: it has all of them or none.
 */
#include "../internal.h"

#include <inttypes.h>

#include <sqlite3.h>

#define APPLICATION_ID 2003134834 /* "weir" in ASCII, 0x77656972 */
#define SCHEMA_VERSION 2
#define TABLES         9 /* tables and indexes that every store has */

#define LABEL_SET_MEMBER                                                                                     \
  "CREATE TABLE label_set_member("                                                                           \
  "label INTEGER NOT NULL, label_set INTEGER NOT NULL, PRIMARY KEY(label, label_set)) STRICT, WITHOUT "      \
  "ROWID;"

#define EDGE_REVERSE "CREATE INDEX edge_reverse ON edge(dst, label, src, rank);"

/* path: as weir__path_write makes it. labels: numbers; fields: [[path, weight], ...]. ready: 0 while an index
 * is being made. filled and goal: nodes with a number above the one and up to the other are not yet looked
 * at. The id of a text index is never given again: so whoever makes one notices that another has begun it
 * anew. */
#define INDEXES                                                                                              \
  "CREATE TABLE property_index(id INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL CHECK(target IN "  \
  "('node', "                                                                                                \
  "'edge')), label INTEGER NOT NULL, path TEXT NOT NULL, is_unique INTEGER NOT NULL, ready INTEGER NOT NULL" \
  " DEFAULT 0, UNIQUE(target, label, path)) STRICT;"                                                         \
  "CREATE TABLE text_index(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"                 \
  " tokenizer TEXT NOT NULL, labels TEXT NOT NULL, fields TEXT NOT NULL, filled INTEGER NOT NULL DEFAULT 0," \
  " goal INTEGER NOT NULL DEFAULT 0,"                                                                        \
  " ready INTEGER NOT NULL DEFAULT 0) STRICT;"

static const char create[] =
    "CREATE TABLE label(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE label_set(id INTEGER PRIMARY KEY, labels TEXT NOT NULL UNIQUE) STRICT;"
    "INSERT INTO label_set(id, labels) VALUES (1, '[]');" LABEL_SET_MEMBER
    "CREATE TABLE node(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, label_set INTEGER NOT NULL,"
    " props TEXT NOT NULL DEFAULT '{}', rev INTEGER NOT NULL) STRICT;"
    "CREATE INDEX node_label_set ON node(label_set);"
    "CREATE TABLE edge("
    "src INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, label INTEGER NOT NULL,"
    " dst INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, rank INTEGER NOT NULL DEFAULT 0,"
    " weight REAL NOT NULL DEFAULT 1.0, props TEXT NOT NULL DEFAULT '{}', rev INTEGER NOT NULL,"
    " PRIMARY KEY(src, label, dst, rank)) STRICT, WITHOUT ROWID;" EDGE_REVERSE INDEXES
    "PRAGMA application_id = 2003134834;"
    "PRAGMA user_version = 2;";

/* steps[v] brings a store of schema version v to version v + 1. */
static const char *const steps[SCHEMA_VERSION] = {
    LABEL_SET_MEMBER "INSERT INTO label_set_member(label, label_set)"
                     " SELECT j.value, s.id FROM label_set s CROSS JOIN json_each(s.labels) j;" EDGE_REVERSE
                     "PRAGMA user_version = 1;",
    INDEXES "PRAGMA user_version = 2;",
};

/* What a database says of itself. */
struct state {
  const char *path;
  int64_t application_id;
  int64_t version;
  int64_t objects; /* tables and the like that are not the pool's */
  int64_t known;   /* of these, those of this version's schema */
};

/* Returns SQLite's code. */
static int read_number(sqlite3 *db, const char *sql, int64_t *out) {
  sqlite3_stmt *stmt = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
  if (code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
    *out = sqlite3_column_int64(stmt, 0);
  }
  int end = sqlite3_finalize(stmt);
  return code == SQLITE_OK ? end : code;
}

/* Returns SQLite's code. */
static int read_state(sqlite3 *db, struct state *state) {
  const struct {
    const char *sql;
    int64_t *out;
  } numbers[] = {
      {"PRAGMA application_id", &state->application_id},
      {"PRAGMA user_version", &state->version},
      {"SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'weir_commit'", &state->objects},
      {"SELECT count(*) FROM sqlite_schema WHERE name IN ('label', 'label_set', 'label_set_member',"
       " 'node', 'node_label_set', 'edge', 'edge_reverse', 'property_index', 'text_index')",
       &state->known}};
  int code = SQLITE_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == SQLITE_OK; i++) {
    code = read_number(db, numbers[i].sql, numbers[i].out);
  }
  return code;
}

static int read_state_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_check(txn, read_state(weir_txn_db(txn), data), err);
}

static int is_empty(const struct state *state) {
  return state->application_id == 0 && state->objects == 0;
}

/* WEIR_OK if the database can be used as it is, or after it was created or brought up to date. */
static int check_state(const struct state *state, weir_error *err) {
  if (is_empty(state)) {
    return WEIR_OK;
  }
  if (state->application_id != APPLICATION_ID) {
    return weir_fail(err, WEIR_CORRUPT,
                     "'%s' is a database of another application (application_id %" PRId64 ")", state->path,
                     state->application_id);
  }
  if (state->version > SCHEMA_VERSION) {
    return weir_fail(err, WEIR_VERSION,
                     "'%s' has schema version %" PRId64 ", this weir knows up to %d: use a newer weir",
                     state->path, state->version, SCHEMA_VERSION);
  }
  if (state->version < 0 || (state->version == SCHEMA_VERSION && state->known != TABLES)) {
    return weir_fail(err, WEIR_CORRUPT,
                     "'%s' is damaged: schema version %" PRId64 " with %" PRId64 " of %d tables and indexes",
                     state->path, state->version, state->known, TABLES);
  }
  return WEIR_OK;
}

static int is_current(const struct state *state) {
  return state->application_id == APPLICATION_ID && state->version == SCHEMA_VERSION;
}

static int migrate(weir_txn *txn, void *data, weir_error *err) {
  struct state *state = data;
  int rc = read_state_fn(txn, state, err); /* anew: another process may have been faster */
  if (rc == WEIR_OK) {
    rc = check_state(state, err);
  }
  if (rc || is_current(state)) {
    return rc;
  }
  if (is_empty(state)) {
    return weir_txn_exec(txn, create, err);
  }
  for (int64_t version = state->version; version < SCHEMA_VERSION; version++) {
    rc = weir_txn_exec(txn, steps[version], err);
    if (rc) {
      weir_error cause = *err;
      /* A statement that does not fit means that the tables are not what the version says. */
      return weir_fail(err, rc == WEIR_SQL ? WEIR_CORRUPT : rc,
                       "'%s' stays at schema version %" PRId64 ", the step to %" PRId64 " failed: %s",
                       state->path, state->version, version + 1, cause.message);
    }
  }
  return WEIR_OK;
}

int weir__schema_open(weir_txn *txn, const char *path, int read_only, weir_error *err) {
  struct state state = {.path = path};
  int rc = weir_read(txn, read_state_fn, &state, NULL, err);
  if (rc == WEIR_OK) {
    rc = check_state(&state, err);
  }
  if (rc || is_current(&state)) {
    return rc;
  }
  if (read_only) {
    return weir_fail(err, WEIR_READONLY, "'%s' has to be %s first: open it once without read_only", path,
                     is_empty(&state) ? "made a graph store" : "brought to this version's schema");
  }
  return weir_write(txn, migrate, &state, NULL, err);
}

int weir__schema_inspect(struct sqlite3 *db, const char *path, weir_error *err) {
  struct state state = {.path = path};
  int code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL); /* one moment: others may be making the tables */
  if (code == SQLITE_OK) {
    code = read_state(db, &state);
    int end = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    code = code == SQLITE_OK ? end : code;
  }
  return code == SQLITE_OK ? check_state(&state, err) : WEIR_OK;
}
