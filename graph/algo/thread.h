/* What those need who have threads of their own for a while: team.c, relay.c. */
#ifndef WEIR_GRAPH_ALGO_THREAD_H
#define WEIR_GRAPH_ALGO_THREAD_H

#include <pthread.h>

/* Starts a thread that gets no signals: those are for the program's own threads. Returns 0, or an errno value
 * if the system has none to give. */
int weir__thread_begin(pthread_t *out, void *(*run)(void *data), void *data);

/* Makes a lock and two conditions, all or none. Returns 0, or an errno value. */
int weir__locks_init(pthread_mutex_t *lock, pthread_cond_t *first, pthread_cond_t *second);
void weir__locks_destroy(pthread_mutex_t *lock, pthread_cond_t *first, pthread_cond_t *second);

#endif
