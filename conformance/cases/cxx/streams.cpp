/* ranks: 3 */
/* Output through iostream before, between and after MPI, and objects that live beyond main. */
#include <mpi.h>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>

static int rank_of_this = -1;

struct Farewell {
    ~Farewell() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (rank_of_this == 0)
            std::cout << "goodbye, " << (finalized ? "after" : "before") << " MPI_Finalize" << std::endl;
    }
} farewell;

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank_of_this == 0) std::cout << "ranks: " << size << '\n';
    std::mt19937 generator(42 + rank_of_this);
    unsigned mine = generator() % 1000, all[8];
    MPI_Gather(&mine, 1, MPI_UNSIGNED, all, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (rank_of_this == 0) {
        std::cout << "numbers:";
        for (int i = 0; i < size; i++) std::cout << ' ' << all[i];
        std::cout << std::endl;
        std::ostringstream text;
        text << std::fixed << std::setprecision(4) << std::sqrt(2.0) << ' ' << std::hex << 255;
        std::cout << text.str() << std::endl;
    }
    /* Each in its turn, all to rank 0. */
    for (int turn = 1; turn < size; turn++) {
        std::string line;
        int length;
        if (rank_of_this == turn) {
            line = "line of rank " + std::to_string(turn);
            length = static_cast<int>(line.size());
            MPI_Send(&length, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Send(line.data(), length, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        } else if (rank_of_this == 0) {
            MPI_Recv(&length, 1, MPI_INT, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            line.resize(length);
            MPI_Recv(&line[0], length, MPI_CHAR, turn, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            std::cout << line << std::endl;
        }
    }
    MPI_Finalize();
    return 0;
}
