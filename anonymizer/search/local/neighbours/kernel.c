/* The functions of kernel.py in C, for WebAssembly: the same sums and comparisons of whole numbers, so the same
   bounds.

   kernel.py says what the tables hold. A change here needs the same change there; the tests compare them.
   Build, in the root of the checkout:  python docs/make_kernel.py

   Tables lie in the memory of the module, each given by its place and shape. Costs stand attribute by attribute,
   so that those of all neighbours are added side by side. */

#include <stdint.h>

typedef int32_t i32;
typedef int64_t i64;
typedef struct { i32 *at; i32 rows, width; } table;
typedef struct { table costs, units, found, labels, prices, best; } near;

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define TOO_FEW INT32_MAX

INLINE i32 *row(table t, i64 at) { return t.at + at * t.width; }
INLINE i32 larger(i32 a, i32 b) { return a > b ? a : b; }

/* A record, how many of its neighbours are looked at, and the additions so far. */
typedef struct {
    const near *of;
    const i32 *costs, *units;
    i32 attributes, width, reach, needed;
    i64 added;
} record;

INLINE i32 *labels(record *r, i32 depth) { return row(r->of->labels, depth); }
INLINE i32 *prices(record *r, i32 depth) { return row(r->of->prices, depth); }

/* The price of the record in a class with each neighbour. Four attributes at once, as what is added up is read
   and written each time; not inlined, as it stays a loop over vectors then. */
static __attribute__((noinline)) i32 *priced(record *r, i32 depth) {
    const i32 *own = labels(r, depth);
    i32 *restrict found = prices(r, depth);
    i32 reach = r->reach, a = 0;
    for (i32 j = 0; j < reach; j++) found[j] = 0;
    for (; a + 4 <= r->attributes; a += 4) {
        const i32 *restrict its = r->costs + (i64)a * r->width, *restrict second = its + r->width;
        const i32 *restrict third = second + r->width, *restrict fourth = third + r->width;
        i32 u = own[a], v = own[a + 1], w = own[a + 2], x = own[a + 3];
        for (i32 j = 0; j < reach; j++)
            found[j] += larger(its[j], u) + larger(second[j], v) + larger(third[j], w) + larger(fourth[j], x);
    }
    for (; a < r->attributes; a++) {
        const i32 *restrict its = r->costs + (i64)a * r->width;
        i32 least = own[a];
        for (i32 j = 0; j < reach; j++) found[j] += larger(its[j], least);
    }
    r->added += (i64)reach * r->attributes;
    return found;
}

static void joined(record *r, i32 depth, i32 into, i32 j) {
    const i32 *own = labels(r, depth);
    i32 *made = labels(r, into);
    for (i32 a = 0; a < r->attributes; a++) made[a] = larger(own[a], r->costs[(i64)a * r->width + j]);
}

/* The lowest prices that are known, in order, with their units: as few as have enough. */
typedef struct { i32 *price, *units, number, held, needed, most; } lowest;

static void take(lowest *l, i32 price, i32 units) {
    i32 at = l->number++;
    for (; at && l->price[at - 1] > price; at--) {
        l->price[at] = l->price[at - 1];
        l->units[at] = l->units[at - 1];
    }
    l->price[at] = price;
    l->units[at] = units;
    l->held += units;
    while (l->held - l->units[l->number - 1] >= l->needed) l->held -= l->units[--l->number];
    if (l->held >= l->needed) l->most = l->price[l->number - 1];
}

static i32 least(record *r, i32 depth, i32 most) {
    lowest l = { row(r->of->best, 2 * depth), row(r->of->best, 2 * depth + 1), 0, 0, r->needed, most };
    const i32 *price = priced(r, depth);
    for (i32 j = 0; j < r->reach; j++) {
        i32 its = price[j];
        if (its >= l.most) continue;
        if (depth > 1) {
            joined(r, depth, depth - 1, j);
            its = least(r, depth - 1, l.most);
            if (its >= l.most) continue;
        }
        take(&l, its, r->units[j]);
    }
    return l.most;
}

/* The price of one class that is large enough: the nearest neighbour joins, then the nearest of both, and so on. */
static i32 greedy(record *r) {
    for (;;) {
        const i32 *price = priced(r, 0), *own = labels(r, 0);
        i32 base = 0, units = 0, next = TOO_FEW, at = 0;
        for (i32 a = 0; a < r->attributes; a++) base += own[a];
        for (i32 j = 0; j < r->reach; j++) {
            if (price[j] == base) units += r->units[j];
            else if (price[j] < next) next = price[j], at = j;
        }
        if (units >= r->needed) return base;
        if (next == TOO_FEW) return TOO_FEW;
        joined(r, 0, 0, at);
    }
}

EXPORT(cheapest)
i64 cheapest(const near *of, i32 records, i32 needed, i32 depth) {
    i32 attributes = of->labels.width, width = of->costs.width;
    i64 added = 0;
    for (i32 own = 0; own < records; own++) {
        record r = {
            of, row(of->costs, (i64)own * attributes), row(of->units, own), attributes, width, width, needed, 0,
        };
        for (i32 a = 0; a < attributes; a++) labels(&r, 0)[a] = labels(&r, depth)[a] = r.costs[(i64)a * width];
        i32 most = greedy(&r);
        const i32 *price = priced(&r, depth);
        while (r.reach && price[r.reach - 1] >= most) r.reach--;
        of->found.at[own] = least(&r, depth, most);
        added += r.added;
    }
    return added;
}

EXPORT(checksum)
i64 checksum(void) { return CHECKSUM; }
