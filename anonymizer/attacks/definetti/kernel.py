"""Sweeps of chains in a kernel: ``kernel.c``, compiled to WebAssembly once.

See ``anonymizer.compiled``. Whatever needs a logarithm or a random number is done outside, in numpy. The same
sweeps in numpy, which the kernel follows sum by sum, are ``chains.SideBySide``: they run where WebAssembly
cannot be had, or where a table is so small that compiling takes longer.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.definetti.chains import Chains, LatentAssignment
from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.definetti.model import Joints, NaiveBayes, Randoms
from anonymizer.compiled import Room, runs_compiled
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray

MODULE = Path(__file__).with_name("kernel.wasm")
"""The compiled kernel."""

WORTH = 1 << 22
"""Records times chains times sweeps from which compiling pays, though chains often stop far earlier."""

ROOM = 1 << 30
"""Most bytes of the kernel's memory, a quarter of what it can address."""

REAL, CODE = 8, 4
"""Bytes of a real number and of a code."""


class World(NamedTuple):
    """The records of open groups, and chains that sweep them. Places are in bytes.

    Attributes
    ----------
    kind: place in ``kinds`` of each record, shape (records,), int32.
    kinds: shape (kinds, 1 + bins), int32: place of the kind in ``expected``, and of its row of each bin in
        ``joint``.
    groups: shape (groups, 5), int32: first record, records, position of its first one in ``values``, first
        entry, and entries.
    values: sensitive values of the groups as places in a row of ``joint``, int32.
    bins: shape (bins, 2), int32: row after the last, and features.
    parts: positions in ``chances`` of the rows whose product a row of ``joint`` is, shape (rows, features),
        int32.
    joint: how likely the features of a bin are given each sensitive value, shape (rows, sensitive values).
    held: number of records with them, shape as ``joint``, int32; 0 between calls.
    chances: table of all features, shape (chains, rows * sensitive values).
    counts: records with each, shape as ``chances``, int32.
    ranks: place in the values of its group of each record's value, shape (chains, records), int32.
    sums: of the positions of paired records, shape (chains * rounds, groups), int32.
    drawn: uniform random numbers of the pairs, shape (chains * rounds, pairs).
    current: work, shape (most records of a group,).
    expected: work, shape (most entries of a group,); 0 between calls.
    expected_sums, expected_squares: sums of the expected records of each entry and of their squares, shape
        (chains, entries).
    """

    kind: CodeArray
    kinds: CodeArray
    groups: CodeArray
    values: CodeArray
    bins: CodeArray
    parts: CodeArray
    joint: FloatArray
    held: CodeArray
    chances: FloatArray
    counts: CodeArray
    ranks: CodeArray
    sums: CodeArray
    drawn: FloatArray
    current: FloatArray
    expected: FloatArray
    expected_sums: FloatArray
    expected_squares: FloatArray


def pays(groups: Groups, assignment: LatentAssignment, chains: int, sweeps: int) -> bool:
    """Return whether chains are to be compiled: there is much to do, it fits, and this machine can."""
    records, entries = len(assignment.base), int(groups.first[-1])
    needed = REAL * chains * (2 * entries + 2 * records) + REAL * 4 * entries
    return records * chains * sweeps >= WORTH and needed <= ROOM and runs_compiled(MODULE)


class Compiled(Chains):
    """Chains that a compiled kernel sweeps, one after the other, group by group."""

    def __init__(
        self, groups: Groups, assignment: LatentAssignment, model: NaiveBayes, randoms: Randoms
    ) -> None:
        super().__init__(groups, assignment, model, randoms)
        self._room = Room(MODULE, [_world(self, groups, assignment, model)])
        self._world: World = self._room.values[0]
        shape = self.number, model.rows, model.secrets
        self.chances, self.counts = self._world.chances.reshape(shape), self._world.counts.reshape(shape)
        self.sums, self.squares = self._world.expected_sums, self._world.expected_squares
        self._room.run(sweep, self._world, 0)

    def _sweep(self) -> None:
        for chain, random in enumerate(self.randoms):
            for place in range(chain * self.rounds, (chain + 1) * self.rounds):
                self._world.sums[place], pairs = self.drawn_sums(random)
                random.random(out=self._world.drawn[place, :pairs])
        self._room.run(sweep, self._world, self.rounds)


def sweep(world: World, rounds: int) -> None:
    """Let the records of pairs swap their values, and count what they have; no rounds only count."""
    raise NotImplementedError("SideBySide is the same in numpy")


def _world(chains: Chains, groups: Groups, assignment: LatentAssignment, model: NaiveBayes) -> World:
    """Return the records of the open groups, with the first assignment of each chain."""
    number, secrets, records = chains.number, model.secrets, len(assignment.base)
    kinds = np.flatnonzero(groups.open[groups.group])
    opened = np.flatnonzero(groups.open)
    joints = Joints.of(model, kinds, records)
    values = np.diff(groups.starts)[opened]
    of_group = np.bincount(groups.group, minlength=groups.number)[opened]
    first = np.cumsum(of_group) - of_group
    within = np.arange(len(kinds)) - np.repeat(first, of_group)
    of_kind = np.column_stack([within * np.repeat(values, of_group) * REAL, joints.row * secrets * REAL])
    number_of = assignment.number
    of_groups = np.column_stack(
        [
            np.cumsum(number_of) - number_of,
            number_of,
            groups.starts[opened],
            groups.first[kinds[first]],
            of_group * values,
        ]
    )
    ranks = [assignment.draw_random(random) - assignment.base for random in chains.randoms]
    shape = len(joints.parts), secrets
    pairs = number * chains.rounds, int((number_of // 2).sum())
    entries = number, int(groups.first[-1])
    return World(
        _codes(np.repeat(np.arange(len(kinds)) * of_kind.shape[1] * CODE, groups.counts[kinds])),
        _codes(of_kind),
        _codes(of_groups),
        _codes(groups.values * REAL),
        _codes(np.column_stack([joints.ends, joints.widths])),
        _codes(joints.parts * secrets),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int32),
        np.ones((number, model.rows * secrets)),
        np.zeros((number, model.rows * secrets), dtype=np.int32),
        _codes(np.stack(ranks) * CODE),
        np.zeros((pairs[0], len(opened)), dtype=np.int32),
        np.zeros(pairs),
        np.zeros(int(number_of.max())),
        np.zeros(int((of_group * values).max())),
        np.zeros(entries),
        np.zeros(entries),
    )


def _codes(numbers: IntArray) -> NDArray[np.int32]:
    return np.ascontiguousarray(numbers, dtype=np.int32)
