! A check that knows its line.
#define CHECK(CONDITION) call check(CONDITION, __LINE__)
