/*
 * A group: the writes that share one transaction on the lane's connection, and its COMMIT. The lane's driver
 * has it to itself.
 *
 *   queue ---> run ---> ran ---(COMMIT)---> ended
 *               ^ \___________(failed)_______^
 *               |________ redo <--- ran, when SQLite has ended the transaction for one of them
 *
 * Members run in order, each behind a savepoint; the first needs none, since undoing it is to roll back. A
 * member that fails is undone and has ended. If SQLite itself rolls the transaction back, those that ran in
 * it are run again in another, and the one that was at work alone after them; so is each of them if the
 * COMMIT failed. An error that comes then is its own.
 */
#ifndef WEIR_POOL_GROUP_H
#define WEIR_POOL_GROUP_H

#include "internal.h"

typedef struct weir__group {
  weir__jobs ran;             /* done in the transaction in progress, in order */
  weir__jobs redo;            /* to be run before any other, in order */
  weir__jobs ended;           /* their results are known, and to be told */
  int begun;                  /* a transaction is in progress */
  int numbered;               /* one of `ran` has a number */
  int wrote;                  /* the last commit added to the WAL */
  uint64_t begun_ns;          /* since when */
  uint64_t now_ns;            /* when the last member was done */
  size_t bytes;               /* of those in `ran` */
  int interactive;            /* one of `ran` is */
  weir_durability durability; /* that the transaction will have, or has */

  /* What the lane's counters are told. */
  uint64_t commits, writes, rollbacks, reruns, foreign, commit_ns;
  unsigned members; /* of the last commit */
} weir__group;

/* Runs one member, beginning the transaction if need be. WEIR_OK, whatever became of it, or WEIR_FORKED in a
 * child that it forked: then nothing here may be touched any more. */
int weir__group_run(weir__conn *conn, weir__group *group, weir__job *job);

/* Commits what ran, if anything. Afterwards members have ended or are in `redo`. */
void weir__group_commit(weir__conn *conn, weir__group *group);

/* What the transaction that `job` begins is to survive: the strongest wish of those that are to run in it. */
weir_durability weir__group_durability(const weir__group *group, const weir__job *job, int full);

/* May the next of `redo` join the transaction in progress? */
int weir__group_may_redo(const weir__group *group);

#endif
