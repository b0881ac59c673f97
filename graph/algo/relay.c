/*
 * Blocks in a ring: those from `taken` on to `passed` are filled, and the other thread's; the one behind them
 * is being filled. Both numbers only grow.
 */
#include "relay.h"

#include <stdint.h>
#include <stdlib.h>

#include "thread.h"

enum { BLOCKS = 3 };

struct weir__relay {
  char *blocks;
  size_t block_size;
  weir__relay_fn take;
  void *data;
  int threaded;
  pthread_t thread;

  pthread_mutex_t lock;   /* guards what follows; not held while a block is filled or taken apart */
  pthread_cond_t filled;  /* a block was passed, or there will be no more */
  pthread_cond_t emptied; /* a block was taken apart */
  uint64_t passed, taken;
  int ending;
  int rc; /* what went wrong, and its detail */
  weir_error error;
};

static void *block_at(const weir__relay *relay, uint64_t number) {
  return relay->blocks + number % BLOCKS * relay->block_size;
}

/* Takes the next block apart, which is there, with the lock held. After an error they are passed over. */
static void take_locked(weir__relay *relay) {
  if (relay->rc == WEIR_OK) {
    weir_error error = WEIR_ERROR_INIT;
    pthread_mutex_unlock(&relay->lock);
    int rc = relay->take(block_at(relay, relay->taken), relay->data, &error);
    pthread_mutex_lock(&relay->lock);
    if (rc) { /* relay_close may have set it meanwhile */
      relay->rc = rc;
      relay->error = error;
    }
  }
  relay->taken++;
}

static void *run(void *data) {
  weir__relay *relay = data;
  pthread_mutex_lock(&relay->lock);
  for (;;) {
    while (relay->taken == relay->passed && !relay->ending) {
      pthread_cond_wait(&relay->filled, &relay->lock);
    }
    if (relay->taken == relay->passed) {
      break;
    }
    take_locked(relay);
    pthread_cond_signal(&relay->emptied);
  }
  pthread_mutex_unlock(&relay->lock);
  return NULL;
}

int weir__relay_open(weir__relay **out, size_t block_size, int threaded, weir__relay_fn take, void *data,
                     weir_error *err) {
  weir__relay *relay = calloc(1, sizeof *relay);
  *out = NULL;
  if (relay) {
    relay->blocks = malloc(BLOCKS * block_size);
  }
  if (!relay || !relay->blocks || weir__locks_init(&relay->lock, &relay->filled, &relay->emptied)) {
    free(relay ? relay->blocks : NULL);
    free(relay);
    return weir_fail(err, WEIR_NOMEM, "out of memory for blocks of %zu bytes", block_size);
  }
  relay->block_size = block_size;
  relay->take = take;
  relay->data = data;
  relay->threaded = threaded && weir__thread_begin(&relay->thread, run, relay) == 0;
  *out = relay;
  return WEIR_OK;
}

void *weir__relay_block(weir__relay *relay) {
  return block_at(relay, relay->passed); /* this thread alone changes `passed` */
}

static int told(const weir__relay *relay, weir_error *err) {
  if (relay->rc && err) {
    *err = relay->error;
  }
  return relay->rc;
}

int weir__relay_pass(weir__relay *relay, weir_error *err) {
  pthread_mutex_lock(&relay->lock);
  relay->passed++;
  if (!relay->threaded) {
    take_locked(relay);
  }
  pthread_cond_signal(&relay->filled);
  while (relay->passed - relay->taken == BLOCKS) {
    pthread_cond_wait(&relay->emptied, &relay->lock);
  }
  int rc = told(relay, err);
  pthread_mutex_unlock(&relay->lock);
  return rc;
}

int weir__relay_close(weir__relay *relay, int rc, weir_error *err) {
  if (!relay) {
    return rc;
  }
  if (relay->threaded) {
    pthread_mutex_lock(&relay->lock);
    relay->ending = 1;
    relay->rc = rc ? rc : relay->rc; /* what is left is passed over */
    pthread_cond_signal(&relay->filled);
    pthread_mutex_unlock(&relay->lock);
    pthread_join(relay->thread, NULL);
  }
  if (rc == WEIR_OK) {
    rc = told(relay, err);
  }
  weir__locks_destroy(&relay->lock, &relay->filled, &relay->emptied);
  free(relay->blocks);
  free(relay);
  return rc;
}
