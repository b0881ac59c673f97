/*
 * Random sequences of everything that threads do with a pool, compared step by step with a model: who is
 * inside, who waits and in which order, what each call returns, and the pool's counters.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "internal.h"
#include "puppets.h"
#include "threads.h"

TestSuite(pool_model, .timeout = 300);

enum { PUPPETS = 6, EPISODES = TEST_IS_SLOW ? 4 : 20, STEPS = TEST_IS_SLOW ? 150 : 400 };

enum state { OUTSIDE, WAITING, QUEUED, READING, WRITING, SNAPSHOT };

typedef struct list { /* a FIFO */
  int items[PUPPETS], count;
} list;

static void list_remove(list *l, int item) {
  int kept = 0;
  for (int i = 0; i < l->count; i++) {
    if (l->items[i] != item)
      l->items[kept++] = l->items[i];
  }
  l->count = kept;
}

typedef struct model {
  weir_pool *pool;
  puppet puppets[PUPPETS];
  enum state state[PUPPETS];
  int writes[PUPPETS];           /* WAITING: has the lane, and waits for the connection */
  int slot[PUPPETS];             /* of whoever is inside; -1: the lane's own */
  int slots, single, driven;     /* driven: someone has the lane */
  int free[PUPPETS], free_count; /* a stack */
  int open[PUPPETS], open_count; /* slots with a connection */
  list waiters, queue;
  uint64_t reads, commits, rollbacks, replaced;
} model;

/* ---- What the pool is to do ---- */

static void get_in(model *m, int who, int slot) {
  m->slot[who] = slot;
  m->state[who] = m->writes[who] ? WRITING : READING;
  if (slot >= 0 && !m->open[slot]) {
    m->open[slot] = 1;
    m->open_count++;
  }
}

static void wait_or_get_in(model *m, int who) {
  if (m->free_count > 0) {
    get_in(m, who, m->free[--m->free_count]);
  } else {
    m->state[who] = WAITING;
    m->waiters.items[m->waiters.count++] = who;
  }
}

static void give_back(model *m, int who, int broken) {
  int slot = m->slot[who];
  m->state[who] = OUTSIDE;
  m->replaced += (uint64_t)broken;
  if (slot < 0)
    return;
  if (broken) {
    m->open[slot] = 0;
    m->open_count--;
  }
  if (m->waiters.count > 0) {
    int first = m->waiters.items[0];
    list_remove(&m->waiters, first);
    get_in(m, first, slot);
  } else {
    m->free[m->free_count++] = slot;
  }
}

/* Someone has the lane now. */
static void drive(model *m, int who) {
  m->driven = 1;
  m->writes[who] = 1;
  m->single ? wait_or_get_in(m, who) : get_in(m, who, -1);
}

static void leave_lane(model *m, int who) {
  m->writes[who] = 0;
  m->driven = 0;
  if (m->queue.count > 0) {
    int next = m->queue.items[0];
    list_remove(&m->queue, next);
    drive(m, next);
  }
}

/* ---- The pool compared ---- */

/* From here on the first waiter is not passed any more, so that the order is certain. */
static int first_is_overdue(void *data) {
  weir_pool *pool = data;
  (void)pthread_mutex_lock(&pool->lock);
  int overdue = !pool->waiters || weir__now_ns() - pool->first_ns > WEIR__NS_PER_MS;
  (void)pthread_mutex_unlock(&pool->lock);
  return overdue;
}

static void compare(model *m) {
  unsigned inside = 0, writing = 0, count = 0;
  for (int i = 0; i < PUPPETS; i++) {
    puppet *p = &m->puppets[i];
    inside += m->state[i] == READING || m->state[i] == SNAPSHOT;
    writing += m->state[i] == WRITING;
    if (m->state[i] != WAITING && m->state[i] != QUEUED) {
      cr_assert(puppet_rests(p), "puppet %d, state %d", i, m->state[i]);
      cr_assert(eq(int, p->inside, m->state[i] == READING || m->state[i] == WRITING), "puppet %d", i);
    }
  }
  cr_assert(await_waiting(m->pool, (unsigned)m->waiters.count), "%d", m->waiters.count);
  cr_assert(await_queued(m->pool, (unsigned)m->queue.count));
  cr_assert(weir_test_wait(first_is_overdue, m->pool, WEIR_TEST_WAIT_MS));
  weir_pool_stats stats = stats_of(m->pool);
  cr_assert(eq(uint, stats.readers_in_use, inside + (m->single ? writing : 0)));
  cr_assert(eq(uint, stats.readers_open, (unsigned)m->open_count));
  cr_assert(eq(u64, stats.reads, m->reads));
  cr_assert(eq(u64, stats.commits, m->commits));
  cr_assert(eq(u64, stats.writes, m->commits));
  cr_assert(eq(u64, stats.rollbacks, m->rollbacks));
  cr_assert(eq(u64, stats.replaced, m->replaced));
  (void)pthread_mutex_lock(&m->pool->lock);
  for (weir__slot *slot = m->pool->free; slot; slot = slot->next)
    count++;
  (void)pthread_mutex_unlock(&m->pool->lock);
  cr_assert(eq(uint, count, (unsigned)m->free_count));
  cr_assert(eq(uint, count + stats.readers_in_use, (unsigned)m->slots));
}

/* ---- Steps ---- */

static void expect(model *m, int who, int rc) {
  puppet *p = &m->puppets[who];
  cr_assert(puppet_rests(p), "puppet %d", who);
  cr_assert(eq(int, p->rc, rc), "puppet %d", who);
}

static void nested(model *m, int who, act what, int rc) {
  puppet *p = &m->puppets[who];
  p->same = 0;
  puppet_do(p, what);
  cr_assert(puppet_rests(p), "puppet %d", who);
  cr_assert(eq(int, p->nested, rc), "puppet %d, act %d", who, what);
  cr_assert(eq(int, p->same, rc != WEIR_MISUSE));
}

static void step_outside(model *m, int who, uint64_t dice) {
  puppet *p = &m->puppets[who];
  int patient = dice % 2 == 0;
  p->timeout_ms = patient ? 10 * WEIR_TEST_WAIT_MS : dice % 4 == 1 ? -1 : 1;
  m->writes[who] = 0;
  switch (dice / 4 % 5) {
  case 0:
  case 1:
    puppet_do(p, READ);
    if (patient || m->free_count > 0)
      wait_or_get_in(m, who);
    else
      expect(m, who, WEIR_BUSY);
    break;
  case 2:
  case 3:
    puppet_do(p, WRITE);
    if (patient && m->driven) {
      m->state[who] = QUEUED;
      m->queue.items[m->queue.count++] = who;
    } else if (m->driven || (!patient && m->single && m->free_count == 0)) {
      expect(m, who, WEIR_BUSY);
    } else {
      drive(m, who);
    }
    break;
  default:
    p->timeout_ms = -1;
    puppet_do(p, SNAPSHOT_BEGIN);
    expect(m, who, m->free_count > 0 ? WEIR_OK : WEIR_BUSY);
    if (m->free_count > 0) {
      wait_or_get_in(m, who);
      m->state[who] = SNAPSHOT;
    }
  }
}

static void leave(model *m, int who, act what) {
  int was = m->state[who];
  puppet_do(&m->puppets[who], what);
  expect(m, who, what == LEAVE_FAILING ? WEIR_INVALID : WEIR_OK);
  m->reads += was != WRITING;
  m->commits += was == WRITING && what != LEAVE_FAILING;
  m->rollbacks += was == WRITING && what == LEAVE_FAILING;
  give_back(m, who, what == LEAVE_BROKEN);
  if (was == WRITING)
    leave_lane(m, who);
}

static void step_inside(model *m, int who, uint64_t dice) {
  static const act acts[] = {LEAVE,     LEAVE,      LEAVE_FAILING,     LEAVE_BROKEN,
                             NEST_READ, NEST_WRITE, NEST_FAILING_WRITE};
  act what = acts[dice % (sizeof acts / sizeof acts[0])];
  if (what == NEST_READ)
    nested(m, who, what, WEIR_OK);
  else if (what == NEST_WRITE || what == NEST_FAILING_WRITE)
    nested(m, who, what,
           m->state[who] != WRITING ? WEIR_MISUSE
           : what == NEST_WRITE     ? WEIR_OK
                                    : WEIR_INVALID);
  else if (m->state[who] != SNAPSHOT)
    leave(m, who, what);
  else if (what == LEAVE)
    leave(m, who, SNAPSHOT_END);
  else {
    puppet_do(&m->puppets[who], SNAPSHOT_BEGIN); /* a second one */
    expect(m, who, WEIR_MISUSE);
  }
}

static void step_waiting(model *m, int who) {
  puppet *p = &m->puppets[who];
  int has_lane = m->state[who] == WAITING && m->writes[who];
  cr_assert(eq(int, weir_cancel(m->pool, &p->token), WEIR_OK));
  expect(m, who, WEIR_CANCELED);
  p->token.canceled = 0;
  list_remove(m->state[who] == WAITING ? &m->waiters : &m->queue, who);
  m->state[who] = OUTSIDE;
  if (has_lane)
    leave_lane(m, who);
}

/* Closes the pool under them all. */
static void close_all(model *m) {
  int busy = 0;
  for (int i = 0; i < PUPPETS; i++)
    busy += m->state[i] >= READING;
  cr_assert(eq(int, weir_pool_close(m->pool, NULL), busy ? WEIR_BUSY : WEIR_OK));
  for (int i = 0; i < PUPPETS; i++) {
    if (m->state[i] == WAITING || m->state[i] == QUEUED)
      expect(m, i, m->state[i] == WAITING ? WEIR_CLOSED : WEIR_CANCELED);
    if (m->state[i] == OUTSIDE && busy) {
      puppet_do(&m->puppets[i], i % 2 ? READ : WRITE);
      expect(m, i, WEIR_CLOSED);
    }
    if (m->state[i] >= READING) {
      nested(m, i, NEST_READ, WEIR_OK); /* goes on */
      puppet_do(&m->puppets[i], m->state[i] == SNAPSHOT ? SNAPSHOT_END : LEAVE);
      expect(m, i, WEIR_OK);
    }
  }
  cr_assert(busy == 0 || weir_pool_close(m->pool, NULL) == WEIR_OK);
  for (int i = 0; i < PUPPETS; i++)
    puppet_quit(&m->puppets[i]);
}

/* A number of random steps with a new pool. */
static void episode(int kind, weir_test_rng *rng) {
  static model m;
  m = (model){.single = kind != POOL_FILE};
  m.slots = m.single ? 1 : 1 + (int)weir_test_below(rng, 3);
  m.open[0] = m.open_count = m.single; /* a pool opens one connection: in pool mode the lane's */
  for (int i = m.slots; i-- > 0;)
    m.free[m.free_count++] = i;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = (unsigned)m.slots;
  options.close_timeout_ms = 1;
  options.group_max = 1; /* each of the model's writes ends by itself */
  cr_assert(eq(int, pool_open(&m.pool, kind, &options), WEIR_OK));
  for (int i = 0; i < PUPPETS; i++)
    cr_assert(puppet_start(&m.puppets[i], m.pool));
  uint64_t steps = 1 + weir_test_below(rng, STEPS);
  for (uint64_t i = 0; i < steps; i++) {
    int who = (int)weir_test_below(rng, PUPPETS);
    uint64_t dice = weir_test_next(rng) >> 16;
    if (m.state[who] == OUTSIDE)
      step_outside(&m, who, dice);
    else if (m.state[who] >= READING)
      step_inside(&m, who, dice);
    else if (dice % 4 == 0)
      step_waiting(&m, who);
    compare(&m);
  }
  close_all(&m);
}

Test(pool_model, random_calls_of_many_threads_do_what_the_model_does) {
  weir_test_rng rng = {.state = weir_test_seed()};
  for (int i = 0; i < EPISODES; i++)
    episode(i % POOL_KINDS, &rng);
}
