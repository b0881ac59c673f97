/* What tests/support/traces.h declares. */
#include "traces.h"

#include <string.h>

enum { EVENTS = sizeof((traces *)0)->events / sizeof((traces *)0)->events[0] };

void traces_note(const weir_trace *event, void *data) {
  traces *t = data;
  (void)pthread_mutex_lock(&t->lock);
  if (t->count < EVENTS)
    t->events[t->count++] = *event;
  (void)pthread_mutex_unlock(&t->lock);
}

static int find(traces *t, weir_trace_kind kind, const char *label, weir_trace *last) {
  int found = 0;
  (void)pthread_mutex_lock(&t->lock);
  for (int i = 0; i < t->count; i++) {
    const weir_trace *event = &t->events[i];
    if (event->kind == kind && (!label || (event->label && strcmp(event->label, label) == 0))) {
      found++;
      *last = *event;
    }
  }
  (void)pthread_mutex_unlock(&t->lock);
  return found;
}

int traces_count(traces *t, weir_trace_kind kind, const char *label) {
  weir_trace last;
  return find(t, kind, label, &last);
}

weir_trace traces_last(traces *t, weir_trace_kind kind, const char *label) {
  weir_trace last;
  memset(&last, 0, sizeof last);
  (void)find(t, kind, label, &last);
  return last;
}
