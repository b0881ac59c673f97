/* Driving the lane for one group of writes. */
#ifndef WEIR_POOL_DRIVE_H
#define WEIR_POOL_DRIVE_H

#include "job.h"

/* Runs a write, and what else may share its commit. Those that have ended are added to `ended`: they are told
 * once the lane has been left, so that it is free for whoever writes again at once. The calling thread drives
 * the lane and holds no lock. WEIR_OK, or WEIR_FORKED in a child that one of them forked. */
int weir__drive(weir_pool *pool, weir__job *job, weir__jobs *ended);

#endif
