/* Runs one case file under SMPI and prints when each rank finishes. The same case files drive hpcast, so that both
 * simulate the same program; README.md describes their language. Must run with shared globals (-no-privatize): the
 * text of the case is read once for all ranks.
 *
 * Output lines:   finish RANK SECONDS   and   mark RANK LABEL SECONDS
 * Times are read from the simulator's clock, which costs no simulated time (MPI_Wtime would, see smpi/wtime). */
#include <ctype.h>
#include <mpi.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WORDS 64
#define MAX_REQUESTS 4096
#define LINE_LENGTH 1024

static char* text;              /* the case file, shared by all ranks */
static char *outgoing, *incoming; /* shared by all ranks: nobody looks at the data */

typedef struct {
  int me, ranks;
  double start;
  int line;
  int requests;
  MPI_Request request[MAX_REQUESTS];
  char name[MAX_REQUESTS][16];
} Rank;

static void fail(const Rank* r, const char* message, const char* what)
{
  fprintf(stderr, "line %d, rank %d: %s '%s'\n", r->line, r->me, message, what);
  exit(2);
}

static long number(const Rank* r, const char* word)
{
  char* end;
  long value = strtol(word, &end, 10);
  if (end == word || *end != '\0')
    fail(r, "not a whole number:", word);
  return value;
}

/* A peer: a rank number, 'any', or relative to me: +1 and -1 (around the end), ^1 (exclusive or). */
static int peer(const Rank* r, const char* word)
{
  if (strcmp(word, "any") == 0)
    return MPI_ANY_SOURCE;
  if (*word == '+')
    return (r->me + number(r, word + 1)) % r->ranks;
  if (*word == '-')
    return (r->me + r->ranks - number(r, word + 1) % r->ranks) % r->ranks;
  if (*word == '^')
    return r->me ^ (int)number(r, word + 1);
  return number(r, word);
}

static int tag(const Rank* r, const char* word)
{
  return strcmp(word, "any") == 0 ? MPI_ANY_TAG : (int)number(r, word);
}

/* '*', '3', '0-7', '0-15/5' (every fifth), or a list of these: '0,4-7'. */
static int selects(const Rank* r, const char* ranks)
{
  if (strcmp(ranks, "*") == 0)
    return 1;
  while (1) {
    char* end;
    long first = strtol(ranks, &end, 10), last = first, step = 1;
    if (end == ranks)
      fail(r, "not a set of ranks:", ranks);
    if (*end == '-')
      last = strtol(end + 1, &end, 10);
    if (*end == '/')
      step = strtol(end + 1, &end, 10);
    if (r->me >= first && r->me <= last && (r->me - first) % step == 0)
      return 1;
    if (*end != ',')
      return 0;
    ranks = end + 1;
  }
}

static MPI_Request* create(Rank* r, const char* name)
{
  if (r->requests == MAX_REQUESTS || strlen(name) >= sizeof r->name[0])
    fail(r, "too many requests or too long a name:", name);
  strcpy(r->name[r->requests], name);
  return &r->request[r->requests++];
}

static int find(const Rank* r, const char* name)
{
  for (int i = r->requests - 1; i >= 0; i--)
    if (strcmp(r->name[i], name) == 0)
      return i;
  fail(r, "no request is called", name);
  return -1;
}

/* Gathers the named requests ('all': every one since the last 'waitall all', in order), applies, and puts them back. */
static int collect(const Rank* r, char** words, int count, int* index, MPI_Request* list)
{
  int n = 0;
  if (count == 1 && strcmp(words[0], "all") == 0)
    for (; n < r->requests; n++)
      index[n] = n;
  else
    for (; n < count; n++)
      index[n] = find(r, words[n]);
  for (int i = 0; i < n; i++)
    list[i] = r->request[index[i]];
  return n;
}

static void requests(Rank* r, const char* op, char** words, int count)
{
  int* index        = malloc(MAX_REQUESTS * sizeof(int));
  MPI_Request* list = malloc(MAX_REQUESTS * sizeof(MPI_Request));
  int n             = collect(r, words, count, index, list);
  int flag = 0, done, *which;
  if (strcmp(op, "wait") == 0)
    MPI_Wait(&list[0], MPI_STATUS_IGNORE);
  else if (strcmp(op, "waitall") == 0)
    MPI_Waitall(n, list, MPI_STATUSES_IGNORE);
  else if (strcmp(op, "waitany") == 0)
    MPI_Waitany(n, list, &done, MPI_STATUS_IGNORE);
  else if (strcmp(op, "waitsome") == 0) {
    which = malloc(n * sizeof(int));
    MPI_Waitsome(n, list, &done, which, MPI_STATUSES_IGNORE);
    free(which);
  } else if (strcmp(op, "test") == 0)
    MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE);
  else if (strcmp(op, "testloop") == 0)
    while (!flag)
      MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE);
  else if (strcmp(op, "start") == 0)
    MPI_Startall(n, list);
  for (int i = 0; i < n; i++)
    r->request[index[i]] = list[i];
  if (strcmp(op, "waitall") == 0 && strcmp(words[0], "all") == 0)
    r->requests = 0;
  free(index);
  free(list);
}

static int one_of(const char* op, const char* list)
{
  const char* found = strstr(list, op);
  size_t length     = strlen(op);
  return found && (found == list || found[-1] == ' ') && (found[length] == ' ' || found[length] == '\0');
}

static void point_to_point(Rank* r, const char* op, char** w, int count)
{
  int to = peer(r, w[0]), bytes = number(r, w[1]), t = tag(r, w[2]);
  MPI_Request* new = NULL;
  if (count == 5 && strcmp(w[3], "->") == 0)
    new = create(r, w[4]);
  else if (count != 3)
    fail(r, "expected PEER BYTES TAG [-> NAME] after", op);
  if (strcmp(op, "send") == 0)
    MPI_Send(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD);
  else if (strcmp(op, "ssend") == 0)
    MPI_Ssend(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD);
  else if (strcmp(op, "bsend") == 0)
    MPI_Bsend(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD);
  else if (strcmp(op, "recv") == 0)
    MPI_Recv(incoming, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (!new)
    fail(r, "expected '-> NAME' after", op);
  else if (strcmp(op, "isend") == 0)
    MPI_Isend(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, new);
  else if (strcmp(op, "issend") == 0)
    MPI_Issend(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, new);
  else if (strcmp(op, "irecv") == 0)
    MPI_Irecv(incoming, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, new);
  else if (strcmp(op, "send_init") == 0)
    MPI_Send_init(outgoing, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, new);
  else if (strcmp(op, "recv_init") == 0)
    MPI_Recv_init(incoming, bytes, MPI_BYTE, to, t, MPI_COMM_WORLD, new);
}

/* Elements are single bytes, so that an algorithm can cut a buffer anywhere. */
static void collective(const Rank* r, const char* op, char** w, int count)
{
  int bytes = count > 0 ? number(r, w[0]) : 0;
  int root  = count > 1 ? number(r, w[1]) : 0;
  MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(op, "barrier") == 0)
    MPI_Barrier(all);
  else if (strcmp(op, "bcast") == 0)
    MPI_Bcast(outgoing, bytes, MPI_CHAR, root, all);
  else if (strcmp(op, "reduce") == 0)
    MPI_Reduce(outgoing, incoming, bytes, MPI_CHAR, MPI_MAX, root, all);
  else if (strcmp(op, "allreduce") == 0)
    MPI_Allreduce(outgoing, incoming, bytes, MPI_CHAR, MPI_MAX, all);
  else if (strcmp(op, "gather") == 0)
    MPI_Gather(outgoing, bytes, MPI_CHAR, incoming, bytes, MPI_CHAR, root, all);
  else if (strcmp(op, "scatter") == 0)
    MPI_Scatter(outgoing, bytes, MPI_CHAR, incoming, bytes, MPI_CHAR, root, all);
  else if (strcmp(op, "allgather") == 0)
    MPI_Allgather(outgoing, bytes, MPI_CHAR, incoming, bytes, MPI_CHAR, all);
  else if (strcmp(op, "alltoall") == 0)
    MPI_Alltoall(outgoing, bytes, MPI_CHAR, incoming, bytes, MPI_CHAR, all);
  else if (strcmp(op, "reduce_scatter_block") == 0)
    MPI_Reduce_scatter_block(outgoing, incoming, bytes, MPI_CHAR, MPI_MAX, all);
  else if (strcmp(op, "scan") == 0)
    MPI_Scan(outgoing, incoming, bytes, MPI_CHAR, MPI_MAX, all);
  else if (strcmp(op, "exscan") == 0)
    MPI_Exscan(outgoing, incoming, bytes, MPI_CHAR, MPI_MAX, all);
}

static void run(Rank* r, const char* statement);

/* for k 1..15 STATEMENT: the statement once for each number, with {k} replaced by it. */
static void repeat(Rank* r, const char* statement)
{
  char variable[16], placeholder[20];
  int first, last, consumed;
  if (sscanf(statement, "for %15s %d..%d %n", variable, &first, &last, &consumed) != 3)
    fail(r, "expected 'for NAME FIRST..LAST STATEMENT', not", statement);
  snprintf(placeholder, sizeof placeholder, "{%s}", variable);
  for (int value = first; value <= last; value++) {
    char line[LINE_LENGTH] = "", *out = line;
    for (const char* in = statement + consumed; *in;)
      if (strncmp(in, placeholder, strlen(placeholder)) == 0) {
        out += sprintf(out, "%d", value);
        in += strlen(placeholder);
      } else
        *out++ = *in++;
    *out = '\0';
    run(r, line);
  }
}

static void run(Rank* r, const char* statement)
{
  if (strncmp(statement, "for ", 4) == 0) {
    repeat(r, statement);
    return;
  }
  char copy[LINE_LENGTH], *w[MAX_WORDS], *rest;
  int n = 0, flag = 0;
  strcpy(copy, statement);
  for (char* word = strtok_r(copy, " \t", &rest); word && n < MAX_WORDS; word = strtok_r(NULL, " \t", &rest))
    w[n++] = word;
  if (n == 0)
    return;
  const char* op = w[0];
  if (strcmp(op, "mark") == 0 && n == 2)
    printf("mark %d %s %.12e\n", r->me, w[1], simgrid_get_clock() - r->start);
  else if (strcmp(op, "sleep") == 0 && n == 2) {
    double seconds      = atof(w[1]);
    struct timespec nap = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9 + 0.5)};
    nanosleep(&nap, NULL);
  } else if (one_of(op, "send ssend bsend recv isend issend irecv send_init recv_init") && n >= 4)
    point_to_point(r, op, w + 1, n - 1);
  else if (strcmp(op, "sendrecv") == 0 && n == 6) /* TO BYTES FROM BYTES TAG */
    MPI_Sendrecv(outgoing, number(r, w[2]), MPI_BYTE, peer(r, w[1]), tag(r, w[5]), incoming, number(r, w[4]), MPI_BYTE,
                 peer(r, w[3]), tag(r, w[5]), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (one_of(op, "wait waitall waitany waitsome test testloop start") && n >= 2)
    requests(r, op, w + 1, n - 1);
  else if (strcmp(op, "probe") == 0 && n == 3)
    MPI_Probe(peer(r, w[1]), tag(r, w[2]), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (strcmp(op, "iprobe") == 0 && n == 3)
    MPI_Iprobe(peer(r, w[1]), tag(r, w[2]), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  else if (strcmp(op, "iprobeloop") == 0 && n == 3)
    while (!flag)
      MPI_Iprobe(peer(r, w[1]), tag(r, w[2]), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  else if (one_of(op, "barrier bcast reduce allreduce gather scatter allgather alltoall reduce_scatter_block scan exscan"))
    collective(r, op, w + 1, n - 1);
  else
    fail(r, "unknown statement:", statement);
}

static char* read_file(const char* name)
{
  FILE* file = fopen(name, "rb");
  if (!file) {
    perror(name);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char* content = calloc(size + 1, 1);
  if (fread(content, 1, size, file) != (size_t)size)
    exit(2);
  fclose(file);
  return content;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Rank* r = calloc(1, sizeof *r);
  MPI_Comm_rank(MPI_COMM_WORLD, &r->me);
  MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
  if (argc != 3) {
    fprintf(stderr, "usage: %s CASE BUFFER_BYTES\n", argv[0]);
    return 2;
  }
  if (!text) {
    text     = read_file(argv[1]);
    outgoing = calloc(atol(argv[2]) + 1, 1);
    incoming = calloc(atol(argv[2]) + 1, 1);
  }
  int room     = atoi(argv[2]) + MPI_BSEND_OVERHEAD; /* for one bsend at a time */
  char* buffer = malloc(room);
  MPI_Buffer_attach(buffer, room);
  r->start = simgrid_get_clock();
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    r->line++;
    char copy[LINE_LENGTH];
    snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
    copy[strcspn(copy, "#")] = '\0';
    char* colon = strchr(copy, ':');
    if (!colon)
      continue; /* a header line, which regenerate.py reads */
    *colon = '\0';
    if (!selects(r, copy))
      continue;
    for (char* tail = colon + strlen(colon + 1); tail > colon && isspace((unsigned char)*tail); tail--)
      *tail = '\0';
    run(r, colon + 1 + strspn(colon + 1, " \t"));
  }
  printf("finish %d %.12e\n", r->me, simgrid_get_clock() - r->start);
  MPI_Buffer_detach(&buffer, &room);
  free(buffer);
  free(r);
  MPI_Finalize();
  return 0;
}
