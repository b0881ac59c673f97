#include "find_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const model_labels[MODEL_LABELS] = {"x", "y", "z"};
const char *const model_paths[MODEL_PATHS] = {"a", "b", "$.c.d", "$.t[0]", "$.t[#-1]", "it's"};

/* ---- Rows ------------------------------------------------------------------------------------------------
 */

void model_name_node(const weir_node *node, char out[64]) {
  snprintf(out, 64, "%.*s", (int)node->key.len, node->key.ptr);
}

void model_name_edge(const weir_edge *edge, char out[64]) {
  snprintf(out, 64, "%s-%s-%s-%" PRId64, edge->src.ptr, edge->label.ptr, edge->dst.ptr, edge->rank);
}

static model_row *new_row(find_model *model, weir_text props) {
  if (model->count == model->room) {
    model->room = model->room ? 2 * model->room : 64;
    model->rows = realloc(model->rows, model->room * sizeof *model->rows);
  }
  model_row *row = &model->rows[model->count++];
  memset(row, 0, sizeof *row);
  row->props = json_loadb(props.ptr, props.len, 0, NULL);
  return row;
}

static unsigned label_bit(weir_text label) {
  for (unsigned i = 0; i < MODEL_LABELS; i++) {
    if (strcmp(label.ptr, model_labels[i]) == 0) {
      return 1u << i;
    }
  }
  return 0;
}

static int load_node(const weir_node *node, void *data, weir_error *err) {
  model_row *row = new_row(data, node->props);
  (void)err;
  model_name_node(node, row->name);
  snprintf(row->key, sizeof row->key, "%s", node->key.ptr);
  row->rev = node->rev;
  for (size_t i = 0; i < node->label_count; i++) {
    row->labels |= label_bit(node->labels[i]);
  }
  return WEIR_OK;
}

static int load_edge(const weir_edge *edge, void *data, weir_error *err) {
  model_row *row = new_row(data, edge->props);
  (void)err;
  model_name_edge(edge, row->name);
  snprintf(row->src, sizeof row->src, "%s", edge->src.ptr);
  snprintf(row->dst, sizeof row->dst, "%s", edge->dst.ptr);
  row->labels = label_bit(edge->label);
  row->weight = edge->weight;
  row->rank = edge->rank;
  row->rev = edge->rev;
  return WEIR_OK;
}

int model_load(find_model *out, weir_txn *txn, weir_target target, weir_error *err) {
  *out = (find_model){.target = target};
  return target == WEIR_NODES ? weir_node_scan(txn, NULL, load_node, out, err)
                              : weir_edge_scan(txn, NULL, load_edge, out, err);
}

void model_clear(find_model *model) {
  for (size_t i = 0; i < model->count; i++) {
    json_decref(model->rows[i].props);
  }
  free(model->rows);
}

/* ---- Values ----------------------------------------------------------------------------------------------
 */

/* A value as it compares: kind as in the order of a find. */
struct value {
  int kind;           /* 0 none, 1 bool, 2 number, 3 string, 4 array or object */
  long double number; /* holds every 64-bit integer and every double */
  char text[128];
};

static json_t *member(const model_row *row, const char *path) {
  if (strcmp(path, "$.c.d") == 0) {
    return json_object_get(json_object_get(row->props, "c"), "d");
  }
  if (strncmp(path, "$.t", 3) == 0) {
    json_t *array = json_object_get(row->props, "t");
    size_t size = json_array_size(array);
    return size ? json_array_get(array, path[4] == '0' ? 0 : size - 1) : NULL;
  }
  return json_object_get(row->props, path);
}

static struct value value_of_json(const json_t *json) {
  struct value value = {0};
  if (json_is_boolean(json)) {
    value.kind = 1;
    value.number = json_is_true(json);
  } else if (json_is_integer(json)) {
    value.kind = 2;
    value.number = json_integer_value(json);
  } else if (json_is_real(json)) {
    value.kind = 2;
    value.number = json_real_value(json);
  } else if (json_is_string(json)) {
    value.kind = 3;
    snprintf(value.text, sizeof value.text, "%s", json_string_value(json));
  } else if (json_is_array(json) || json_is_object(json)) {
    char *text = json_dumps(json, JSON_COMPACT);
    value.kind = 4;
    snprintf(value.text, sizeof value.text, "%s", text);
    free(text);
  }
  return value;
}

static struct value value_of(const weir_value *given) {
  struct value value = {.kind = given->type == WEIR_TYPE_TEXT ? 3 : given->type == WEIR_TYPE_BOOL ? 1 : 2};
  value.number = given->type == WEIR_TYPE_REAL ? (long double)given->real : (long double)given->integer;
  if (given->type == WEIR_TYPE_TEXT) {
    snprintf(value.text, sizeof value.text, "%.*s", (int)given->text.len, given->text.ptr);
  }
  return value;
}

static struct value value_of_field(const model_row *row, weir_field field, const char *path) {
  struct value value = {.kind = 2};
  switch (field) {
  case WEIR_FIELD_PROP:
    return value_of_json(member(row, path));
  case WEIR_FIELD_REV:
    value.number = row->rev;
    break;
  case WEIR_FIELD_WEIGHT:
    value.number = row->weight;
    break;
  case WEIR_FIELD_RANK:
    value.number = row->rank;
    break;
  default:
    value.kind = 3;
    snprintf(value.text, sizeof value.text, "%s",
             field == WEIR_FIELD_KEY   ? row->key
             : field == WEIR_FIELD_SRC ? row->src
                                       : row->dst);
    break;
  }
  return value;
}

static int compare(const struct value *a, const struct value *b) {
  if (a->kind != b->kind) {
    return a->kind < b->kind ? -1 : 1;
  }
  if (a->kind >= 3) {
    int order = strcmp(a->text, b->text);
    return (order > 0) - (order < 0);
  }
  return (a->number > b->number) - (a->number < b->number);
}

/* ---- Conditions ------------------------------------------------------------------------------------------
 */

static int test(const weir_cond *cond, const struct value *value, const weir_value *with_value) {
  struct value with = value_of(with_value);
  int order = compare(value, &with);
  if (value->kind != with.kind) {
    return cond->op == WEIR_NE;
  }
  switch (cond->op) {
  case WEIR_NE:
    return order != 0;
  case WEIR_LT:
    return order < 0;
  case WEIR_LE:
    return order <= 0;
  case WEIR_GT:
    return order > 0;
  case WEIR_GE:
    return order >= 0;
  case WEIR_PREFIX:
    return strncmp(value->text, with.text, strlen(with.text)) == 0;
  default: /* WEIR_EQ, WEIR_CONTAINS, WEIR_ONE_OF */
    return order == 0;
  }
}

static int contains(const weir_cond *cond, const json_t *array) {
  for (size_t i = 0; i < json_array_size(array); i++) { /* 0 of what is none */
    struct value value = value_of_json(json_array_get(array, i));
    if (test(cond, &value, &cond->value)) {
      return 1;
    }
  }
  return 0;
}

static int is_true(const weir_cond *cond, const model_row *row) {
  struct value value;
  switch (cond->op) {
  case WEIR_ALWAYS:
    return 1;
  case WEIR_AND:
  case WEIR_OR:
    for (size_t i = 0; i < cond->count; i++) {
      if (is_true(&cond->parts[i], row) != (cond->op == WEIR_AND)) {
        return cond->op == WEIR_OR;
      }
    }
    return cond->op == WEIR_AND;
  case WEIR_NOT:
    return !is_true(&cond->parts[0], row);
  case WEIR_HAS_LABEL:
    return (row->labels & label_bit(cond->value.text)) != 0;
  case WEIR_ONE_OF:
    value = value_of_field(row, cond->field, cond->path.ptr);
    for (size_t i = 0; i < cond->count; i++) {
      if (test(cond, &value, &cond->values[i])) {
        return 1;
      }
    }
    return 0;
  case WEIR_CONTAINS:
    return contains(cond, member(row, cond->path.ptr));
  case WEIR_PRESENT:
    return value_of_field(row, cond->field, cond->path.ptr).kind != 0;
  default:
    value = value_of_field(row, cond->field, cond->path.ptr);
    return test(cond, &value, &cond->value);
  }
}

/* ---- Finding ---------------------------------------------------------------------------------------------
 */

struct found {
  size_t row;
  struct value value;
};

static int compare_found(const void *a, const void *b) {
  const struct found *x = a;
  const struct found *y = b;
  int order = compare(&x->value, &y->value);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

size_t model_find(const find_model *model, const weir_find *find, size_t *out) {
  struct found *found = calloc(model->count + 1, sizeof *found);
  size_t count = 0;
  for (size_t i = 0; i < model->count; i++) {
    const model_row *row = &model->rows[i];
    if ((find->label.len && !(row->labels & label_bit(find->label))) ||
        (find->where && !is_true(find->where, row))) {
      continue;
    }
    found[count].row = i;
    if (find->order != WEIR_FIELD_NONE) {
      found[count].value = value_of_field(row, find->order, find->order_path.ptr);
    }
    count++;
  }
  qsort(found, count, sizeof *found, compare_found);
  for (size_t i = 0; i < count; i++) {
    out[i] = found[find->descending ? count - 1 - i : i].row;
  }
  free(found);
  return count;
}

/* ---- Random questions and rows ---------------------------------------------------------------------------
 */

static const weir_value values[] = {
    {WEIR_TYPE_BOOL, 0, 0, {NULL, 0}},
    {WEIR_TYPE_BOOL, 1, 0, {NULL, 0}},
    {WEIR_TYPE_INT, 0, 0, {NULL, 0}},
    {WEIR_TYPE_INT, 1, 0, {NULL, 0}},
    {WEIR_TYPE_INT, -7, 0, {NULL, 0}},
    {WEIR_TYPE_INT, 5, 0, {NULL, 0}},
    {WEIR_TYPE_INT, (INT64_C(1) << 53), 0, {NULL, 0}},
    {WEIR_TYPE_INT, (INT64_C(1) << 53) + 1, 0, {NULL, 0}},
    {WEIR_TYPE_INT, INT64_MAX, 0, {NULL, 0}},
    {WEIR_TYPE_INT, INT64_MAX - 1, 0, {NULL, 0}},
    {WEIR_TYPE_INT, INT64_MIN, 0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 1.0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 0.5, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, -0.0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 0.1, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 9007199254740992.0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 9223372036854775808.0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, -9223372036854775808.0, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, 1e300, {NULL, 0}},
    {WEIR_TYPE_REAL, 0, -1e300, {NULL, 0}},
    {WEIR_TYPE_TEXT, 0, 0, {"", 0}},
    {WEIR_TYPE_TEXT, 0, 0, {"a", 1}},
    {WEIR_TYPE_TEXT, 0, 0, {"ab", 2}},
    {WEIR_TYPE_TEXT, 0, 0, {"abc", 3}},
    {WEIR_TYPE_TEXT, 0, 0, {"b", 1}},
    {WEIR_TYPE_TEXT, 0, 0, {"5", 1}},
    {WEIR_TYPE_TEXT, 0, 0, {"\xc3\xa4", 2}},
    {WEIR_TYPE_TEXT, 0, 0, {"\xc3\xa4z", 3}},
    {WEIR_TYPE_TEXT, 0, 0, {"\xf0\x9f\x98\x80", 4}},
    {WEIR_TYPE_TEXT, 0, 0, {"it's \"q\"", 8}},
};

enum { VALUES = sizeof values / sizeof values[0] };

static json_t *random_json(weir_test_rng *rng) {
  const weir_value *value = &values[weir_test_below(rng, VALUES)];
  switch (weir_test_below(rng, 12)) {
  case 0:
    return json_null();
  case 1:
    return json_pack("[i,s]", (int)weir_test_below(rng, 3), "x");
  case 2:
    return json_pack("{s:i}", "k", (int)weir_test_below(rng, 3));
  default:
    break;
  }
  switch (value->type) {
  case WEIR_TYPE_BOOL:
    return json_boolean(value->integer);
  case WEIR_TYPE_REAL:
    return json_real(value->real);
  case WEIR_TYPE_TEXT:
    return json_stringn(value->text.ptr, value->text.len);
  default:
    return json_integer(value->integer);
  }
}

void model_props(weir_test_rng *rng, char *out, size_t size) {
  json_t *props = json_object();
  static const char *const names[] = {"a", "b", "it's"};
  for (size_t i = 0; i < 3; i++) {
    if (weir_test_below(rng, 4) > 0) {
      json_object_set_new(props, names[i], random_json(rng));
    }
  }
  if (weir_test_below(rng, 2)) {
    json_object_set_new(props, "c", json_pack("{s:o}", "d", random_json(rng)));
  }
  if (weir_test_below(rng, 2)) {
    json_t *array = json_array();
    for (size_t left = weir_test_below(rng, 3); left > 0; left--) {
      json_array_append_new(array, random_json(rng));
    }
    json_object_set_new(props, "t", array);
  }
  char *text = json_dumps(props, JSON_COMPACT | (weir_test_below(rng, 2) ? JSON_ENSURE_ASCII : 0));
  snprintf(out, size, "%s", text);
  free(text);
  json_decref(props);
}

static weir_text random_key(weir_test_rng *rng) {
  static const char *const keys[] = {"n1", "n10", "n2", "n3", "n25", "nowhere", "n"};
  return weir_str(keys[weir_test_below(rng, sizeof keys / sizeof keys[0])]);
}

static weir_value random_value(weir_test_rng *rng, weir_field field) {
  weir_value value;
  switch (field) {
  case WEIR_FIELD_PROP:
    return values[weir_test_below(rng, VALUES)];
  case WEIR_FIELD_KEY:
  case WEIR_FIELD_SRC:
  case WEIR_FIELD_DST:
    value = weir_string("");
    value.text = random_key(rng);
    return value;
  default:
    return weir_test_below(rng, 2) ? weir_int((int64_t)weir_test_below(rng, 40))
                                   : weir_real((double)weir_test_below(rng, 80) / 2);
  }
}

static void fill_cond(model_cond *memory, weir_cond *cond, weir_test_rng *rng, weir_target target,
                      int depth) {
  static const weir_field fields[2][4] = {
      {WEIR_FIELD_KEY, WEIR_FIELD_REV, WEIR_FIELD_KEY, WEIR_FIELD_REV},
      {WEIR_FIELD_SRC, WEIR_FIELD_DST, WEIR_FIELD_RANK, WEIR_FIELD_WEIGHT}};
  memset(cond, 0, sizeof *cond);
  size_t left = MODEL_CONDS - memory->cond_count;
  if (depth > 0 && left > 4 && weir_test_below(rng, 2)) {
    cond->op = (weir_op)(WEIR_AND + weir_test_below(rng, 3));
    cond->count = cond->op == WEIR_NOT ? 1 : weir_test_below(rng, 4);
    weir_cond *parts = &memory->conds[memory->cond_count];
    memory->cond_count += cond->count;
    cond->parts = parts;
    for (size_t i = 0; i < cond->count; i++) {
      fill_cond(memory, &parts[i], rng, target, depth - 1);
    }
    return;
  }
  cond->op = (weir_op)(WEIR_EQ + weir_test_below(rng, WEIR_HAS_LABEL));
  cond->field = weir_test_below(rng, 4) || cond->op == WEIR_PRESENT || cond->op == WEIR_CONTAINS
                    ? WEIR_FIELD_PROP
                    : fields[target == WEIR_EDGES][weir_test_below(rng, 4)];
  cond->path = weir_str(model_paths[weir_test_below(rng, MODEL_PATHS)]);
  if (cond->op == WEIR_HAS_LABEL) {
    cond->value =
        weir_string(weir_test_below(rng, 6) ? model_labels[weir_test_below(rng, MODEL_LABELS)] : "?");
  } else if (cond->op == WEIR_ONE_OF) {
    cond->values = &memory->values[memory->value_count];
    while (cond->count < 4 && memory->value_count < MODEL_VALUES && weir_test_below(rng, 4)) {
      memory->values[memory->value_count++] = random_value(rng, cond->field);
      cond->count++;
    }
  } else {
    cond->value = random_value(rng, cond->field);
    while (cond->op == WEIR_PREFIX && cond->value.type != WEIR_TYPE_TEXT) {
      cond->field = WEIR_FIELD_PROP;
      cond->value = random_value(rng, cond->field);
    }
  }
}

const weir_cond *model_condition(model_cond *memory, weir_test_rng *rng, weir_target target) {
  memory->cond_count = 1;
  memory->value_count = 0;
  fill_cond(memory, &memory->conds[0], rng, target, 3);
  return &memory->conds[0];
}

void model_order(weir_find *find, weir_test_rng *rng, weir_target target) {
  static const weir_field fields[2][4] = {
      {WEIR_FIELD_NONE, WEIR_FIELD_PROP, WEIR_FIELD_REV, WEIR_FIELD_KEY},
      {WEIR_FIELD_NONE, WEIR_FIELD_PROP, WEIR_FIELD_REV, WEIR_FIELD_WEIGHT}};
  find->order = fields[target == WEIR_EDGES][weir_test_below(rng, 4)];
  find->order_path = weir_str(model_paths[weir_test_below(rng, MODEL_PATHS)]);
  find->descending = (int)weir_test_below(rng, 2);
}
