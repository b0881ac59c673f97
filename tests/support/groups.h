/*
 * Writes that are made to share a commit: the first has the lane and waits, the others queue, and then it
 * goes on. Each inserts a row with its number, and may do something else after that. Nothing here asserts.
 */
#ifndef WEIR_TEST_GROUPS_H
#define WEIR_TEST_GROUPS_H

#include "pool_fixture.h"

/* The options that such a pool needs: numbered, no limits of time. */
weir_pool_options group_options(void);

/* One write. Set the first part; look at the second part after group_join. */
typedef struct member {
  int id;           /* of its row in t; v is its rev */
  weir_txn_fn then; /* what it does after that; or NULL */
  void *data;       /* handed to `then` */
  int passive;      /* 1: it inserts nothing and asks for no rev */
  weir_durability durability;
  weir_priority priority;
  size_t bytes;

  int runs;    /* how often it was begun */
  int order;   /* as which of the group's it was begun last: 1, 2, ... */
  int64_t rev; /* that it asked for */
  weir_ack ack;
  task task; /* its rc and error */
  struct group *group;
  weir_txn_options options;
} member;

enum { GROUP_MAX = 32 };

typedef struct group {
  member members[GROUP_MAX];
  int count;
  latch latch;
  atomic_int begun;
} group;

/* A group of so many members with the ids from `id` on. */
group group_of(int count, int id);

/* Starts them, in order: the first holds the lane. 1 when all others are queued. */
int group_start(group *g, weir_pool *pool);

/* Lets the first go on, and waits for the ends of all. */
void group_join(group *g);

/* Both. */
int group_run(group *g, weir_pool *pool);

#endif
