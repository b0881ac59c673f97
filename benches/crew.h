/*
 * A crew: threads that run the reads of a wave for modes whose reads are synchronous. The counterpart of the
 * pool's reader threads, so that modes differ in how they reach the database, not in how work is handed out.
 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

typedef struct crew crew;

/* Does item `item` of the wave on worker `worker`. */
typedef void (*crew_fn)(void *context, unsigned worker, unsigned item);

crew *crew_start(unsigned workers, crew_fn fn, void *context);

/* Hands out the items 0..count-1 and returns when all are done. One caller at a time. */
void crew_wave(crew *c, unsigned count);

void crew_stop(crew *c);

#endif
