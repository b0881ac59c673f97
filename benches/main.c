/*
 * weir-bench: one program, a subcommand a workload. This file reads the command line; an option that a
 * subcommand does not know is refused rather than ignored.
 */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_command *const commands[] = {
    &bench_waves,   &bench_async, &bench_read,   &bench_stress,  &bench_throughput,
    &bench_latency, &bench_mixed, &bench_pinned, &bench_queries, &bench_algo};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Every option of every subcommand. The letters only name them in bench_command.takes. */
static const struct option_text {
  const char *name;
  char letter;
  const char *argument, *help;
} texts[] = {
    {"db", 'd', "PATH", "run on a copy of this store instead of data of its own"},
    {"dir", 'D', "DIR", "make the working directory in DIR"},
    {"modes", 'm', "LIST", "modes to compare"},
    {"txn", 't', "LIST", "upserts per write transaction"},
    {"readers", 'R', "LIST", "reader connections (mutex: threads)"},
    {"durability", 'y', "LIST", "normal, full"},
    {"inflight", 'i', "LIST", "requests in flight"},
    {"connections", 'o', "LIST", "connections, each with a thread"},
    {"rate", 'a', "LIST", "transactions a second offered in all"},
    {"writers", 'n', "LIST", "threads that write"},
    {"warmup", 'u', "S", "seconds before the figures of a cell count"},
    {"passive", 'p', "0|1", "1: bare modes get a passive checkpoint a second beside their own"},
    {"exclusive", 'e', "0|1", "1: weir keeps other processes out of the file, which saves the file locks"},
    {"tasks", 'C', "LIST", "tasks that write at once"},
    {"writes", 'W', "LIST", "writes of each task, unless its seconds are over before"},
    {"rows", 'N', "LIST", "rows inserted in a transaction"},
    {"nodes", 'G', "N", "nodes of the graph"},
    {"edges", 'E', "N", "edges of the graph"},
    {"works", 'Q', "LIST", "what to ask, or compute"},
    {"graphs", 'g', "LIST", "uniform, snap (which needs --snap)"},
    {"snap", 'F', "FILE", "a SNAP edge list, plain or gzip-compressed"},
    {"sizes", 'z', "LIST", "edges of graphs, one after another, to see how time grows"},
    {"threads", 'H', "N", "threads of a computation, beside one; 0: as many as weir chooses"},
    {"text", 'T', NULL, "with a full-text index, which the writer's upserts keep up to date"},
    {"seconds", 's', "S", "longest time for one cell in one repetition"},
    {"waves", 'w', "N", "a cell may end after N valid waves and a fifth of the seconds"},
    {"repeat", 'r', "N", "repetitions, interleaved"},
    {"seed", 'S', "N", "of every random choice"},
    {"cache", 'c', "KIB", "page cache per connection"},
    {"statements", 'x', "N", "cached statements per connection"},
    {"checkpoint", 'k', "PAGES", "WAL pages that start a passive checkpoint"},
    {"json", 'j', "FILE", "write all raw figures to FILE as JSON Lines"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* ---- Help ---- */

static void print_list(const bench_list *list, int durability) {
  for (unsigned i = 0; i < list->count; i++) {
    const char *comma = i ? "," : "";
    if (durability) {
      printf("%s%s", comma, bench_durability_name(list->values[i]));
    } else {
      printf("%s%u", comma, list->values[i]);
    }
  }
}

static void print_default(const bench_settings *s, char letter) {
  switch (letter) {
  case 'm':
    printf("%s", s->modes);
    break;
  case 't':
    print_list(&s->txn, 0);
    break;
  case 'R':
    print_list(&s->readers, 0);
    break;
  case 'y':
    print_list(&s->durability, 1);
    break;
  case 'i':
    print_list(&s->inflight, 0);
    break;
  case 'o':
    print_list(&s->connections, 0);
    break;
  case 'a':
    print_list(&s->rate, 0);
    break;
  case 'n':
    print_list(&s->writers, 0);
    break;
  case 'u':
    printf("%g", s->warmup);
    break;
  case 'p':
    printf("%u", s->passive);
    break;
  case 'e':
    printf("%u", s->exclusive);
    break;
  case 'C':
    print_list(&s->tasks, 0);
    break;
  case 'W':
    print_list(&s->writes, 0);
    break;
  case 'N':
    print_list(&s->rows, 0);
    break;
  case 'G':
    printf("%u", s->nodes);
    break;
  case 'E':
    printf("%u", s->edges);
    break;
  case 'Q':
    printf("%s", s->works);
    break;
  case 'g':
    printf("%s", s->graphs);
    break;
  case 'H':
    printf("%u", s->threads);
    break;
  case 's':
    printf("%g", s->seconds);
    break;
  case 'w':
    printf("%u", s->least);
    break;
  case 'r':
    printf("%u", s->repeat);
    break;
  case 'S':
    printf("%llu", (unsigned long long)s->seed);
    break;
  case 'c':
    printf("%u", s->cache_kib);
    break;
  case 'x':
    printf("%u", s->statements);
    break;
  case 'k':
    printf("%u", s->checkpoint);
    break;
  case 'D':
    printf("$TMPDIR or /tmp");
    break;
  default:
    break;
  }
}

static void print_command_help(const bench_command *command, const bench_settings *defaults) {
  printf("usage: weir-bench %s [options]\n\n%s\n\noptions:\n", command->name, command->help);
  for (int i = 0; i < TEXTS; i++) {
    if (!strchr(command->takes, texts[i].letter)) {
      continue;
    }
    char head[40];
    snprintf(head, sizeof head, "--%s %s", texts[i].name, texts[i].argument ? texts[i].argument : "");
    printf("  %-20s %s", head, texts[i].help);
    if (!strchr("djTFz", texts[i].letter)) {
      printf(" [");
      print_default(defaults, texts[i].letter);
      printf("]");
    }
    putchar('\n');
  }
}

static void print_help(void) {
  puts("weir-bench measures weir beside bare SQLite on this machine.\n\n"
       "usage: weir-bench COMMAND [options]\n       weir-bench COMMAND --help\n\ncommands:");
  for (int i = 0; i < COMMANDS; i++) {
    printf("  %-11s %s\n", commands[i]->name, commands[i]->summary);
  }
  puts("\nexamples:\n"
       "  weir-bench waves --txn 100 --durability normal --repeat 3 --seconds 2\n"
       "  weir-bench waves --db flights.db --txn 100 --durability normal --repeat 1 --seconds 1\n"
       "  weir-bench async --json async.jsonl\n"
       "  weir-bench read\n"
       "  weir-bench stress --durability full --repeat 3\n"
       "  weir-bench throughput --tasks 1,32 --rows 10\n"
       "  weir-bench latency --connections 32 --rate 1000,8000\n"
       "  weir-bench queries --repeat 3");
}

/* ---- The command line ---- */

static double number(const char *name, const char *text, double least, double most) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || errno || !(value >= least && value <= most)) {
    bench_fail("--%s %s: give a number from %g to %.15g", name, text, least, most);
  }
  return value;
}

static unsigned whole(const char *name, const char *text, double least, double most) {
  double value = number(name, text, least, most);
  unsigned n = (unsigned)value;
  if ((double)n != value) {
    bench_fail("--%s %s: give a whole number", name, text);
  }
  return n;
}

static unsigned durability(const char *text) {
  if (strcmp(text, "normal") == 0) {
    return WEIR_NORMAL;
  }
  if (strcmp(text, "full") == 0) {
    return WEIR_FULL_SYNC;
  }
  bench_fail("--durability %s: give normal, full, or normal,full", text);
}

static void list(const char *name, const char *text, double most, bench_list *out) {
  char copy[256];
  if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy) {
    bench_fail("--%s: the list is too long", name);
  }
  out->count = 0;
  for (char *save = NULL, *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
    if (out->count == BENCH_LIST_MAX) {
      bench_fail("--%s: at most %d values", name, BENCH_LIST_MAX);
    }
    out->values[out->count++] = most > 0 ? whole(name, item, 1, most) : durability(item);
  }
  if (out->count == 0) {
    bench_fail("--%s: give at least one value", name);
  }
}

static void take(bench_settings *s, const struct option_text *option, const char *value) {
  const char *name = option->name;
  switch (option->letter) {
  case 'd':
    s->db = value;
    break;
  case 'D':
    s->dir = value;
    break;
  case 'm':
    s->modes = value;
    break;
  case 't':
    list(name, value, 1e6, &s->txn);
    break;
  case 'R':
    list(name, value, 64, &s->readers);
    break;
  case 'y':
    list(name, value, 0, &s->durability);
    break;
  case 'i':
    list(name, value, 4096, &s->inflight);
    break;
  case 'o':
    list(name, value, 1024, &s->connections);
    break;
  case 'a':
    list(name, value, 1e6, &s->rate);
    break;
  case 'n':
    list(name, value, 500, &s->writers);
    break;
  case 'u':
    s->warmup = number(name, value, 0, 3600);
    break;
  case 'p':
    s->passive = whole(name, value, 0, 1);
    break;
  case 'e':
    s->exclusive = whole(name, value, 0, 1);
    break;
  case 'C':
    list(name, value, 1024, &s->tasks);
    break;
  case 'W':
    list(name, value, 1e5, &s->writes);
    break;
  case 'N':
    list(name, value, 1000, &s->rows);
    break;
  case 'G':
    s->nodes = whole(name, value, 1, 1e8);
    break;
  case 'E':
    s->edges = whole(name, value, 1, 1e9);
    break;
  case 'Q':
    s->works = value;
    break;
  case 'g':
    s->graphs = value;
    break;
  case 'F':
    s->snap = value;
    break;
  case 'z':
    list(name, value, 1e9, &s->sizes);
    break;
  case 'H':
    s->threads = whole(name, value, 0, 64);
    break;
  case 'T':
    s->text = 1;
    break;
  case 's':
    s->seconds = number(name, value, 0.01, 3600);
    break;
  case 'w':
    s->least = whole(name, value, 1, 1e9);
    break;
  case 'r':
    s->repeat = whole(name, value, 1, 1000);
    break;
  case 'S':
    s->seed = (uint64_t)number(name, value, 0, 9e15);
    break;
  case 'c':
    s->cache_kib = whole(name, value, 64, 1e9);
    break;
  case 'x':
    s->statements = whole(name, value, 1, 10000);
    break;
  case 'k':
    s->checkpoint = whole(name, value, 1, 1e9);
    break;
  default:
    s->json = value;
  }
}

static const bench_command *find_command(const char *name) {
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i]->name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
      strcmp(argv[1], "help") == 0) {
    print_help();
    return argc < 2 ? 2 : 0;
  }
  const bench_command *command = find_command(argv[1]);
  if (!command) {
    fprintf(stderr, "weir-bench: no command \"%s\"; weir-bench --help lists them\n", argv[1]);
    return 2;
  }

  bench_settings settings = {.seconds = 5,
                             .least = 300,
                             .repeat = 5,
                             .seed = 1,
                             .cache_kib = 2048,
                             .statements = 64,
                             .checkpoint = 1000,
                             .readers = {1, {4}},
                             .durability = {1, {WEIR_NORMAL}}};
  command->defaults(&settings);

  struct option options[TEXTS + 2] = {{0}};
  for (int i = 0; i < TEXTS; i++) {
    options[i] =
        (struct option){texts[i].name, texts[i].argument ? required_argument : no_argument, NULL, i + 1};
  }
  options[TEXTS] = (struct option){"help", no_argument, NULL, 'h'};
  for (int found; (found = getopt_long(argc - 1, argv + 1, "h", options, NULL)) != -1;) {
    if (found == 'h') {
      print_command_help(command, &settings);
      return 0;
    }
    if (found < 1 || found > TEXTS) { /* getopt_long has said what is wrong */
      return 2;
    }
    const struct option_text *option = &texts[found - 1];
    if (!strchr(command->takes, option->letter)) {
      bench_fail("%s has no option --%s; weir-bench %s --help lists them", command->name, option->name,
                 command->name);
    }
    take(&settings, option, optarg);
  }
  if (optind < argc - 1) {
    bench_fail("unexpected \"%s\"", argv[optind + 1]);
  }
  return command->run(&settings);
}
