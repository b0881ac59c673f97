/*
 * From node to node: the loop of a walk. At each turn it either visits the stop at hand or follows the next
 * edge of it.
 *
 * Breadth first the stops are a queue, and there is one frame at most. Depth first they are a stack, and all
 * but the last, and that too while it is expanding, have a frame.
 *
 * A run may end between any two turns. Nothing is lost then and nothing comes twice: a turn that fails
 * changes nothing, what was met is remembered, and a frame knows the place of the last edge that was
 * followed. What was read ahead is read anew in the next run, since edges may have gone.
 */
#include <stdlib.h>

#include "walk.h"

#define PIECE 64 /* edges read ahead */

#define STOPS_MAX (UINT32_C(1) << 31)

/* *room becomes larger; NULL: out of memory, and nothing has changed. */
static void *grown(void *array, size_t *room, size_t least, size_t size) {
  size_t more = *room * 2 > least ? *room * 2 : least;
  void *moved = realloc(array, more * size);
  *room = moved ? more : *room;
  return moved;
}

static int fail_memory(const weir_walk *walk, weir_error *err) {
  return weir_fail(err, WEIR_NOMEM, "out of memory in a walk that has met %zu nodes", walk->stop_count);
}

/* Room for one stop more. */
static int reserve_stop(weir_walk *walk, weir_error *err) {
  if (walk->stop_count < walk->stop_room) {
    return WEIR_OK;
  }
  weir__stop *stops =
      walk->stop_count < STOPS_MAX ? grown(walk->stops, &walk->stop_room, PIECE, sizeof *walk->stops) : NULL;
  if (!stops) {
    return fail_memory(walk, err);
  }
  walk->stops = stops;
  return WEIR_OK;
}

/* Room for one frame more. */
static int reserve_frame(weir_walk *walk, weir_error *err) {
  if (walk->frame_count == walk->frame_room) {
    weir__frame *frames = grown(walk->frames, &walk->frame_room, 1, sizeof *walk->frames);
    if (!frames) {
      return fail_memory(walk, err);
    }
    walk->frames = frames;
  }
  return WEIR_OK;
}

/* Room for one piece behind `begin`. */
static int reserve_piece(weir_walk *walk, size_t begin, weir_error *err) {
  if (walk->ahead_room - begin < PIECE) {
    weir__hop_place *ahead = grown(walk->ahead, &walk->ahead_room, begin + PIECE, sizeof *walk->ahead);
    if (!ahead) {
      return fail_memory(walk, err);
    }
    walk->ahead = ahead;
  }
  return WEIR_OK;
}

static int is_depth_first(const weir_walk *walk) {
  return walk->options.order == WEIR_DEPTH_FIRST;
}

static weir__stop *at_hand(const weir_walk *walk) {
  return &walk->stops[is_depth_first(walk) ? walk->stop_count - 1 : walk->head];
}

/* ---- The edges of a stop ------------------------------------------------------------------------------ */

static void begin_frame(weir_walk *walk) {
  weir_direction direction = walk->options.reach.direction;
  walk->frames[walk->frame_count++] = (weir__frame){
      .begin = walk->ahead_count,
      .next = walk->ahead_count,
      .phase = direction & WEIR_OUT ? WEIR_OUT : WEIR_IN,
  };
  walk->expanding = 1;
}

/* Done with the stop at hand. */
static void leave(weir_walk *walk) {
  if (walk->expanding) {
    walk->ahead_count = walk->frames[--walk->frame_count].begin;
  }
  if (is_depth_first(walk)) {
    walk->stop_count--;
    walk->expanding = walk->stop_count > 0;
  } else {
    walk->head++;
    walk->expanding = 0;
  }
}

/* Puts the statement where the frame is, unless it stands there. */
static int seek(weir__walk_run *run, const weir__frame *frame, weir__hops *hops, weir_error *err) {
  weir_walk *walk = run->walk;
  int rc = WEIR_OK;
  if (!frame->moved) {
    weir__hops_seek(hops, at_hand(walk)->node);
  } else if (run->standing[frame->phase] != walk->frame_count) {
    run->standing[frame->phase] = 0;
    rc = weir__hops_seek_behind(hops, at_hand(walk)->node, &frame->last, err);
  }
  if (rc == WEIR_OK) {
    run->standing[frame->phase] = walk->frame_count;
  }
  return rc;
}

static int read_piece(weir__walk_run *run, weir__frame *frame, weir_error *err) {
  weir_walk *walk = run->walk;
  weir__hops *hops = frame->phase == WEIR_OUT ? run->steps.out : run->steps.in;
  size_t count = 0;
  int rc = reserve_piece(walk, frame->begin, err);
  walk->ahead_count = frame->begin;
  frame->next = frame->begin;
  frame->run = 0;
  if (rc == WEIR_OK && hops) {
    rc = seek(run, frame, hops, err);
    if (rc == WEIR_OK) {
      rc = weir__hops_next(hops, walk->ahead + frame->begin, PIECE, &count, err);
    }
  }
  if (rc) {
    run->standing[frame->phase] = 0;
    return rc;
  }
  walk->ahead_count += count;
  frame->more = count == PIECE;
  frame->run = walk->runs;
  return WEIR_OK;
}

/* *edge becomes the next edge of the stop at hand, NULL if there is none. */
static int next_edge(weir__walk_run *run, weir__frame *frame, const weir__hop_place **edge, weir_error *err) {
  weir_walk *walk = run->walk;
  while (frame->phase) {
    int fresh = frame->run == walk->runs;
    if (fresh && frame->next < walk->ahead_count) {
      *edge = &walk->ahead[frame->next];
      return WEIR_OK;
    }
    if (fresh && !frame->more) {
      int both = walk->options.reach.direction == WEIR_BOTH;
      frame->phase = frame->phase == WEIR_OUT && both ? WEIR_IN : 0;
      frame->moved = 0;
      frame->run = 0;
    } else {
      int rc = read_piece(run, frame, err);
      if (rc) {
        return rc;
      }
    }
  }
  *edge = NULL;
  return WEIR_OK;
}

/* ---- Turns --------------------------------------------------------------------------------------------- */

/* Follows the next edge of the stop at hand. */
static int follow(weir__walk_run *run, weir_error *err) {
  weir_walk *walk = run->walk;
  weir__frame *frame = &walk->frames[walk->frame_count - 1];
  const weir__hop_place *edge = NULL;
  enum weir__admission admission = WEIR__SKIP;
  int rc = next_edge(run, frame, &edge, err);
  if (rc) {
    return rc;
  }
  if (!edge) {
    leave(walk);
    return WEIR_OK;
  }
  rc = reserve_stop(walk, err);
  if (rc) {
    return rc;
  }
  const weir__stop *from = at_hand(walk);
  weir__stop stop = {.node = edge->far,
                     .label = edge->label,
                     .rank = edge->rank,
                     .parent = (uint32_t)(from - walk->stops),
                     .depth = from->depth + 1,
                     .against = frame->phase == WEIR_IN};
  rc = weir__met_admit(run, &stop, &admission, err);
  if (rc) {
    return rc;
  }
  frame->last = *edge;
  frame->moved = 1;
  frame->next++;
  run->result.edges++;
  if (admission != WEIR__SKIP) {
    walk->stops[walk->stop_count++] = stop;
    walk->expanding = !is_depth_first(walk);
  }
  return WEIR_OK;
}

/* Visits the stop at hand. */
static int arrive(weir__walk_run *run, weir_error *err) {
  weir_walk *walk = run->walk;
  const weir__stop *stop = at_hand(walk);
  int gone = 0;
  int rc = reserve_frame(walk, err);
  if (rc == WEIR_OK && !stop->again && stop->depth >= walk->options.min_depth) {
    rc = weir__trail_visit(run->trail, stop, &gone, err);
  }
  if (rc < 0) {
    return rc;
  }
  if (gone) {
    leave(walk);
    return WEIR_OK;
  }
  run->result.met += !stop->again;
  if (rc == WEIR_PRUNE) {
    weir__met_prune(walk, stop);
    leave(walk);
    return WEIR_OK;
  }
  if (weir__met_expand(walk, stop)) {
    begin_frame(walk);
  } else {
    leave(walk);
  }
  return rc;
}

/* Puts the next start down. */
static int begin_start(weir_walk *walk, weir_error *err) {
  int rc = reserve_stop(walk, err);
  if (rc) {
    return rc;
  }
  weir__stop stop = {.node = walk->starts[walk->started++], .parent = (uint32_t)walk->stop_count};
  if (weir__met_start(walk, &stop) != WEIR__SKIP) {
    walk->stops[walk->stop_count++] = stop;
  }
  return WEIR_OK;
}

/* *any: is there a stop at hand? Depth first a start is put down when all was seen from the one before. */
static int find_stop(weir_walk *walk, int *any, weir_error *err) {
  int rc = WEIR_OK;
  while (rc == WEIR_OK && walk->started < walk->start_count &&
         (!is_depth_first(walk) || walk->stop_count == 0)) {
    rc = begin_start(walk, err);
  }
  *any = walk->head < walk->stop_count;
  return rc;
}

/* ---- The budget ------------------------------------------------------------------------------------------
 */

/* WEIR_ENDED: there is budget for one turn more. The first turn is not asked, so that every run does
 * something, however little it may use. */
static weir_ending check_budget(weir__walk_run *run) {
  const weir_walk *walk = run->walk;
  const weir_budget *budget = &walk->options.budget;
  if (budget->nodes && run->result.met >= budget->nodes && !walk->expanding && !at_hand(walk)->again) {
    return WEIR_ENDED_NODES;
  }
  if (run->turns++ == 0) {
    return WEIR_ENDED;
  }
  if (budget->memory && weir__met_bytes(walk, 1) > budget->memory) {
    return WEIR_ENDED_MEMORY;
  }
  int look = !walk->expanding || run->turns % PIECE == 0; /* at the clock */
  return look && weir__deadline_passed(run->deadline) ? WEIR_ENDED_TIME : WEIR_ENDED;
}

int weir__walk_go(weir__walk_run *run, weir_error *err) {
  weir_walk *walk = run->walk;
  for (;;) {
    int any = 0;
    int rc = find_stop(walk, &any, err);
    if (rc || !any) {
      run->result.ending = WEIR_ENDED;
      return rc;
    }
    run->result.ending = check_budget(run);
    if (run->result.ending != WEIR_ENDED) {
      return WEIR_OK;
    }
    rc = walk->expanding ? follow(run, err) : arrive(run, err);
    if (rc) {
      run->result.ending = rc > 0 ? WEIR_ENDED_STOP : WEIR_ENDED;
      return rc < 0 ? rc : WEIR_OK;
    }
  }
}
