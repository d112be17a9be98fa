"""Faults that publish what should not be published, or say what is not true: one line of code each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A textual substitution, and the tests that should notice it.

    Attributes
    ----------
    name: what goes wrong.
    file: in the package.
    old, new: a text that the file has once, and what stands there instead.
    tests: files or folders below ``tests``.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


PRIVACY = ("privacy", "conformance/test_privacy.py")
LOSS = ("loss", "conformance/test_loss.py")
AUDIT = ("audit",)
ATTACKS = ("attacks",)

FAULTS = (
    # privacy
    Fault(
        "alpha: equality is refused",
        "privacy/alpha_k_anonymity.py",
        "int(view.sizes[i])) <= alpha",
        "int(view.sizes[i])) < alpha",
        PRIVACY,
    ),
    Fault(
        "alpha: classes below k pass",
        "privacy/alpha_k_anonymity.py",
        "return held & large",
        "return held",
        PRIVACY,
    ),
    Fault(
        "k: one record fewer is enough",
        "privacy/k_anonymity.py",
        "return view.sizes >= self.settings.k",
        "return view.sizes > self.settings.k - 2",
        PRIVACY,
    ),
    Fault(
        "l: one value fewer is enough",
        "privacy/l_diversity.py",
        "return distinct_values(view) >= self.settings.l",
        "return distinct_values(view) > self.settings.l - 2",
        PRIVACY,
    ),
    Fault(
        "entropy: one value passes whatever l is",
        "privacy/entropy_l_diversity.py",
        "np.where(single, self.settings.l <= 1, margins <= 0)",
        "np.where(single, True, margins <= 0)",
        PRIVACY,
    ),
    Fault(
        "recursive: equality passes",
        "privacy/recursive_cl_diversity.py",
        "lambda i: int(largest[i]) < c * int(tail[i])",
        "lambda i: int(largest[i]) <= c * int(tail[i])",
        PRIVACY,
    ),
    Fault(
        "recursive: too few values pass",
        "privacy/recursive_cl_diversity.py",
        "return held & diverse",
        "return held | diverse",
        PRIVACY,
    ),
    Fault(
        "delta: values that become rarer are not judged",
        "privacy/delta_disclosure.py",
        "log_of(ratio).copy_abs() < self.settings.delta",
        "log_of(ratio) < self.settings.delta",
        PRIVACY,
    ),
    Fault(
        "beta: all values have the bound of the rarest",
        "privacy/basic_beta_likeness.py",
        "excess -= bounds.take(counts.values)",
        "excess -= bounds.max()",
        (*PRIVACY, "conformance/test_algorithms.py"),
    ),
    Fault(
        "enhanced beta: the bound of frequent values is left out",
        "privacy/enhanced_beta_likeness.py",
        "return min(Fraction(self.settings.beta), Fraction(log_of(share).copy_negate()))",
        "return Fraction(self.settings.beta)",
        (*PRIVACY, "conformance/test_algorithms.py"),
    ),
    Fault(
        "presence: people without a record are forgotten",
        "privacy/delta_presence.py",
        "if people.absent and low > 0:",
        "if False:",
        (*PRIVACY, "run/test_population.py"),
    ),
    Fault(
        "t: half the distance is measured",
        "privacy/t_closeness.py",
        "return sum((abs(extra) for extra in _extras(entries, reference)), Fraction(0)) / 2",
        "return sum((abs(extra) for extra in _extras(entries, reference)), Fraction(0)) / 4",
        (*PRIVACY, "conformance/test_algorithms.py"),
    ),
    Fault(
        "risk: rounded down before it is compared",
        "privacy/risk.py",
        "return ceil(scale / Fraction(self.settings.max)) if",
        "return int(scale / Fraction(self.settings.max)) if",
        PRIVACY,
    ),
    Fault(
        "risk: records above the share are not all counted",
        "privacy/risk.py",
        "else numbers < ceil(scale / threshold)",
        "else numbers < int(scale / threshold)",
        PRIVACY,
    ),
    Fault(
        "attack constraint: the estimate counts, not the end of its interval",
        "privacy/base.py",
        "return round(max(float(each.high) for each in found), 12)",
        "return round(max(float(each.success) for each in found), 12)",
        ("privacy", "run/test_linkage_risk.py", "run/test_inference_risk.py", "search/test_gate.py"),
    ),
    Fault(
        "linkage risk: an adversary who knows more passes for a covered one",
        "privacy/linkage_risk.py",
        "<= float(own.overlap)",
        ">= float(own.overlap)",
        ("privacy", "run/test_linkage_risk.py", "audit"),
    ),
    Fault(
        "vulnerability: proves too much",
        "privacy/vulnerability.py",
        "return Fraction(1, records) > self.settings.max",
        "return Fraction(1, records) >= self.settings.max",
        (*PRIVACY, "run/test_diagnosis.py"),
    ),
    Fault(
        "population: records without people pass",
        "privacy/population_uniqueness.py",
        "alone = people.scaled <= people.scale",
        "alone = people.scaled < people.scale",
        (*PRIVACY, "run/test_population.py"),
    ),
    Fault(
        "households: the mean in place of the highest risk",
        "privacy/household_risk.py",
        'risks.max() if self.settings.at == "highest" else',
        'risks.max() if self.settings.at != "highest" else',
        (*PRIVACY, "run/test_households.py"),
    ),
    # loss
    Fault(
        "loss: suppressed records cost nothing",
        "loss/base.py",
        "return (lost + int(each[recoding.suppressed].sum())) / int(each.sum())",
        "return lost / int(each.sum())",
        (*LOSS, "run/test_weighted_loss.py"),
    ),
    Fault(
        "loss: sampling weights are ignored",
        "loss/base.py",
        "each, lost = people, float(self.costs(attribute, values) @ own)",
        "lost = float(self.costs(attribute, values) @ own)",
        (*LOSS, "run/test_weighted_loss.py"),
    ),
    Fault(
        "discernibility forgets suppressed records",
        "loss/discernibility.py",
        "return int((released.class_sizes**2).sum()) + released.suppressed * released.records",
        "return int((released.class_sizes**2).sum())",
        LOSS,
    ),
    Fault(
        "leaf share counts the leaf itself",
        "loss/leaf_share.py",
        "return (values.leaves - 1) / others",
        "return values.leaves / (others + 1)",
        LOSS,
    ),
    # search
    Fault(
        "local: one record more is suppressed than the limit allows",
        "search/local/validity.py",
        "if assignment.suppressed > self._problem.limit:",
        "if assignment.suppressed > self._problem.limit + 1:",
        ("search/test_local.py", "conformance/test_algorithms.py"),
    ),
    Fault(
        "local: units that lose a record are not counted",
        "search/local/validity.py",
        "if self._problem.unit_limit is None:",
        "if True:",
        ("search/test_local.py", "search/test_unit_limit.py", "run/test_unit_limit.py"),
    ),
    Fault(
        "lattice: a bound that is reached stays open for nothing else",
        "search/lattice/frontier.py",
        "lowest = float(self.bounds.min(initial=np.inf))",
        "lowest = float(self.bounds.max(initial=-np.inf))",
        ("search/test_lattice.py", "search/test_bound.py", "conformance/test_algorithms.py"),
    ),
    Fault(
        "mondrian: the right part may have fewer units",
        "search/mondrian/regions.py",
        "(parts.running(first) >= self.fewest) & (right >= self.fewest)",
        "parts.running(first) >= self.fewest",
        ("search/test_mondrian.py", "search/test_units.py", "search/test_cutting.py"),
    ),
    Fault(
        "suppressor: records of tied units stay",
        "search/suppression/suppressor.py",
        "(violating if classes.ties is None else classes.ties.joined(violating))",
        "violating",
        ("search/test_units.py", "run/test_units.py", "search/test_records_units.py"),
    ),
    Fault(
        "cells: all cells of a record are suppressed and it stays",
        "search/suppression/cell_problem.py",
        "if self.emptied(problem)[kept].any():",
        "if False:",
        ("search/test_cells.py", "search/test_cells_lattice.py", "conformance/test_algorithms.py"),
    ),
    Fault(
        "cells: the suppression limit is not looked at",
        "search/suppression/cell_problem.py",
        "if int(self.count[self.gone].sum()) > problem.most_gone or self.gone.all():",
        "if self.gone.all():",
        ("search/test_cells.py", "search/test_cells_lattice.py", "conformance/test_algorithms.py"),
    ),
    Fault(
        "proofs of weaker constraints are kept",
        "search/judge.py",
        "return replace(outcome, status=status, bound=None, best_possible=None)",
        "return replace(outcome, status=status)",
        ("search/test_gate.py", "run/test_linkage_risk.py"),
    ),
    Fault(
        "anatomy: groups are allowed one value too many",
        "search/anatomy.py",
        "fits = middle * size <= int(np.minimum(counts, middle).sum())",
        "fits = middle * size <= int(np.minimum(counts, middle + 1).sum())",
        ("search/test_grouping.py", "run/test_anatomy.py"),
    ),
    Fault(
        "microaggregation: clusters of k - 1 remain",
        "search/microaggregation/mdav.py",
        "if own < k:",
        "if own < k - 1:",
        ("search/test_microaggregation.py", "masking"),
    ),
    # model
    Fault(
        "units: a record more is alone",
        "model/units.py",
        "several[keys[self.records > 1]] = True",
        "several[keys[self.records > 2]] = True",
        ("model/test_units.py", "search/test_units.py"),
    ),
    Fault(
        "population: people are rounded down",
        "model/population.py",
        "held: BoolArray = self.scaled >= min(ceil(people * self.scale), LARGEST)",
        "held: BoolArray = self.scaled >= min(int(people * self.scale), LARGEST)",
        ("privacy", "model", "oracles/test_population.py", "run/test_population.py"),
    ),
    Fault(
        "interval: an excluded end is inside",
        "model/table.py",
        "return self.high is None or number < self.high or (self.closed and number == self.high)",
        "return self.high is None or number <= self.high",
        ("model", "attacks", "hierarchy/test_leaves.py", "run/test_number_columns.py"),
    ),
    Fault(
        "recoding: kept suppressed records show their values",
        "model/recoding.py",
        "        kept_suppressed = self.suppressed & ~self.removed\n",
        "        kept_suppressed = self.removed & ~self.removed\n",
        ("release/test_publish.py", "search", "run/test_job.py"),
    ),
    # hierarchy
    Fault(
        "frequency: rare values stay",
        "hierarchy/frequency.py",
        "counts >= self.settings.rare",
        "counts >= self.settings.rare - 1",
        ("hierarchy", "exposure"),
    ),
    Fault(
        "intervals: a value at the upper end is inside",
        "hierarchy/intervals.py",
        "if high is not None and value >= high:",
        "if high is not None and value > high:",
        ("hierarchy",),
    ),
    Fault(
        "levels outside the hierarchy are accepted",
        "hierarchy/placement.py",
        "if not 0 <= levels.minimum <= highest:",
        "if not 0 <= levels.minimum <= highest + 1:",
        ("hierarchy", "run/test_bad_input.py", "config"),
    ),
    # data
    Fault(
        "several persons in two households are none",
        "data/relation.py",
        "return int((np.bincount(pairs.codes[both, 0]) > 1).sum())",
        "return int((np.bincount(pairs.codes[both, 0]) > 2).sum())",
        ("data", "run/test_units.py", "run/test_people.py"),
    ),
    Fault(
        "engine: units in several groups are few",
        "data/duckdb/relation.py",
        "GROUP BY i HAVING min(o) < max(o)",
        "GROUP BY i HAVING min(o) > max(o)",
        ("data", "run/test_units.py", "run/test_people.py"),
    ),
    Fault(
        "engine: classes below the least size are not counted",
        "data/duckdb/distinct_rows.py",
        "FROM ({groups}) WHERE size < {least}",
        "FROM ({groups}) WHERE size < {least} - 1",
        ("data", "conformance/test_engines.py", "run/test_beyond_memory.py"),
    ),
    # people
    Fault(
        "a missing person is no fault",
        "people/units.py",
        "if plan.whole_units and (missing := int((units < 0).sum())):",
        "if plan.whole_units and (missing := int((units > 0).sum()) * 0):",
        ("run/test_units.py", "run/test_people.py"),
    ),
    Fault(
        "a person in two households is none",
        "people/units.py",
        "pairs[0, 1:] == pairs[0, :-1]",
        "pairs[0, 1:] != pairs[0, 1:]",
        ("run/test_units.py", "run/test_people.py", "run/test_households.py"),
    ),
    Fault(
        "a record without a person weighs as much as all of them",
        "people/weights.py",
        "np.where(unknown, 1, records), np.where(unknown, records, 1)",
        "np.where(unknown, 1, records), np.where(unknown, 1, 1)",
        ("run/test_unit_loss.py",),
    ),
    # release
    Fault(
        "pseudonyms: records without a person share one",
        "release/query.py",
        "np.where(units < 0, units.max(initial=-1) + 1 + np.arange(len(units)), units)",
        "np.where(units < 0, units.max(initial=-1) + 1, units)",
        ("release", "run/test_units.py", "run/test_people.py"),
    ),
    Fault(
        "the written file may have rows that were not promised",
        "release/comparison.py",
        "return int(records.clip(min=0).sum())",
        "return int(records.clip(max=0).sum())",
        ("release", "run/test_job.py"),
    ),
    Fault(
        "the checksum forgets how often a row is published",
        "release/comparison.py",
        "(_mixed(rows[kept]) * table.counts[kept].astype(np.uint64)).sum()",
        "_mixed(rows[kept]).sum()",
        ("release", "run/test_beyond_memory.py", "run/test_job.py"),
    ),
    # audit
    Fault(
        "the hash of the release is not compared",
        "audit/audit.py",
        "if _hash(file) != sha256:",
        "if False:",
        (*AUDIT, "run/test_audit_failed.py"),
    ),
    Fault(
        "the hash of a hierarchy is left out",
        "audit/checks.py",
        "if claims.compare(key, digest) and not planned.files:",
        "if not planned.files:",
        AUDIT,
    ),
    Fault(
        "the order of the rows is not looked at",
        "audit/checks.py",
        "if not (tied & (codes[1:] < codes[:-1])).any():",
        "if True:",
        AUDIT,
    ),
    Fault(
        "the number of suppressed records is believed",
        "audit/checks.py",
        "            claims.compare(key, removed)\n",
        "            claims.agree(key)\n",
        AUDIT,
    ),
    Fault(
        "a column in place of another is no change",
        "audit/against_input.py",
        "if source.changed_records(name, release) != (0, removed):",
        "if source.changed_records(name, release)[1] != removed:",
        AUDIT,
    ),
    # append
    Fault(
        "append: another recoding is taken for the earlier one",
        "append/earlier.py",
        "if hashlib.sha256(content).hexdigest() != sha256:",
        "if False:",
        ("run/test_apply.py", "run/test_apply_refused.py"),
    ),
    Fault(
        "append: earlier records are suppressed, new ones stay",
        "append/task.py",
        "failing &= new & kept",
        "failing &= ~new & kept",
        ("run/test_apply.py", "run/test_apply_refused.py"),
    ),
    Fault(
        "append: the limit is not looked at",
        "append/task.py",
        "if suppressed > self._limit:",
        "if False:",
        ("run/test_apply.py", "run/test_apply_refused.py"),
    ),
    # attacks
    Fault(
        "background: one fact fewer excludes as many values",
        "attacks/background.py",
        "<= self.settings.facts + 1",
        "<= self.settings.facts",
        ATTACKS,
    ),
    Fault(
        "skewness: a larger share is no disclosure",
        "attacks/skewness.py",
        "counts * denominator >= totals * numerator, dtype",
        "counts * denominator > totals * numerator, dtype",
        ATTACKS,
    ),
    Fault(
        "wildcard: groups of two are unique",
        "attacks/wildcard.py",
        "np.flatnonzero(classes.sizes[classes.class_of] == 1)",
        "np.flatnonzero(classes.sizes[classes.class_of] <= 2)",
        ATTACKS,
    ),
    # what a reader is told
    Fault(
        "a remedy counts fewer units than it must",
        "job/remedy.py",
        "'model': 'k-anonymity', 'k': k, 'unit': name",
        "'model': 'k-anonymity', 'k': 1, 'unit': name",
        ("run/test_mend.py", "run/test_advice_of_stars.py", "exposure"),
    ),
    Fault(
        "values of fewer records than allowed are listed",
        "job/columns.py",
        "each not in hidden and number >= self._smallest]",
        "each not in hidden and number >= 1]",
        ("run/test_left_by.py", "run/test_seen_columns.py", "report"),
    ),
    Fault(
        "cells that changed are counted by rows",
        "job/columns.py",
        "return int(table.counts[changed & ~self._recoding.removed].sum())",
        "return int((changed & ~self._recoding.removed).sum())",
        ("run/test_seen_columns.py", "report"),
    ),
    Fault(
        "the report of another file explains the release",
        "adversary/release.py",
        'own = report["release"]["sha256"] == release.sha256',
        "own = True",
        (
            "run/test_attack.py",
            "run/test_attack_odd.py",
            "run/test_number_columns.py",
            "run/test_release_formats.py",
        ),
    ),
    Fault(
        "exposure: a value of k records is rare",
        "exposure/rare_values.py",
        "rare = (units < records.k)[column.shown] & column.present",
        "rare = (units <= records.k)[column.shown] & column.present",
        ("exposure",),
    ),
)
"""One change each; a tree with one of them must not pass its tests."""
