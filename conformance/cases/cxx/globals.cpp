/* ranks: 4 */
/* Variables of all kinds belong to one rank alone, though many ranks may live in one process. */
#include "case.h"
#include <string>
#include <vector>

static int plain;
int visible = 100;
static std::vector<int> grown;
static std::string text = "start";
thread_local int of_thread = 7;
thread_local std::vector<int> grown_of_thread;
static const int *pointer = &visible;

/* Order within a file: top to bottom. */
static std::vector<std::string> events;
struct Event {
    explicit Event(const char *name) { events.push_back(name); }
};
static Event first("first");
static int computed = static_cast<int>(events.size()) * 10;
static Event second("second");

template <typename T> struct Counter {
    static int count;
};
template <typename T> int Counter<T>::count = 3;
inline int inlined = 5;

static int next() {
    static int calls = 10;
    static std::vector<int> history;
    history.push_back(++calls);
    return static_cast<int>(history.size());
}

/* All ranks write, then all look: every rank must find its own. */
static void settle() {
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(plain_variables) {
    plain = rank + 1;
    visible += rank;
    settle();
    CHECK(plain == rank + 1 && visible == 100 + rank && *pointer == 100 + rank && pointer == &visible);
}

CASE(objects) {
    for (int i = 0; i <= rank; i++) grown.push_back(i);
    text += std::to_string(rank);
    settle();
    CHECK(static_cast<int>(grown.size()) == rank + 1 && text == "start" + std::to_string(rank));
}

CASE(function_statics) {
    for (int i = 0; i <= rank; i++) {
        CHECK(next() == i + 1);
        settle();
        if (i == rank)
            for (int rest = rank + 1; rest < size; rest++) settle();
    }
}

CASE(thread_locals) {
    CHECK(of_thread == 7);
    of_thread += rank;
    for (int i = 0; i <= rank; i++) grown_of_thread.push_back(i);
    settle();
    CHECK(of_thread == 7 + rank && static_cast<int>(grown_of_thread.size()) == rank + 1);
}

CASE(initialisation_order) {
    CHECK(events.size() == 2 && events[0] == "first" && events[1] == "second" && computed == 10);
}

CASE(template_statics) {
    Counter<int>::count += rank;
    inlined *= rank + 1;
    settle();
    CHECK(Counter<int>::count == 3 + rank && Counter<double>::count == 3 && inlined == 5 * (rank + 1));
}

/* An address taken on one rank is of no use on another, but pointers of a rank stay valid across calls. */
CASE(pointers_stay) {
    int *own = new int(rank * 4), *global = &plain;
    *global = rank + 9;
    for (int i = 0; i < 10; i++) settle();
    CHECK(*own == rank * 4 && plain == rank + 9);
    delete own;
}

static int recursive(int depth) {
    int local[64];
    for (int i = 0; i < 64; i++) local[i] = rank * depth + i;
    settle();
    int below = depth > 0 ? recursive(depth - 1) : 0;
    for (int i = 0; i < 64; i++) CHECK(local[i] == rank * depth + i);
    return below + 1;
}

/* Every rank has a stack of its own, with frames that survive the calls below. */
CASE(stacks) {
    CHECK(recursive(20) == 21);
}
