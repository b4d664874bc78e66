/* The micro-benchmarks of hpcast as an MPI program for SMPI: the same calls in the same order.
 *
 *   bench PROGRAM BYTES COUNT SEED     PROGRAM: pingpong, allreduce, alltoall, random-traffic
 *
 * Must run with shared globals (smpi/privatization:no). The last rank to finish prints the simulated time and how many
 * messages were sent. Buffers are shared and folded (SMPI_SHARED_MALLOC) and the reduction does nothing, so that SMPI
 * spends its time on simulation and not on data that nobody looks at. */
#include <mpi.h>
#include <simgrid/engine.h>
#include <smpi/smpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 4 /* rounds in flight of random-traffic, as hpcast's --window */

static char *outgoing, *incoming; /* one pair of buffers for all ranks */
static int *to, *from;            /* who sends to whom in each round of random-traffic, for all ranks */
static int unfinished;
static long messages;

/* Philox4x32-10 (Salmon et al., SC 2011), as hpcast's keyed random streams use it. */
static uint64_t random_word(uint64_t seed, uint32_t purpose, uint32_t entity, uint64_t index)
{
  uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), entity, purpose};
  uint32_t k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < 10; round++) {
    uint64_t left = (uint64_t)c[0] * 0xD2511F53u, right = (uint64_t)c[2] * 0xCD9E8D57u;
    uint32_t next[4] = {(uint32_t)(right >> 32) ^ c[1] ^ k[0], (uint32_t)right, (uint32_t)(left >> 32) ^ c[3] ^ k[1],
                        (uint32_t)left};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return (uint64_t)c[1] << 32 | c[0];
}

/* One permutation for each round, drawn as hpcast's random-traffic draws it: Fisher and Yates' shuffle. */
static void draw_permutations(int ranks, int rounds, uint64_t seed)
{
  uint32_t purpose = 0x811c9dc5u; /* FNV-1a of the stream's name */
  for (const char* c = "permutation"; *c; c++)
    purpose = (purpose ^ (uint8_t)*c) * 16777619u;
  to   = malloc(sizeof(int) * ranks * (rounds + 1));
  from = malloc(sizeof(int) * ranks * (rounds + 1));
  for (int round = 0; round < rounds; round++) {
    int* line = to + (size_t)round * ranks;
    for (int i = 0; i < ranks; i++)
      line[i] = i;
    for (int last = ranks - 1; last > 0; last--) {
      uint64_t word = random_word(seed, purpose, round, last);
      int other     = (int)(((unsigned __int128)word * (uint64_t)(last + 1)) >> 64);
      int swapped   = line[last];
      line[last]    = line[other];
      line[other]   = swapped;
    }
    for (int i = 0; i < ranks; i++)
      from[(size_t)round * ranks + line[i]] = i;
  }
}

static void pingpong(int me, int ranks, int bytes, int count)
{
  int peer = me ^ 1;
  if (peer >= ranks)
    return;
  for (int i = 0; i < count; i++) {
    if (me % 2 == 0) {
      MPI_Send(outgoing, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
      MPI_Recv(incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(outgoing, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    messages++;
  }
}

static void random_traffic(int me, int ranks, int bytes, int count)
{
  MPI_Request request[WINDOW][2];
  for (int round = 0; round < count; round++) {
    MPI_Request* pair = request[round % WINDOW];
    size_t at         = (size_t)round * ranks + me;
    if (round >= WINDOW)
      MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    MPI_Irecv(incoming, bytes, MPI_BYTE, from[at], round, MPI_COMM_WORLD, &pair[0]);
    MPI_Isend(outgoing, bytes, MPI_BYTE, to[at], round, MPI_COMM_WORLD, &pair[1]);
    messages++;
  }
  for (int round = count > WINDOW ? count - WINDOW : 0; round < count; round++)
    MPI_Waitall(2, request[round % WINDOW], MPI_STATUSES_IGNORE);
}

static void nothing(void* in, void* inout, int* length, MPI_Datatype* type)
{
  (void)in, (void)inout, (void)length, (void)type;
}

static int log2_of(int ranks)
{
  int steps = 0;
  while (1 << steps < ranks)
    steps++;
  return steps;
}

/* Calls with a barrier between them, as hpcast's benchmarks of collectives. */
static void collective(const char* program, int ranks, int bytes, int count)
{
  MPI_Op op;
  MPI_Op_create(nothing, 1, &op);
  for (int i = 0; i < count; i++) {
    if (i > 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      messages += log2_of(ranks);
    }
    if (strcmp(program, "allreduce") == 0) {
      MPI_Allreduce(outgoing, incoming, bytes, MPI_BYTE, op, MPI_COMM_WORLD);
      messages += log2_of(ranks);
    } else {
      MPI_Alltoall(outgoing, bytes, MPI_BYTE, incoming, bytes, MPI_BYTE, MPI_COMM_WORLD);
      messages += ranks - 1;
    }
  }
  MPI_Op_free(&op);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int me, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) {
    fprintf(stderr, "usage: %s PROGRAM BYTES COUNT SEED\n", argv[0]);
    return 2;
  }
  const char* program = argv[1];
  int bytes = atoi(argv[2]), count = atoi(argv[3]);
  if (!outgoing) {
    size_t size = (size_t)bytes * (strcmp(program, "alltoall") == 0 ? ranks : 1) + 1;
    outgoing    = SMPI_SHARED_MALLOC(size);
    incoming    = SMPI_SHARED_MALLOC(size);
    unfinished  = ranks;
    if (strcmp(program, "random-traffic") == 0)
      draw_permutations(ranks, count, strtoull(argv[4], NULL, 10));
  }
  if (strcmp(program, "pingpong") == 0)
    pingpong(me, ranks, bytes, count);
  else if (strcmp(program, "random-traffic") == 0)
    random_traffic(me, ranks, bytes, count);
  else
    collective(program, ranks, bytes, count);
  if (--unfinished == 0)
    printf("simulated_seconds %.12e messages %ld\n", simgrid_get_clock(), messages);
  MPI_Finalize();
  return 0;
}
