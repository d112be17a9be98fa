/* The sweeps of SideBySide in chains.py in C, for WebAssembly: the same sums in the same order, so the same
   bytes.

   kernel.py says what the tables hold. A change here needs the same change in chains.py; the tests compare
   them. Build, in the root of the checkout:  python docs/make_kernel.py

   Tables lie in the memory of the module, each given by its place and shape. Chains are swept one after the
   other, and each group completely, so that what a group needs stays in the processor's first cache. Values
   and rows are given as places in bytes, and what is swapped is chosen without a branch, as half of all pairs
   swap. */

#include <stdint.h>

typedef int32_t i32;
typedef int64_t i64;
typedef struct { void *at; i32 rows, width; } table;

typedef struct {
    table kind, kinds, groups, values, bins, parts, joint, held, chances, counts, ranks, sums, drawn, current,
        expected, expected_sums, expected_squares;
} world;

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define LEAST 1e-148

enum { LOCAL, BINS };
enum { START, NUMBER, VALUES, ENTRY, ENTRIES };
enum { END, WIDTH };

INLINE i32 *i32s(table t, i64 row) { return (i32 *)t.at + row * t.width; }
INLINE double *reals(table t, i64 row) { return (double *)t.at + row * t.width; }
INLINE i64 bits(double x) { union { double x; i64 bits; } both = { x }; return both.bits; }
INLINE double real(i64 bits) { union { i64 bits; double x; } both = { bits }; return both.x; }

/* Numbers at places in bytes. */
#define REAL(at, bytes) (*(double *)((char *)(at) + (bytes)))
#define CODE(at, bytes) (*(i32 *)((char *)(at) + (bytes)))

/* Multiply how likely the features of each bin are given each value. */
static void join(const world *w, i32 chain) {
    const double *chances = reals(w->chances, chain);
    i32 secrets = w->joint.width, row = 0;
    for (i32 bin = 0; bin < w->bins.rows; bin++) {
        i32 width = i32s(w->bins, bin)[WIDTH];
        for (i32 end = i32s(w->bins, bin)[END]; row < end; row++) {
            double *restrict product = reals(w->joint, row);
            const i32 *parts = i32s(w->parts, row);
            for (i32 value = 0; value < secrets; value++) product[value] = chances[parts[0] + value];
            for (i32 part = 1; part < width; part++) {
                const double *restrict its = chances + parts[part];
                for (i32 value = 0; value < secrets; value++) product[value] *= its[value];
            }
        }
    }
}

/* The records of a group, in a chain. */
typedef struct {
    i32 size, bins;
    const i32 *kind;
    const void *kinds, *values, *joint;
    i32 *ranks;
    i64 *current;
} group;

INLINE const i32 *kind_of(const group *own, i32 record) { return &CODE(own->kinds, own->kind[record]); }

INLINE double likelihood(const group *own, const i32 *kind, i32 rank) {
    i32 value = CODE(own->values, rank);
    double product = REAL(own->joint, kind[BINS] + value);
    for (i32 bin = 1; bin < own->bins; bin++) product *= REAL(own->joint, kind[BINS + bin] + value);
    return product > LEAST ? product : LEAST;
}

/* Let the pairs of a group swap, and return their number: those whose positions add up to the sum, then those
   that add up to the sum and the size, so that the first records of pairs ascend. With a place for them, the
   expected records of each entry are added there. */
INLINE i32 swap(const group *own, i32 sum, const double *drawn, void *expected) {
    i32 pair = 0;
    for (i32 turn = 0; turn < 2; turn++) {
        i32 one = turn ? sum + 1 : 0, other = turn ? own->size - 1 : sum;
        for (; one < other; one++, other--, pair++) {
            i32 first = own->ranks[one], second = own->ranks[other];
            const i32 *its = kind_of(own, one), *others = kind_of(own, other);
            if (first == second) {
                if (expected) {
                    REAL(expected, its[LOCAL] + 2 * first) += 1;
                    REAL(expected, others[LOCAL] + 2 * first) += 1;
                }
                continue;
            }
            double to_one = likelihood(own, its, second), to_other = likelihood(own, others, first);
            double swapped = to_one * to_other;
            double chance = swapped / (swapped + real(own->current[one]) * real(own->current[other]));
            if (expected) {
                double stay = 1 - chance;
                REAL(expected, its[LOCAL] + 2 * first) += stay;
                REAL(expected, its[LOCAL] + 2 * second) += chance;
                REAL(expected, others[LOCAL] + 2 * second) += stay;
                REAL(expected, others[LOCAL] + 2 * first) += chance;
            }
            i32 swaps = drawn[pair] < chance;
            own->ranks[one] = swaps ? second : first;
            own->ranks[other] = swaps ? first : second;
            own->current[one] = swaps ? bits(to_one) : own->current[one];
            own->current[other] = swaps ? bits(to_other) : own->current[other];
        }
    }
    /* Records whose partners would be themselves. */
    if (expected)
        for (i32 twice = sum; twice < 2 * own->size; twice += own->size)
            if (twice % 2 == 0)
                REAL(expected, kind_of(own, twice / 2)[LOCAL] + 2 * own->ranks[twice / 2]) += 1;
    return pair;
}

static void sum_up(i32 entries, double *restrict expected, double *restrict sums, double *restrict squares) {
    for (i32 entry = 0; entry < entries; entry++) {
        double its = expected[entry];
        expected[entry] = 0;
        sums[entry] += its;
        squares[entry] += its * its;
    }
}

INLINE void count(const group *own, void *held) {
    for (i32 record = 0; record < own->size; record++) {
        const i32 *its = kind_of(own, record);
        i32 value = CODE(own->values, own->ranks[record]);
        for (i32 bin = 0; bin < own->bins; bin++) CODE(held, (its[BINS + bin] + value) >> 1)++;
    }
}

/* Count the records with each feature from those with the features of each bin. */
static void spread(const world *w, i32 chain) {
    i32 *restrict counts = i32s(w->counts, chain), secrets = w->joint.width, row = 0;
    for (i32 cell = 0; cell < w->counts.width; cell++) counts[cell] = 0;
    for (i32 bin = 0; bin < w->bins.rows; bin++) {
        i32 width = i32s(w->bins, bin)[WIDTH];
        for (i32 end = i32s(w->bins, bin)[END]; row < end; row++) {
            i32 *restrict held = (i32 *)w->held.at + row * secrets;
            for (i32 part = 0; part < width; part++) {
                i32 *restrict its = counts + i32s(w->parts, row)[part];
                for (i32 value = 0; value < secrets; value++) its[value] += held[value];
            }
            for (i32 value = 0; value < secrets; value++) held[value] = 0;
        }
    }
}

/* The last round is that of the expected records. */
INLINE void sweep_chain(const world *w, i32 chain, i32 rounds, i32 bins) {
    const i32 *sums = i32s(w->sums, (i64)chain * rounds), *last_sums = sums + (rounds - 1) * w->sums.width;
    const double *drawn = reals(w->drawn, (i64)chain * rounds), *last = drawn + (rounds - 1) * w->drawn.width;
    double *found = reals(w->expected_sums, chain), *squares = reals(w->expected_squares, chain);
    for (i32 g = 0; g < w->groups.rows; g++) {
        const i32 *its = i32s(w->groups, g);
        group own = {
            its[NUMBER], bins, (i32 *)w->kind.at + its[START], w->kinds.at, (i32 *)w->values.at + its[VALUES],
            w->joint.at, i32s(w->ranks, chain) + its[START], w->current.at,
        };
        if (rounds) {
            for (i32 record = 0; record < own.size; record++)
                own.current[record] = bits(likelihood(&own, kind_of(&own, record), own.ranks[record]));
            if (rounds > 1) drawn += swap(&own, sums[g], drawn, 0);
            last += swap(&own, last_sums[g], last, w->expected.at);
            sum_up(its[ENTRIES], w->expected.at, found + its[ENTRY], squares + its[ENTRY]);
        }
        count(&own, w->held.at);
    }
}

EXPORT(sweep)
void sweep(const world *w, i32 rounds) {
    i32 bins = w->kinds.width - BINS;
    for (i32 chain = 0; chain < w->ranks.rows; chain++) {
        join(w, chain);
        /* With a number that the compiler knows, loops over bins are unrolled. */
        if (bins == 1) sweep_chain(w, chain, rounds, 1);
        else if (bins == 2) sweep_chain(w, chain, rounds, 2);
        else if (bins == 3) sweep_chain(w, chain, rounds, 3);
        else if (bins == 4) sweep_chain(w, chain, rounds, 4);
        else sweep_chain(w, chain, rounds, bins);
        spread(w, chain);
    }
}

EXPORT(checksum)
i64 checksum(void) { return CHECKSUM; }
