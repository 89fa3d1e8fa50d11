// A service that reads orders in JSON and adds up their numbers. It has a leak: find it with the analyzer before you read
// on to the end. Memory that runs out traps, which is enough for an example.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))

enum kind { NUMBER, TEXT, LIST, OBJECT };

/** A value of a document. Lists and objects have a chain of members. */
struct value {
  enum kind kind;
  double number;
  char *text;
  /** The name of a member of an object. */
  char *name;
  struct value *first;
  struct value *next;
};

/** What is left of a document. */
struct reader {
  const char *at;
  const char *end;
};

/** An answer that is kept for a client that asks again. */
struct answer {
  char *document;
  double sum;
};

#define KEPT_ANSWERS 32
static struct answer answers[KEPT_ANSWERS];
static unsigned documents_read;

static struct value *read_value(struct reader *reader);

static void free_value(struct value *value) {
  struct value *member = value->first;
  while (member != NULL) {
    struct value *next = member->next;
    free_value(member);
    member = next;
  }
  free(value->text);
  free(value->name);
  free(value);
}

static int accept(struct reader *reader, char expected) {
  while (reader->at < reader->end && *reader->at == ' ') reader->at++;
  if (reader->at == reader->end || *reader->at != expected) return 0;
  reader->at++;
  return 1;
}

/** Reads a text in quotation marks. Null if there is none. */
static char *read_text(struct reader *reader) {
  if (!accept(reader, '"')) return NULL;
  const char *start = reader->at;
  while (reader->at < reader->end && *reader->at != '"') reader->at++;
  if (reader->at == reader->end) return NULL;
  return strndup(start, (size_t)(reader->at++ - start));
}

/** Reads what follows the opening bracket of a list or an object. Null if it does not end. */
static struct value *read_members(struct reader *reader, enum kind kind, char closing) {
  struct value *parent = calloc(1, sizeof *parent);
  parent->kind = kind;
  struct value **last = &parent->first;
  if (accept(reader, closing)) return parent;
  do {
    char *name = NULL;
    if (kind == OBJECT) {
      name = read_text(reader);
      if (name == NULL || !accept(reader, ':')) return NULL;
    }
    struct value *member = read_value(reader);
    if (member == NULL) return NULL;
    member->name = name;
    *last = member;
    last = &member->next;
  } while (accept(reader, ','));
  if (!accept(reader, closing)) return NULL;
  return parent;
}

static struct value *read_value(struct reader *reader) {
  if (accept(reader, '{')) return read_members(reader, OBJECT, '}');
  if (accept(reader, '[')) return read_members(reader, LIST, ']');
  char *text = read_text(reader);
  char *end = (char *)reader->at;
  double number = text == NULL ? strtod(reader->at, &end) : 0;
  if (text == NULL && end == reader->at) return NULL;
  reader->at = end;
  struct value *value = calloc(1, sizeof *value);
  value->kind = text == NULL ? NUMBER : TEXT;
  value->text = text;
  value->number = number;
  return value;
}

static double sum_of(const struct value *value) {
  double sum = value->number;
  for (const struct value *member = value->first; member != NULL; member = member->next) sum += sum_of(member);
  return sum;
}

/** Where the host writes a document, with a 0 behind it. */
EXPORT("room_for") char *room_for(size_t length) {
  static char *room;
  static size_t size;
  if (length + 1 > size) {
    free(room);
    size = length + 1;
    room = malloc(size);
  }
  room[length] = 0;
  return room;
}

/** The sum of the numbers of a document; not a number if it cannot be read. */
EXPORT("handle") double handle(const char *document) {
  for (unsigned i = 0; i < KEPT_ANSWERS; i++) {
    if (answers[i].document != NULL && strcmp(answers[i].document, document) == 0) return answers[i].sum;
  }
  struct reader reader = {document, document + strlen(document)};
  // The leak: of a document that was cut off, read_members forgets what it has read so far.
  struct value *value = read_value(&reader);
  if (value == NULL) return NAN;
  struct answer *answer = &answers[documents_read++ % KEPT_ANSWERS];
  free(answer->document);
  answer->document = strdup(document);
  answer->sum = sum_of(value);
  free_value(value);
  return answer->sum;
}
