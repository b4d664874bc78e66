/* ranks: 4 */
/* The predefined operations on all types that they are defined for. */
#include "case.h"
#include <stdint.h>
#include <complex.h>

/* Every rank gives rank + 1 and 2 * rank + 3, so results follow from a plain loop. */
#define ARITHMETIC(c, mpi) { \
        c out[2] = {(c)(rank + 1), (c)(2 * rank + 3)}, in[2], sum[2] = {0, 0}, product[2] = {1, 1}; \
        for (int i = 0; i < size; i++) { \
            sum[0] += (c)(i + 1), sum[1] += (c)(2 * i + 3); \
            product[0] *= (c)(i + 1), product[1] *= (c)(2 * i + 3); \
        } \
        MPI_Allreduce(out, in, 2, mpi, MPI_SUM, MPI_COMM_WORLD); \
        CHECK(in[0] == sum[0] && in[1] == sum[1]); \
        MPI_Allreduce(out, in, 2, mpi, MPI_PROD, MPI_COMM_WORLD); \
        CHECK(in[0] == product[0] && in[1] == product[1]); \
    }

#define EXTREMA(c, mpi) { \
        c out[2] = {(c)(rank + 1), (c)(size - rank)}, in[2]; \
        MPI_Allreduce(out, in, 2, mpi, MPI_MAX, MPI_COMM_WORLD); \
        CHECK(in[0] == (c)size && in[1] == (c)size); \
        MPI_Allreduce(out, in, 2, mpi, MPI_MIN, MPI_COMM_WORLD); \
        CHECK(in[0] == (c)1 && in[1] == (c)1); \
    }

#define LOGICAL(c, mpi) { \
        c out[3] = {(c)(rank == 1), (c)1, (c)0}, in[3]; \
        MPI_Allreduce(out, in, 3, mpi, MPI_LAND, MPI_COMM_WORLD); \
        CHECK(!in[0] && in[1] && !in[2]); \
        MPI_Allreduce(out, in, 3, mpi, MPI_LOR, MPI_COMM_WORLD); \
        CHECK(in[0] && in[1] && !in[2]); \
        MPI_Allreduce(out, in, 3, mpi, MPI_LXOR, MPI_COMM_WORLD); \
        CHECK(in[0] && !in[1] == (size % 2 == 0) && !in[2]); \
    }

#define BITWISE(c, mpi) { \
        c out[2] = {(c)(1 << rank), (c)(0x70 | rank)}, in[2], all = 0, both = 0x7f, either = 0, odd = 0; \
        for (int i = 0; i < size; i++) all |= (c)(1 << i), both &= (c)(0x70 | i), either |= (c)(0x70 | i), \
            odd ^= (c)(0x70 | i); \
        MPI_Allreduce(out, in, 2, mpi, MPI_BOR, MPI_COMM_WORLD); \
        CHECK(in[0] == all && in[1] == either); \
        MPI_Allreduce(out, in, 2, mpi, MPI_BAND, MPI_COMM_WORLD); \
        CHECK(in[0] == 0 && in[1] == both); \
        MPI_Allreduce(out, in, 2, mpi, MPI_BXOR, MPI_COMM_WORLD); \
        CHECK(in[0] == all && in[1] == odd); \
    }

#define INTEGERS(DO) \
    DO(signed char, MPI_SIGNED_CHAR); \
    DO(unsigned char, MPI_UNSIGNED_CHAR); \
    DO(short, MPI_SHORT); \
    DO(unsigned short, MPI_UNSIGNED_SHORT); \
    DO(int, MPI_INT); \
    DO(unsigned, MPI_UNSIGNED); \
    DO(long, MPI_LONG); \
    DO(unsigned long, MPI_UNSIGNED_LONG); \
    DO(long long, MPI_LONG_LONG); \
    DO(unsigned long long, MPI_UNSIGNED_LONG_LONG);

#define FIXED(DO) \
    DO(int8_t, MPI_INT8_T); \
    DO(int16_t, MPI_INT16_T); \
    DO(int32_t, MPI_INT32_T); \
    DO(int64_t, MPI_INT64_T); \
    DO(uint8_t, MPI_UINT8_T); \
    DO(uint16_t, MPI_UINT16_T); \
    DO(uint32_t, MPI_UINT32_T); \
    DO(uint64_t, MPI_UINT64_T);

#define REALS(DO) \
    DO(float, MPI_FLOAT); \
    DO(double, MPI_DOUBLE); \
    DO(long double, MPI_LONG_DOUBLE);

CASE(sum_and_product_of_integers) { INTEGERS(ARITHMETIC) }
CASE(sum_and_product_of_fixed_width) { FIXED(ARITHMETIC) }
CASE(sum_and_product_of_reals) { REALS(ARITHMETIC) }

CASE(sum_and_product_of_complex) {
    double complex out = rank + 1 + 2 * I, in, sum = 0, product = 1;
    float complex out_single = out, in_single, sum_single = 0;
    for (int i = 0; i < size; i++) sum += i + 1 + 2 * I, product *= i + 1 + 2 * I, sum_single += i + 1 + 2 * I;
    MPI_Allreduce(&out, &in, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    CHECK(in == sum);
    MPI_Allreduce(&out, &in, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
    CHECK(in == product);
    MPI_Allreduce(&out_single, &in_single, 1, MPI_C_FLOAT_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    CHECK(in_single == sum_single);
}

CASE(sum_of_addresses_and_counts) {
    ARITHMETIC(MPI_Aint, MPI_AINT);
    ARITHMETIC(MPI_Offset, MPI_OFFSET);
    ARITHMETIC(MPI_Count, MPI_COUNT);
}

CASE(extrema_of_integers) { INTEGERS(EXTREMA) }
CASE(extrema_of_fixed_width) { FIXED(EXTREMA) }
CASE(extrema_of_reals) { REALS(EXTREMA) }

CASE(extrema_of_negatives) {
    int out = rank == 1 ? -1 : 1, in;
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(in == 1);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK(in == -1);
    signed char small = rank == 0 ? -100 : 100, smallest;
    MPI_Allreduce(&small, &smallest, 1, MPI_SIGNED_CHAR, MPI_MIN, MPI_COMM_WORLD);
    CHECK(smallest == -100);
}

CASE(extrema_of_large_unsigned) {
    unsigned out = rank == 1 ? ~0u : 1, in;
    MPI_Allreduce(&out, &in, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
    CHECK(in == ~0u);
    MPI_Allreduce(&out, &in, 1, MPI_UNSIGNED, MPI_MIN, MPI_COMM_WORLD);
    CHECK(in == 1);
}

CASE(logical_of_integers) { INTEGERS(LOGICAL) }
CASE(logical_of_fixed_width) { FIXED(LOGICAL) }
CASE(logical_of_bool) { LOGICAL(_Bool, MPI_C_BOOL) }
CASE(bitwise_of_integers) { INTEGERS(BITWISE) }
CASE(bitwise_of_fixed_width) { FIXED(BITWISE) }
CASE(bitwise_of_bytes) { BITWISE(unsigned char, MPI_BYTE) }

#define LOCATED(c, mpi) { \
        struct { c value; int where; } out[2] = {{(c)(rank % 2), rank}, {(c)(10 - rank), rank + 5}}, in[2]; \
        memset(in, 0, sizeof in); \
        MPI_Allreduce(out, in, 2, mpi, MPI_MAXLOC, MPI_COMM_WORLD); \
        CHECK(in[0].value == (c)1 && in[0].where == 1 && in[1].value == (c)10 && in[1].where == 5); \
        MPI_Allreduce(out, in, 2, mpi, MPI_MINLOC, MPI_COMM_WORLD); \
        CHECK(in[0].value == (c)0 && in[0].where == 0 && in[1].value == (c)(11 - size) && in[1].where == size + 4); \
    }

CASE(located_int) { LOCATED(int, MPI_2INT) }
CASE(located_float) { LOCATED(float, MPI_FLOAT_INT) }
CASE(located_double) { LOCATED(double, MPI_DOUBLE_INT) }
CASE(located_long) { LOCATED(long, MPI_LONG_INT) }
CASE(located_short) { LOCATED(short, MPI_SHORT_INT) }
CASE(located_long_double) { LOCATED(long double, MPI_LONG_DOUBLE_INT) }

/* Of equal values the lowest index is taken. */
CASE(located_ties) {
    struct { double value; int where; } out = {3.0, 100 - rank}, in;
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(in.value == 3.0 && in.where == 101 - size);
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(in.where == 101 - size);
}

CASE(commutative) {
    MPI_Op all[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR,
                    MPI_MAXLOC, MPI_MINLOC};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        int flag = 0;
        MPI_Op_commutative(all[i], &flag);
        CHECK(flag);
    }
}
