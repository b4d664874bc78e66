/* ranks: 4 */
/* What C++ programs do around MPI: containers, templates, exceptions, objects with constructors. */
#include "case.h"
#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> struct TypeOf;
template <> struct TypeOf<int> { static MPI_Datatype get() { return MPI_INT; } };
template <> struct TypeOf<double> { static MPI_Datatype get() { return MPI_DOUBLE; } };
template <> struct TypeOf<char> { static MPI_Datatype get() { return MPI_CHAR; } };

template <typename T> std::vector<T> gather_all(const std::vector<T> &mine) {
    int count = static_cast<int>(mine.size());
    std::vector<int> counts(size), places(size);
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
    std::vector<T> all(std::accumulate(counts.begin(), counts.end(), 0));
    MPI_Allgatherv(mine.data(), count, TypeOf<T>::get(), all.data(), counts.data(), places.data(), TypeOf<T>::get(),
                   MPI_COMM_WORLD);
    return all;
}

CASE(vectors) {
    std::vector<double> mine(rank + 1, rank * 0.5), all = gather_all(mine);
    CHECK(static_cast<int>(all.size()) == size * (size + 1) / 2);
    CHECK(all.back() == (size - 1) * 0.5);
}

CASE(strings) {
    std::ostringstream text;
    text << "rank " << rank << ';';
    std::string mine = text.str();
    std::vector<char> all = gather_all(std::vector<char>(mine.begin(), mine.end()));
    CHECK(std::string(all.begin(), all.end()) == "rank 0;rank 1;rank 2;rank 3;");
}

class Communicator {
  public:
    explicit Communicator(MPI_Comm from) { MPI_Comm_dup(from, &comm_); }
    ~Communicator() {
        MPI_Comm_free(&comm_);
        freed++;
    }
    Communicator(const Communicator &) = delete;
    operator MPI_Comm() const { return comm_; }
    static int freed;

  private:
    MPI_Comm comm_;
};
int Communicator::freed = 0;

CASE(destructors) {
    {
        auto comm = std::make_unique<Communicator>(MPI_COMM_WORLD);
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, *comm);
        CHECK(sum == size * (size - 1) / 2);
    }
    CHECK(Communicator::freed == 1);
}

static int depth_reached;

static void throws_at(int depth) {
    Communicator comm(MPI_COMM_SELF);
    MPI_Barrier(comm);
    if (depth == 0) throw std::runtime_error("rank " + std::to_string(rank));
    depth_reached++;
    throws_at(depth - 1);
}

CASE(exceptions) {
    Communicator::freed = 0;
    depth_reached = 0;
    bool caught = false;
    try {
        throws_at(rank + 2);
    } catch (const std::exception &error) {
        caught = error.what() == "rank " + std::to_string(rank);
    }
    CHECK(caught && depth_reached == rank + 2 && Communicator::freed == rank + 3);
}

/* An exception under way on one rank while others communicate. */
CASE(exceptions_between_messages) {
    for (int round = 0; round < 5; round++) {
        int out = rank, in = -1;
        try {
            MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if ((round + rank) % 2) throw in;
        } catch (int value) {
            MPI_Barrier(MPI_COMM_SELF);
            CHECK(value == (rank + size - 1) % size && std::uncaught_exceptions() == 0);
        }
        try {
            try {
                MPI_Barrier(MPI_COMM_WORLD);
                throw std::out_of_range("inner");
            } catch (...) {
                MPI_Barrier(MPI_COMM_WORLD);
                throw;
            }
        } catch (const std::out_of_range &error) {
            CHECK(std::string(error.what()) == "inner");
        }
    }
}

struct Body {
    std::array<double, 3> place, speed;
    double mass;
};

CASE(structures) {
    std::vector<Body> bodies(10);
    if (rank == 0)
        for (int i = 0; i < 10; i++) bodies[i] = {{i * 1.0, i * 2.0, i * 3.0}, {0.5, 0.25, 0.125}, 1.0 + i};
    MPI_Bcast(bodies.data(), static_cast<int>(bodies.size() * sizeof(Body)), MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(bodies[9].place[2] == 27.0 && bodies[9].mass == 10.0 && bodies[0].speed[2] == 0.125);
}

CASE(complex_numbers) {
    std::complex<double> mine(rank, 1), sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == std::complex<double>(size * (size - 1) / 2, size));
    bool every = rank < 2, any = false;
    MPI_Allreduce(&every, &any, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
    CHECK(any);
}

CASE(maps_and_sort) {
    std::map<std::string, int> counts;
    for (int i = 0; i <= rank; i++) counts["key" + std::to_string(i)] += rank;
    std::vector<int> values;
    for (auto &[key, value] : counts) values.push_back(value);
    auto all = gather_all(values);
    std::sort(all.begin(), all.end(), std::greater<int>());
    CHECK(all.front() == size - 1 && all.back() == 0);
    CHECK(std::accumulate(all.begin(), all.end(), 0) == 1 * 2 + 2 * 3 + 3 * 4);
}

/* A lambda without captures is a function for MPI. */
CASE(lambda_as_operation) {
    MPI_Op op;
    MPI_Op_create(
        [](void *in, void *inout, int *length, MPI_Datatype *) {
            for (int i = 0; i < *length; i++) static_cast<int *>(inout)[i] |= static_cast<int *>(in)[i];
        },
        1, &op);
    int mine = 1 << rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(all == (1 << size) - 1);
    MPI_Op_free(&op);
}

struct Shape {
    virtual ~Shape() = default;
    virtual int corners() const = 0;
};
struct Triangle : Shape {
    int corners() const override { return 3; }
};
struct Square : Shape {
    int corners() const override { return 4; }
};

CASE(virtual_functions) {
    std::unique_ptr<Shape> shape;
    if (rank % 2) shape = std::make_unique<Square>();
    else shape = std::make_unique<Triangle>();
    int corners = shape->corners(), sum = 0;
    MPI_Allreduce(&corners, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 14);
    CHECK((dynamic_cast<Square *>(shape.get()) != nullptr) == (rank % 2 == 1));
}
