/*
 * Many writers, few commits: threads place orders that must survive a power cut, while another one imports
 * customers in the background. What each is told of its commit, a flush, and a read that asks for a commit.
 *
 *   writing STORE
 */
#include <pthread.h>
#include <stdio.h>

#include <weir/graph.h>

enum { THREADS = 4, ORDERS = 25, CUSTOMERS = 200 };

struct shop {
  weir_graph *graph;
  int weaker; /* acknowledgements that promise less than was asked for */
  int refused;
  int64_t last; /* the highest number of a commit */
  pthread_mutex_t lock;
};

/* One order: a node, and an edge to its customer. Undone as a whole if the customer is not known. May run
 * more than once, and on the thread of another writer. */
static int place(weir_txn *txn, void *data, weir_error *err) {
  int number = *(const int *)data;
  char key[32], customer[32];
  (void)snprintf(key, sizeof key, "order%d", number);
  (void)snprintf(customer, sizeof customer, "customer%d", number % 10 == 9 ? -1 : number % 10);
  int rc = weir_node_put(txn, &WEIR_NODE(key, "order", NULL), NULL, err);
  return rc == WEIR_OK ? weir_edge_put(txn, &WEIR_EDGE(key, "of", customer), 0, NULL, err) : rc;
}

static int import(weir_txn *txn, void *data, weir_error *err) {
  char key[32];
  (void)snprintf(key, sizeof key, "customer%d", *(const int *)data);
  return weir_node_put(txn, &WEIR_NODE(key, "customer", NULL), NULL, err);
}

/* What one write was told. */
static void note(struct shop *shop, int rc, const weir_ack *ack, weir_durability asked) {
  (void)pthread_mutex_lock(&shop->lock);
  shop->refused += rc != WEIR_OK;
  if (rc == WEIR_OK) {
    shop->weaker += ack->durability < asked;
    shop->last = ack->rev > shop->last ? ack->rev : shop->last;
  }
  (void)pthread_mutex_unlock(&shop->lock);
}

static void *place_orders(void *data) {
  static int threads;
  struct shop *shop = data;
  int first = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) * ORDERS;
  weir_ack ack;
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.durability = WEIR_FULL_SYNC; /* one sync serves all that share a commit */
  options.label = "order";
  options.ack = &ack;
  for (int i = first; i < first + ORDERS; i++)
    note(shop, weir_write(weir_graph_auto(shop->graph), place, &i, &options, NULL), &ack, WEIR_FULL_SYNC);
  return NULL;
}

static void *import_customers(void *data) {
  struct shop *shop = data;
  weir_ack ack;
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.priority = WEIR_BULK; /* an order never waits for more than one of these */
  options.label = "import";
  options.ack = &ack;
  for (int i = 10; i < CUSTOMERS; i++)
    note(shop, weir_write(weir_graph_auto(shop->graph), import, &i, &options, NULL), &ack, WEIR_NORMAL);
  return NULL;
}

static int count(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  int64_t orders = 0, customers = 0;
  int rc = weir_node_count(txn, weir_str("order"), &orders, err);
  rc = rc == WEIR_OK ? weir_node_count(txn, weir_str("customer"), &customers, err) : rc;
  if (rc == WEIR_OK)
    printf("%lld orders of %lld customers\n", (long long)orders, (long long)customers);
  return rc;
}

static int trade(struct shop *shop, weir_error *err) {
  int rc = WEIR_OK;
  for (int i = 0; i < 10 && rc == WEIR_OK; i++) /* those who order */
    rc = weir_write(weir_graph_auto(shop->graph), import, &i, NULL, err);
  pthread_t threads[THREADS + 1];
  for (int i = 0; i <= THREADS && rc == WEIR_OK; i++) {
    if (pthread_create(&threads[i], NULL, i ? place_orders : import_customers, shop) != 0)
      return weir_fail(err, WEIR_NOMEM, "cannot start a thread");
  }
  for (int i = 0; i <= THREADS && rc == WEIR_OK; i++)
    (void)pthread_join(threads[i], NULL);
  if (rc == WEIR_OK)
    rc =
        weir_flush(weir_graph_pool(shop->graph), NULL, err); /* the customers, too, survive a power cut now */
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.min_rev = shop->last; /* in another process this would wait until that commit is there */
  return rc == WEIR_OK ? weir_read(weir_graph_auto(shop->graph), count, NULL, &options, err) : rc;
}

int main(int argc, char **argv) {
  weir_error err = WEIR_ERROR_INIT;
  struct shop shop = {.lock = PTHREAD_MUTEX_INITIALIZER};
  int rc = weir_graph_open(&shop.graph, argc > 1 ? argv[1] : "shop.weir", NULL, &err);
  rc = rc == WEIR_OK ? trade(&shop, &err) : rc;
  if (rc == WEIR_OK) {
    printf("%d orders were refused, their customer is not known\n", shop.refused);
    printf("%d acknowledgements were weaker than asked for\n", shop.weaker);
    printf("the last commit is number %lld\n", (long long)shop.last);
  } else {
    fprintf(stderr, "%s: %s\n", weir_error_name(rc), err.message);
  }
  return weir_graph_close(shop.graph, NULL) != WEIR_OK || rc != WEIR_OK;
}
