/*
 * Puppets: threads that do with a pool what the test tells them, one act at a time, so that one thread can
 * compare many with a model. Nothing here asserts.
 */
#ifndef WEIR_TEST_PUPPETS_H
#define WEIR_TEST_PUPPETS_H

#include <pthread.h>

#include <weir/pool.h>

typedef enum act {
  REST, /* nothing to do: the last act is done, or has led into a transaction */
  /* Outside of transactions. */
  READ,
  WRITE,
  SNAPSHOT_BEGIN,
  SNAPSHOT_END,
  QUIT,
  /* Inside one. */
  NEST_READ,
  NEST_WRITE,
  NEST_FAILING_WRITE,
  LEAVE,
  LEAVE_FAILING, /* the transaction function returns WEIR_INVALID */
  LEAVE_BROKEN   /* ... WEIR_OK, with a connection that cannot be used any more */
} act;

typedef struct puppet {
  weir_pool *pool;
  int timeout_ms;   /* of READ, WRITE and SNAPSHOT_BEGIN */
  weir_token token; /* of the same */

  pthread_t thread;
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t changed;
  act act;
  int inside;         /* a transaction function runs */
  int rc;             /* of the last act that was not nested */
  int nested;         /* of the last one that was */
  int same;           /* it had the connection of the transaction around it */
  weir_txn *snapshot; /* or NULL */
  struct sqlite3 *db; /* of the transaction it is in */
} puppet;

/* Starts the thread; 0 if there is none. */
int puppet_start(puppet *p, weir_pool *pool);

/* Ends it. It must be at rest and in no transaction. */
void puppet_quit(puppet *p);

/* Tells it what to do. It must be at rest. */
void puppet_do(puppet *p, act act);

/* Waits until it is at rest; 0 if it does not come to that. */
int puppet_rests(puppet *p);

#endif
