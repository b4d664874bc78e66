/* ranks: 4 */
/* Bodies that attract each other; copies of all go round a ring. */
#include <mpi.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

struct Body {
    double x, y, vx, vy, mass;
};

static int rank, size;

/* Adds what `others` do to `mine`. */
static void attract(const std::vector<Body> &mine, const std::vector<Body> &others,
                    std::vector<std::array<double, 2>> &force) {
    for (size_t i = 0; i < mine.size(); i++)
        for (const Body &other : others) {
            double dx = other.x - mine[i].x, dy = other.y - mine[i].y, r2 = dx * dx + dy * dy + 0.01;
            double pull = other.mass / (r2 * std::sqrt(r2));
            force[i][0] += pull * dx;
            force[i][1] += pull * dy;
        }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype body;
    MPI_Type_contiguous(5, MPI_DOUBLE, &body);
    MPI_Type_commit(&body);
    const int each = 10, n = each * size;
    std::vector<Body> mine(each);
    for (int i = 0; i < each; i++) {
        double angle = 6.283185307179586 * (rank * each + i) / n, radius = 1 + 0.1 * (i % 3);
        mine[i] = {radius * std::cos(angle), radius * std::sin(angle), -0.3 * std::sin(angle),
                   0.3 * std::cos(angle), 1.0 / n};
    }
    for (int step = 0; step < 20; step++) {
        std::vector<std::array<double, 2>> force(each);
        std::vector<Body> visitors = mine;
        for (int shift = 0; shift < size; shift++) {
            attract(mine, visitors, force);
            MPI_Sendrecv_replace(visitors.data(), each, body, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < each; i++) {
            mine[i].vx += 0.01 * force[i][0];
            mine[i].vy += 0.01 * force[i][1];
            mine[i].x += 0.01 * mine[i].vx;
            mine[i].y += 0.01 * mine[i].vy;
        }
    }
    double sums[3] = {0, 0, 0}, totals[3];
    for (const Body &b : mine) {
        sums[0] += b.mass * b.x;
        sums[1] += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy);
        sums[2] += b.mass * (b.x * b.vy - b.y * b.vx);
    }
    MPI_Reduce(sums, totals, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("centre %.6f, energy of motion %.6f, angular momentum %.6f\n", std::abs(totals[0]), totals[1],
                    totals[2]);
    MPI_Type_free(&body);
    MPI_Finalize();
    return 0;
}
