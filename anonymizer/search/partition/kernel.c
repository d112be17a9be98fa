/* The moves of kernel.py in C, for WebAssembly: the same numbers in the same order, so the same bytes.

   kernel.py says what each function does. A change here needs the same change there; the tests compare them.
   Build, in the root of the checkout:  python docs/make_kernel.py

   Tables lie in the memory of the module, each given by its place and shape. */

#include <stdint.h>

typedef int32_t i32;
typedef int64_t i64;
typedef struct { void *at; i32 rows, width; } table;
typedef struct { i32 value, unused, none; } number;

typedef struct { table records, classes, labels, kept, counts, rows, near, forest, journal; } world;
typedef struct {
    number smallest, units;
    table begin, caps, floors, required, distinct, dominances, entropies, logarithms, deviations, group_of,
        parent, share, work, counted;
} limits;

#define EXPORT(name) __attribute__((export_name(#name)))
#define ONE (1LL << 32)
#define REJECTED (1LL << 62)
#define GONE 0
#define CLOSE 1e-9
#define FEW 16

enum { CLASS, AFTER, BEFORE, ROW, UNIT, VALUES };
enum { HEAD, SIZE, UNITS, PRICE, MARK, FREE };
enum { FIRST, LAST, PARENT, COST };
enum { RECORD, SOURCE, TOUCHED, OLD_PRICE, OLD_SIZE };
enum { MOVED, CHANGED, STAMP, EMPTY };

static inline i32 *i32s(table t, i64 row) { return (i32 *)t.at + row * t.width; }
static inline i64 *i64s(table t, i64 row) { return (i64 *)t.at + row * t.width; }
static inline double *reals(table t, i64 row) { return (double *)t.at + row * t.width; }

/* Conditions on the sensitive values of a class. */

static double dominance(const limits *l, i64 which, const i32 *counts) {
    const double *rule = reals(l->dominances, which);
    i64 attribute = (i64)rule[0], rank = (i64)rule[2];
    i64 begin = i64s(l->begin, attribute)[0], end = i64s(l->begin, attribute + 1)[0];
    i64 rare = 0, largest = 0, taken = 0, least = -1;
    for (i64 v = begin; v < end; v++) rare += counts[v];
    while (taken < rank - 1) {
        i64 best = 0, ties = 0;
        for (i64 v = begin; v < end; v++) {
            i64 count = counts[v];
            if (least < 0 || count < least) {
                if (count > best) best = count, ties = 1;
                else if (count == best) ties++;
            }
        }
        if (best == 0) break;
        if (largest == 0) largest = best;
        i64 used = ties < rank - 1 - taken ? ties : rank - 1 - taken;
        rare -= used * best;
        taken += used;
        least = best;
    }
    if (largest == 0)
        for (i64 v = begin; v < end; v++)
            if (counts[v] > largest) largest = counts[v];
    double over = largest - rule[1] * rare;
    return over > -CLOSE ? over + 2 * CLOSE : 0.0;
}

static double deviation(const limits *l, i64 which, const i32 *counts, i64 size) {
    const double *rule = reals(l->deviations, which);
    i64 attribute = (i64)rule[0], low = (i64)rule[1], high = (i64)rule[2];
    const i64 *group_of = i64s(l->group_of, which);
    i64 *work = l->work.at;
    const i64 *parent = l->parent.at;
    const double *share = l->share.at;
    for (i64 g = low; g < high; g++) work[g] = 0;
    for (i64 v = i64s(l->begin, attribute)[0]; v < i64s(l->begin, attribute + 1)[0]; v++)
        if (group_of[v] >= 0) work[group_of[v]] += counts[v];
    double distance = 0.0;
    for (i64 g = low; g < high; g++) {
        if (parent[g] >= 0) work[parent[g]] += work[g];
        distance += __builtin_fabs(work[g] - size * share[g]);
    }
    double over = distance - rule[3] * size;
    return over > CLOSE * size ? over / 2 : 0.0;
}

static double excess(const limits *l, const i32 *counts, i64 values, i64 size) {
    const double *caps = l->caps.at, *floors = l->floors.at, *logarithms = l->logarithms.at;
    const uint8_t *required = l->required.at;
    double over = 0.0;
    for (i64 v = 0; v < values; v++) {
        i64 count = counts[v];
        if (count > 0) {
            double above = count - caps[v] * size;
            if (above > CLOSE) over += above;
            double below = floors[v] * size - count;
            if (below > CLOSE) over += below;
        } else if (required[v]) {
            double asked = floors[v] * size;
            over += asked > 1.0 ? asked : 1.0;
        }
    }
    for (i64 which = 0; which < l->distinct.rows; which++) {
        const i64 *rule = i64s(l->distinct, which);
        i64 lacking = rule[1];
        for (i64 v = i64s(l->begin, rule[0])[0]; v < i64s(l->begin, rule[0] + 1)[0]; v++)
            if (counts[v] > 0 && v != rule[2]) lacking--;
        if (lacking > 0) over += lacking;
    }
    for (i64 which = 0; which < l->dominances.rows; which++) over += dominance(l, which, counts);
    for (i64 which = 0; which < l->entropies.rows; which++) {
        const double *rule = reals(l->entropies, which);
        i64 attribute = (i64)rule[0];
        double lacking = rule[1] * size - logarithms[size];
        for (i64 v = i64s(l->begin, attribute)[0]; v < i64s(l->begin, attribute + 1)[0]; v++)
            lacking += logarithms[counts[v]];
        if (lacking > CLOSE * size) over += lacking;
    }
    for (i64 which = 0; which < l->deviations.rows; which++) over += deviation(l, which, counts, size);
    return over;
}

/* Classes and their labels. */

static inline i64 joined(table forest, i64 own, i64 first, i64 last) {
    while (own >= 0) {
        const i64 *node = i64s(forest, own);
        if (node[FIRST] <= first && node[LAST] >= last) break;
        own = node[PARENT];
    }
    return own;
}

static i64 joined_price(const world *w, i64 own, i64 row) {
    if (own == GONE) return ONE;
    const i32 *label = i32s(w->labels, own), *nodes = i32s(w->rows, row);
    i64 total = 0;
    for (i64 place = 0; place < w->rows.width; place++) {
        const i64 *other = i64s(w->forest, nodes[place]);
        i64 node = joined(w->forest, label[place], other[FIRST], other[LAST]);
        if (node < 0) return -1;
        total += i64s(w->forest, node)[COST];
    }
    return total;
}

static int grow(const world *w, i64 own, i64 row) {
    if (own == GONE) return 1;
    i32 *label = i32s(w->labels, own);
    const i32 *nodes = i32s(w->rows, row);
    i64 total = 0;
    for (i64 place = 0; place < w->rows.width; place++) {
        const i64 *other = i64s(w->forest, nodes[place]);
        i64 node = joined(w->forest, label[place], other[FIRST], other[LAST]);
        if (node < 0) return 0;
        label[place] = (i32)node;
        total += i64s(w->forest, node)[COST];
    }
    i64s(w->classes, own)[PRICE] = total;
    return 1;
}

static int same(const world *w, i64 own, i64 other) {
    if (i64s(w->classes, own)[PRICE] != i64s(w->classes, other)[PRICE]) return 0;
    for (i64 place = 0; place < w->rows.width; place++)
        if (i32s(w->labels, own)[place] != i32s(w->labels, other)[place]) return 0;
    return 1;
}

static i64 publish(const world *w, i64 own, i64 leaving, i64 target) {
    if (own == GONE) return ONE;
    i64 record = i64s(w->classes, own)[HEAD];
    if (record == leaving) record = i32s(w->records, record)[AFTER];
    const i32 *nodes = i32s(w->rows, i32s(w->records, record)[ROW]);
    i32 *label = i32s(w->labels, target);
    i64 total = 0;
    for (i64 place = 0; place < w->rows.width; place++) {
        label[place] = nodes[place];
        total += i64s(w->forest, nodes[place])[COST];
    }
    i64s(w->classes, target)[PRICE] = total;
    record = i32s(w->records, record)[AFTER];
    while (record >= 0) {
        if (record != leaving) {
            if (!grow(w, target, i32s(w->records, record)[ROW])) return -1;
            if (own != target && same(w, own, target)) break;
        }
        record = i32s(w->records, record)[AFTER];
    }
    return i64s(w->classes, target)[PRICE];
}

static i64 alone(const world *w, i64 record, i64 own) {
    i32 unit = i32s(w->records, record)[UNIT];
    if (unit >= 0)
        for (i64 other = i64s(w->classes, own)[HEAD]; other >= 0; other = i32s(w->records, other)[AFTER])
            if (i32s(w->records, other)[UNIT] == unit) return 0;
    return 1;
}

static void link(const world *w, i64 record, i64 own) {
    i64 *class = i64s(w->classes, own);
    i32 *its = i32s(w->records, record);
    if (own != GONE) class[UNITS] += alone(w, record, own);
    its[AFTER] = (i32)class[HEAD];
    its[BEFORE] = -1;
    if (class[HEAD] >= 0) i32s(w->records, class[HEAD])[BEFORE] = (i32)record;
    class[HEAD] = record;
    its[CLASS] = (i32)own;
    class[SIZE]++;
    for (i64 place = VALUES; place < w->records.width; place++) i32s(w->counts, own)[its[place]]++;
}

static void unlink_(const world *w, i64 record) {
    i32 *its = i32s(w->records, record);
    i64 own = its[CLASS], *class = i64s(w->classes, own);
    if (its[BEFORE] >= 0) i32s(w->records, its[BEFORE])[AFTER] = its[AFTER];
    else class[HEAD] = its[AFTER];
    if (its[AFTER] >= 0) i32s(w->records, its[AFTER])[BEFORE] = its[BEFORE];
    class[SIZE]--;
    for (i64 place = VALUES; place < w->records.width; place++) i32s(w->counts, own)[its[place]]--;
    if (own != GONE) class[UNITS] -= alone(w, record, own);
}

/* What a proposal has done, so that it can be taken back. */

static void touch(const world *w, i64 own) {
    i64 *journal = w->journal.at, *class = i64s(w->classes, own);
    if (class[MARK] == journal[STAMP]) return;
    class[MARK] = journal[STAMP];
    i64 place = ++journal[CHANGED], *entry = i64s(w->journal, place);
    entry[TOUCHED] = own;
    entry[OLD_PRICE] = class[PRICE];
    entry[OLD_SIZE] = class[SIZE];
    for (i64 at = 0; at < w->rows.width; at++) i32s(w->kept, place)[at] = i32s(w->labels, own)[at];
}

static void start(const world *w) {
    i64 *journal = w->journal.at;
    journal[MOVED] = journal[CHANGED] = 0;
    journal[STAMP]++;
}

static void move(const world *w, i64 record, i64 target) {
    i64 own = i32s(w->records, record)[CLASS], *journal = w->journal.at;
    touch(w, own);
    touch(w, target);
    i64 *entry = i64s(w->journal, ++journal[MOVED]);
    entry[RECORD] = record;
    entry[SOURCE] = own;
    unlink_(w, record);
    link(w, record, target);
}

static void undo(const world *w) {
    i64 *journal = w->journal.at;
    for (i64 place = journal[MOVED]; place > 0; place--) {
        i64 *entry = i64s(w->journal, place);
        unlink_(w, entry[RECORD]);
        link(w, entry[RECORD], entry[SOURCE]);
    }
    for (i64 place = 1; place <= journal[CHANGED]; place++) {
        i64 *entry = i64s(w->journal, place);
        i64s(w->classes, entry[TOUCHED])[PRICE] = entry[OLD_PRICE];
        for (i64 at = 0; at < w->rows.width; at++)
            i32s(w->labels, entry[TOUCHED])[at] = i32s(w->kept, place)[at];
    }
}

static i64 risen(const world *w) {
    i64 total = 0, *journal = w->journal.at;
    for (i64 place = 1; place <= journal[CHANGED]; place++) {
        i64 *entry = i64s(w->journal, place), *class = i64s(w->classes, entry[TOUCHED]);
        total += class[SIZE] * class[PRICE] - entry[OLD_SIZE] * entry[OLD_PRICE];
    }
    return total;
}

static void relabel(const world *w, i64 own, i64 source, i64 price) {
    if (own == GONE) return;
    for (i64 at = 0; at < w->rows.width; at++) i32s(w->labels, own)[at] = i32s(w->labels, source)[at];
    i64s(w->classes, own)[PRICE] = price;
}

static int tight(const world *w, const limits *l, i64 own) {
    if (own == GONE) return 0;
    const i64 *class = i64s(w->classes, own);
    return class[SIZE] <= l->smallest.value || class[UNITS] <= l->units.value;
}

static int valid(const world *w, const limits *l, i64 most) {
    if (i64s(w->classes, GONE)[SIZE] > most) return 0;
    for (i64 place = 1; place <= ((i64 *)w->journal.at)[CHANGED]; place++) {
        i64 own = i64s(w->journal, place)[TOUCHED], *class = i64s(w->classes, own);
        if (own == GONE || class[SIZE] == 0) continue;
        if (class[SIZE] < l->smallest.value || class[UNITS] < l->units.value) return 0;
        if (w->counts.width && excess(l, i32s(w->counts, own), w->counts.width, class[SIZE]) > 0.0) return 0;
    }
    return 1;
}

/* Moves. */

static i64 relocate(const world *w, i64 record, i64 target, double heat) {
    i64 source = i32s(w->records, record)[CLASS], row = i32s(w->records, record)[ROW];
    const i64 *from = i64s(w->classes, source), *to = i64s(w->classes, target);
    i64 after = joined_price(w, target, row);
    if (after < 0) return REJECTED;
    i64 rise = (to[SIZE] + 1) * after - to[SIZE] * to[PRICE];
    if (rise - from[SIZE] * from[PRICE] > heat) return REJECTED;
    i64 scratch = w->classes.rows - 1, left = publish(w, source, record, scratch);
    rise += (from[SIZE] - 1) * left - from[SIZE] * from[PRICE];
    if (rise > heat) return REJECTED;
    start(w);
    move(w, record, target);
    relabel(w, source, scratch, left);
    grow(w, target, row);
    return rise;
}

static i64 swap(const world *w, i64 record, i64 other, double heat) {
    i64 own = i32s(w->records, record)[CLASS], its = i32s(w->records, other)[CLASS];
    i64 row = i32s(w->records, record)[ROW], its_row = i32s(w->records, other)[ROW];
    i64 one = w->classes.rows - 1, two = w->classes.rows - 2, price = ONE, its_price = ONE;
    const i64 *class = i64s(w->classes, own), *its_class = i64s(w->classes, its);
    if (own != GONE) {
        publish(w, own, record, one);
        if (!grow(w, one, its_row)) return REJECTED;
        price = i64s(w->classes, one)[PRICE];
    }
    i64 rise = class[SIZE] * (price - class[PRICE]);
    if (rise - its_class[SIZE] * its_class[PRICE] > heat) return REJECTED;
    if (its != GONE) {
        publish(w, its, other, two);
        if (!grow(w, two, row)) return REJECTED;
        its_price = i64s(w->classes, two)[PRICE];
    }
    rise += its_class[SIZE] * (its_price - its_class[PRICE]);
    if (rise > heat) return REJECTED;
    start(w);
    move(w, record, its);
    move(w, other, own);
    relabel(w, own, one, price);
    relabel(w, its, two, its_price);
    return rise;
}

static i64 chain(const world *w, i64 record, i64 target, i64 third, double heat) {
    i64 own = i32s(w->records, record)[CLASS], its = i32s(w->records, third)[CLASS];
    i64 row = i32s(w->records, record)[ROW], its_row = i32s(w->records, third)[ROW];
    i64 one = w->classes.rows - 1, two = w->classes.rows - 2;
    const i64 *class = i64s(w->classes, own), *its_class = i64s(w->classes, its);
    const i64 *to = i64s(w->classes, target);
    i64 after = joined_price(w, target, row);
    if (after < 0) return REJECTED;
    i64 rise = (to[SIZE] + 1) * after - to[SIZE] * to[PRICE];
    if (rise - class[SIZE] * class[PRICE] - its_class[SIZE] * its_class[PRICE] > heat) return REJECTED;
    i64 price = ONE;
    if (own != GONE) {
        publish(w, own, record, one);
        if (!grow(w, one, its_row)) return REJECTED;
        price = i64s(w->classes, one)[PRICE];
    }
    rise += class[SIZE] * (price - class[PRICE]);
    if (rise - its_class[SIZE] * its_class[PRICE] > heat) return REJECTED;
    i64 its_price = publish(w, its, third, two);
    rise += (its_class[SIZE] - 1) * its_price - its_class[SIZE] * its_class[PRICE];
    if (rise > heat) return REJECTED;
    start(w);
    move(w, record, target);
    move(w, third, own);
    relabel(w, own, one, price);
    relabel(w, its, two, its_price);
    grow(w, target, row);
    return rise;
}

static i64 dissolve(const world *w, i64 own, i64 room) {
    const i64 *class = i64s(w->classes, own);
    start(w);
    while (class[HEAD] >= 0) {
        i64 record = class[HEAD], row = i32s(w->records, record)[ROW];
        const i32 *near = i32s(w->near, row);
        i64 least = REJECTED, best = -1;
        if (room > 0) least = ONE, best = GONE;
        for (i64 place = 2; place < w->near.width && near[place] >= 0; place++) {
            i64 target = i32s(w->records, i32s(w->near, near[place])[0])[CLASS];
            if (target == own || target == GONE) continue;
            const i64 *to = i64s(w->classes, target);
            i64 price = joined_price(w, target, row);
            i64 rise = (to[SIZE] + 1) * price - to[SIZE] * to[PRICE];
            if (price >= 0 && rise < least) least = rise, best = target;
        }
        if (best < 0) {
            undo(w);
            return REJECTED;
        }
        if (best == GONE) room--;
        move(w, record, best);
        grow(w, best, row);
    }
    return risen(w);
}

static i64 open(const world *w, const limits *l, i64 record) {
    i64 *journal = w->journal.at, own = i64s(w->classes, journal[EMPTY] - 1)[FREE];
    const i64 *class = i64s(w->classes, own);
    i64 row = i32s(w->records, record)[ROW];
    int enough = 0;
    start(w);
    for (i64 place = 1; place < w->near.width; place++) {
        i64 other = place == 1 ? row : i32s(w->near, row)[place];
        if (other < 0 || enough) break;
        for (i64 mate = i32s(w->near, other)[0]; mate < i32s(w->near, other)[1]; mate++) {
            i64 its = i32s(w->records, mate)[CLASS];
            if (enough || its == own || tight(w, l, its)) continue;
            move(w, mate, own);
            if (class[SIZE] >= l->smallest.value && class[UNITS] >= l->units.value)
                enough = !w->counts.width ||
                    excess(l, i32s(w->counts, own), w->counts.width, class[SIZE]) == 0.0;
        }
    }
    int published = enough;
    for (i64 place = 1; place <= journal[CHANGED] && published; place++) {
        i64 changed = i64s(w->journal, place)[TOUCHED];
        published = publish(w, changed, -1, changed) >= 0;
    }
    if (!published) {
        undo(w);
        return REJECTED;
    }
    return risen(w);
}

static i64 near(const world *w, i64 row, double draw) {
    double scaled = (w->near.width - 2) * draw * draw;
    i64 other = i32s(w->near, row)[2 + (i64)scaled];
    if (other < 0) return -1;
    const i32 *its = i32s(w->near, other);
    return its[0] + (i64)((scaled - (i64)scaled) * (its[1] - its[0]));
}

static i64 mate_of(const world *w, i64 source, i64 record, double draw) {
    i64 mate = i64s(w->classes, source)[HEAD];
    i64 size = i64s(w->classes, source)[SIZE];
    for (i64 i = (i64)(draw * (size < FEW ? size : FEW)); i > 0; i--)
        mate = i32s(w->records, mate)[AFTER];
    return mate == record ? i64s(w->classes, source)[HEAD] : mate;
}

static i64 propose(const world *w, const limits *l, const double *draw, double heat, i64 room) {
    i64 record = (i64)(draw[0] * w->records.rows);
    double way = draw[1];
    i64 source = i32s(w->records, record)[CLASS], row = i32s(w->records, record)[ROW];
    const i64 *class = i64s(w->classes, source);
    if (way < 0.0075) {
        if (source == GONE || class[PRICE] == 0 || class[SIZE] > 4 * l->smallest.value * draw[2])
            return REJECTED;
        return dissolve(w, source, room);
    }
    if (way < 0.015) return ((i64 *)w->journal.at)[EMPTY] == 0 ? REJECTED : open(w, l, record);
    int spare = !tight(w, l, source);
    if (way < 0.02) {
        if (source == GONE || room <= 0 || !spare) return REJECTED;
        return relocate(w, record, GONE, heat);
    }
    i64 other;
    if (way < 0.12) {
        const i32 *its = i32s(w->near, row);
        other = its[0] + (i64)(draw[2] * (its[1] - its[0]));
    } else {
        other = near(w, row, draw[2]);
    }
    if (other < 0) return REJECTED;
    i64 target = i32s(w->records, other)[CLASS];
    if (target == source || (class[PRICE] == 0 && !spare)) return REJECTED;
    if (target == GONE && room <= 0) return swap(w, record, other, heat);
    if (spare && (w->counts.width == 0 || draw[4] < 0.5)) return relocate(w, record, target, heat);
    if (draw[3] < 0.5) return swap(w, record, other, heat);
    if (source == GONE) return REJECTED;
    i64 mate = mate_of(w, source, record, 2 * draw[3] - 1);
    i64 third = near(w, i32s(w->records, mate)[ROW], draw[4]);
    if (third < 0) return REJECTED;
    i64 its = i32s(w->records, third)[CLASS];
    if (its == source || its == target || tight(w, l, its)) return REJECTED;
    return chain(w, record, target, third, heat);
}

EXPORT(begin) void begin(const world *w) {
    i64 *journal = w->journal.at;
    for (i64 record = 0; record < w->records.rows; record++)
        link(w, record, i32s(w->records, record)[CLASS]);
    i64s(w->classes, GONE)[PRICE] = ONE;
    for (i64 own = w->classes.rows - 3; own > 0; own--) {
        if (i64s(w->classes, own)[SIZE] > 0) publish(w, own, -1, own);
        else i64s(w->classes, journal[EMPTY]++)[FREE] = own;
    }
}

typedef struct { table uniform, heats; } draws;

EXPORT(anneal) i64 anneal(const world *w, const limits *l, const draws *d, i64 steps, i64 most) {
    i64 fallen = 0, *journal = w->journal.at;
    for (i64 step = 0; step < steps; step++) {
        double heat = *reals(d->heats, step);
        journal[CHANGED] = 0;
        i64 rise = propose(w, l, reals(d->uniform, step), heat, most - i64s(w->classes, GONE)[SIZE]);
        if (rise == REJECTED) continue;
        if (rise > heat || !valid(w, l, most)) {
            undo(w);
            continue;
        }
        fallen -= rise;
        if (journal[EMPTY] > 0) {
            i64 top = i64s(w->classes, journal[EMPTY] - 1)[FREE];
            if (i64s(w->classes, top)[SIZE] > 0) journal[EMPTY]--;
        }
        for (i64 place = 1; place <= journal[CHANGED]; place++) {
            i64 own = i64s(w->journal, place)[TOUCHED];
            if (own != GONE && i64s(w->classes, own)[SIZE] == 0)
                i64s(w->classes, journal[EMPTY]++)[FREE] = own;
        }
    }
    return fallen;
}

/* Merging from below. */

typedef struct { table forest, labels, state, counts, over; } parts;
enum { WEIGHT, EACH, INTO };

static double violation(const parts *p, const limits *l, const i32 *counts, i64 size) {
    i64 lacking = l->smallest.value - size;
    double over = lacking > 0 ? lacking : 0;
    return over + (p->counts.width ? excess(l, counts, p->counts.width, size) : 0.0);
}

static i64 price_of(const parts *p, i64 own) {
    i64 total = 0;
    for (i64 place = 0; place < p->labels.width; place++)
        total += i64s(p->forest, i32s(p->labels, own)[place])[COST];
    return total;
}

EXPORT(weigh) void weigh(const parts *p, const limits *l) {
    double *over = p->over.at;
    for (i64 own = 1; own < p->state.rows; own++) {
        i64s(p->state, own)[EACH] = price_of(p, own);
        over[own] = violation(p, l, i32s(p->counts, own), i64s(p->state, own)[WEIGHT]);
    }
    i64s(p->state, GONE)[EACH] = ONE;
}

static i64 merged_price(const parts *p, i64 own, i64 other) {
    i64 total = 0;
    for (i64 place = 0; place < p->labels.width; place++) {
        const i64 *its = i64s(p->forest, i32s(p->labels, other)[place]);
        i64 node = joined(p->forest, i32s(p->labels, own)[place], its[FIRST], its[LAST]);
        if (node < 0) return -1;
        total += i64s(p->forest, node)[COST];
    }
    return total;
}

static void join(const parts *p, i64 own, i64 other) {
    i64 *class = i64s(p->state, own), *its = i64s(p->state, other);
    class[WEIGHT] += its[WEIGHT];
    for (i64 v = 0; v < p->counts.width; v++) i32s(p->counts, own)[v] += i32s(p->counts, other)[v];
    its[INTO] = own;
    if (own == GONE) return;
    i32 *label = i32s(p->labels, own);
    for (i64 place = 0; place < p->labels.width; place++) {
        const i64 *node = i64s(p->forest, i32s(p->labels, other)[place]);
        label[place] = (i32)joined(p->forest, label[place], node[FIRST], node[LAST]);
    }
    class[EACH] = price_of(p, own);
}

static void merge(const parts *p, const limits *l, i64 own, i64 other) {
    double *over = p->over.at;
    join(p, own, other);
    over[other] = 0.0;
    if (own != GONE) over[own] = violation(p, l, i32s(p->counts, own), i64s(p->state, own)[WEIGHT]);
}

static double powered(double rise, i64 power) {
    double found = rise;
    while (--power > 0) found *= rise;
    return found;
}

static i64 partner_of(const parts *p, const limits *l, i64 own, i64 most, i64 power, i32 *work) {
    const i64 *class = i64s(p->state, own);
    const double *over = p->over.at;
    i64 size = class[WEIGHT], price = class[EACH], best = -1, cheapest = -1, lowest = REJECTED;
    double least = __builtin_inf();
    if (size <= most - i64s(p->state, GONE)[WEIGHT]) {
        double rise = size * (ONE - price);
        best = GONE, least = powered(rise / ONE, power) / over[own];
    }
    for (i64 other = 1; other < p->state.rows; other++) {
        const i64 *its = i64s(p->state, other);
        if (other == own || its[INTO] != other) continue;
        i64 merged = merged_price(p, own, other);
        if (merged < 0) continue;
        i64 rise = (size + its[WEIGHT]) * merged - size * price - its[WEIGHT] * its[EACH];
        if (rise < 1) rise = 1;
        if (rise < lowest) cheapest = other, lowest = rise;
        double before = over[own] + over[other], worth = powered((double)rise / ONE, power);
        if (worth >= least * before) continue;
        for (i64 v = 0; v < p->counts.width; v++)
            work[v] = i32s(p->counts, own)[v] + i32s(p->counts, other)[v];
        double gain = before - violation(p, l, work, size + its[WEIGHT]);
        if (gain > CLOSE && worth < least * gain) best = other, least = worth / gain;
    }
    return best >= 0 ? best : cheapest;
}

EXPORT(repair) i64 repair(const parts *p, const limits *l, i64 steps, i64 most, i64 power) {
    const double *over = p->over.at;
    i64 classes = p->state.rows, left = 0;
    for (i64 step = 0; step < steps; step++) {
        i64 own = -1;
        for (i64 other = 1; other < classes; other++)
            if (i64s(p->state, other)[INTO] == other && over[other] > 0)
                if (own < 0 || i64s(p->state, other)[WEIGHT] < i64s(p->state, own)[WEIGHT]) own = other;
        if (own < 0) return 0;
        i64 partner = partner_of(p, l, own, most, power, (i32 *)l->counted.at);
        if (partner < 0) return -1;
        if (partner == GONE) {
            merge(p, l, GONE, own);
            continue;
        }
        merge(p, l, own, partner);
        for (i64 other = 1; other < classes; other++) {
            if (other == own || i64s(p->state, other)[INTO] != other) continue;
            i64 place = 0;
            while (place < p->labels.width && i32s(p->labels, other)[place] == i32s(p->labels, own)[place])
                place++;
            if (place == p->labels.width) merge(p, l, own, other);
        }
    }
    for (i64 other = 1; other < classes; other++)
        left += i64s(p->state, other)[INTO] == other && over[other] > 0;
    return left;
}

/* Fewer classes. */

typedef struct { table mate, ratio, when; } mates;
static const double LITTLE = 1e-3;
enum { STALE = -1 };

static double largest(const parts *p, i64 own) {
    i64 most = 0;
    for (i64 v = 0; v < p->counts.width; v++)
        if (i32s(p->counts, own)[v] > most) most = i32s(p->counts, own)[v];
    return most;
}

static double ratio_of(const parts *p, i64 own, i64 other, double least) {
    const i64 *class = i64s(p->state, own), *its = i64s(p->state, other);
    const double *top = p->over.at;
    double few = top[own] < top[other] ? top[own] : top[other];
    double bound = p->counts.width ? least * (few + LITTLE) : least;
    i64 whole = class[WEIGHT] + its[WEIGHT], price = class[EACH], most = 0;
    i64 before = class[WEIGHT] * price + its[WEIGHT] * its[EACH];
    for (i64 place = 0; place < p->labels.width; place++) {
        i64 mine = i32s(p->labels, own)[place], yours = i32s(p->labels, other)[place];
        if (mine == yours) continue;
        const i64 *node = i64s(p->forest, yours);
        i64 both = joined(p->forest, mine, node[FIRST], node[LAST]);
        if (both < 0) return __builtin_inf();
        price += i64s(p->forest, both)[COST] - i64s(p->forest, mine)[COST];
        if ((double)(whole * price - before) > bound) return __builtin_inf();
    }
    double rise = whole * price - before;
    if (p->counts.width == 0) return rise;
    for (i64 v = 0; v < p->counts.width; v++) {
        i64 both = i32s(p->counts, own)[v] + i32s(p->counts, other)[v];
        if (both > most) most = both;
    }
    return rise / (top[own] + top[other] - most + LITTLE);
}

static void look(const parts *p, const mates *m, i64 own, i64 window) {
    i64 best = STALE;
    double least = __builtin_inf();
    for (i64 away = 1; away <= window; away++) {
        if (own - away < 1 && own + away >= p->state.rows) break;
        for (i64 other = own - away; other <= own + away; other += 2 * away) {
            if (other < 1 || other >= p->state.rows || i64s(p->state, other)[INTO] != other) continue;
            double found = ratio_of(p, own, other, least);
            if (found < least) best = other, least = found;
        }
    }
    ((i64 *)m->mate.at)[own] = best;
    *reals(m->ratio, own) = least;
}

EXPORT(pair) void pair(const parts *p, const mates *m, i64 first, i64 last, i64 window) {
    double *top = p->over.at;
    if (first == 1)
        for (i64 own = 1; own < p->state.rows; own++) {
            i64s(p->state, own)[EACH] = price_of(p, own);
            top[own] = largest(p, own);
        }
    for (i64 own = first; own < last; own++) look(p, m, own, window);
}

EXPORT(thin) i64 thin(const parts *p, const mates *m, i64 step, i64 steps, i64 window) {
    i64 *mate = m->mate.at, *when = m->when.at, classes = p->state.rows;
    double *ratio = m->ratio.at, *top = p->over.at;
    while (step < steps) {
        i64 own = 0;
        double least = __builtin_inf();
        for (i64 other = 1; other < classes; other++)
            if (ratio[other] < least) own = other, least = ratio[other];
        if (own == 0) return step;
        if (mate[own] == STALE) {
            look(p, m, own, window);
            continue;
        }
        i64 gone = mate[own];
        join(p, own, gone);
        top[own] = largest(p, own);
        when[gone] = step++;
        ratio[gone] = __builtin_inf();
        for (i64 other = 1; other < classes; other++) {
            if (other == own || i64s(p->state, other)[INTO] != other) continue;
            i64 away = other < own ? own - other : other - own;
            int held = mate[other] == own || mate[other] == gone;
            double found = away <= window ? ratio_of(p, other, own, ratio[other]) : __builtin_inf();
            if (found < ratio[other] || (held && found == ratio[other])) mate[other] = own, ratio[other] = found;
            else if (held) mate[other] = STALE;
        }
        look(p, m, own, window);
    }
    return step;
}

typedef struct { table codes, wanted, places, pairs, sizes, near, prices, best; } neighbours;

EXPORT(nearest) void nearest(const neighbours *n, i64 some) {
    const i32 *wanted = n->wanted.at, *places = n->places.at, *sizes = n->sizes.at;
    float *prices = n->prices.at, *best = n->best.at;
    const float infinite = __builtin_inff();
    i64 width = n->near.width, rows = n->prices.rows;
    for (i64 i = 0; i < some; i++) {
        i64 own = wanted[i];
        i32 *near = i32s(n->near, own);
        for (i64 other = 0; other < rows; other++) prices[other] = 0;
        for (i64 attribute = 0; attribute < n->codes.rows; attribute++) {
            const i32 *codes = i32s(n->codes, attribute);
            const float *pairs = (float *)n->pairs.at + places[attribute] + (i64)codes[own] * sizes[attribute];
            for (i64 other = 0; other < rows; other++) prices[other] += pairs[codes[other]];
        }
        prices[own] = infinite;
        for (i64 place = 0; place < width; place++) best[place] = infinite;
        for (i64 other = 0; other < rows; other++) {
            float price = prices[other];
            if (!(price < best[width - 1])) continue;
            i64 place = width - 1;
            for (; place > 0 && best[place - 1] > price; place--) {
                best[place] = best[place - 1];
                near[place] = near[place - 1];
            }
            best[place] = price;
            near[place] = (i32)other;
        }
    }
}

#ifndef CHECKSUM
#define CHECKSUM 0
#endif
EXPORT(checksum) i64 checksum(void) { return CHECKSUM; }
