"""Configs that several tests start from."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError

CONTRACT = """\
input:
  path: adult.csv            # relative to the config file
  separator: ","
  encoding: utf-8
  missing: ["?", ""]
attributes:
  name:       {role: identifier}
  age:        {role: quasi-identifier, type: integer, hierarchy: {intervals: {width: [5, 10], origin: 0}}}
  zip:        {role: quasi-identifier, type: text, hierarchy: {mask: {from: right}}}
  education:  {role: quasi-identifier, hierarchy: {file: education.csv}, weight: 2.0, levels: {max: 2}}
  country:    {role: quasi-identifier, hierarchy: {ready: country}}
  occupation: {role: sensitive, distance: equal}
  notes:      {role: insensitive}
constraints:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, l: 3, attribute: occupation}
  - {model: vulnerability, max: 0.10}
reference: release
suppression: {limit: 0.02, method: classes, keep_rows: false}
algorithm: {name: lattice}
objective: {metric: loss, aggregate: arithmetic-mean}
budget: {seconds: 60, cpu_seconds: 60, nodes: 100000, steps: 1000}
engine: {name: auto, memory_limit: 4GB, options: {}}
output: {path: release.csv, order: sorted}
seed: 7
"""
"""The contract's example with what exists today."""

SMALL: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "zip": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 2}],
}


def small(**sections: Any) -> dict[str, Any]:
    """Return the small config with sections replaced."""
    return {**deepcopy(SMALL), **sections}


def constrained(*constraints: dict[str, Any]) -> dict[str, Any]:
    return small(constraints=list(constraints))


def attribute(**settings: Any) -> dict[str, Any]:
    """Return the small config with a column ``x`` of these settings."""
    config = small()
    config["attributes"]["x"] = settings
    return config


def problems_of(config: Any) -> dict[str, str]:
    """Return what is wrong with a config by place; fails when nothing is."""
    with pytest.raises(ConfigError) as caught:
        load_config(config)
    return {problem.where: problem.what for problem in caught.value.problems}
