/* The FIFO of jobs; see job.h. */
#include <utlist.h>

#include "job.h"

void weir__jobs_push(weir__jobs *jobs, weir__job *job) {
  DL_APPEND(jobs->head, job);
  __atomic_store_n(&jobs->count, jobs->count + 1, __ATOMIC_RELAXED);
}

void weir__jobs_remove(weir__jobs *jobs, weir__job *job) {
  DL_DELETE(jobs->head, job);
  __atomic_store_n(&jobs->count, jobs->count - 1, __ATOMIC_RELAXED);
}

weir__job *weir__jobs_pop(weir__jobs *jobs) {
  weir__job *job = jobs->head;
  if (job) {
    weir__jobs_remove(jobs, job);
  }
  return job;
}

void weir__jobs_put_first(weir__jobs *jobs, weir__jobs *more) {
  DL_CONCAT(more->head, jobs->head);
  jobs->head = more->head;
  __atomic_store_n(&jobs->count, jobs->count + more->count, __ATOMIC_RELAXED);
  *more = (weir__jobs){0};
}
