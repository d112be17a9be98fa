"""What is imported to find one plug-in by its name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anonymizer.config import plugin_sections as plugins
from anonymizer.config.plugin_sections import AnyRegistry
from anonymizer.errors import InputError
from anonymizer.plugins import Registry

REGISTRIES = (
    plugins.privacy_models,
    plugins.loss_metrics,
    plugins.search_algorithms,
    plugins.attacks,
    plugins.hierarchy_sources,
    plugins.utility_measures,
)


def fresh(known: AnyRegistry) -> AnyRegistry:
    """Return a registry of the same room that has not looked into it yet."""
    return Registry(known.kind, known._base, known._package, known._group)


@pytest.mark.parametrize("of", REGISTRIES)
def test_a_name_alone_finds_what_the_list_of_all_holds(of: object) -> None:
    known = of()  # type: ignore[operator]
    listed = dict(known.items())
    assert listed
    for name, plug_in in listed.items():
        assert name in fresh(known)
        assert fresh(known)[name] is plug_in


@pytest.mark.parametrize("name", ["", ".", "..", "base", "registry", "no-such", "os", "k_anonymity"])
def test_what_is_no_name_is_found_nowhere(name: str) -> None:
    known = fresh(plugins.privacy_models())
    assert name not in known
    with pytest.raises(InputError, match="unknown privacy model"):
        known[name]
    assert 7 not in known


def test_one_model_is_found_without_the_others() -> None:
    program = (
        "import sys; from anonymizer.config.plugin_sections import privacy_models; "
        "privacy_models()['k-anonymity']; "
        "sys.exit('anonymizer.privacy.t_closeness' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_config_imports_only_the_plug_ins_that_it_names() -> None:
    """Also where it gives parameters, which a message about an unknown key looks for in all plug-ins."""
    program = (
        "import sys; from anonymizer.config.load import load_config; "
        "load_config({'attributes': {'a': {'role': 'quasi-identifier'}, 'b': {'role': 'sensitive'}}, "
        "'constraints': [{'model': 'k-anonymity', 'k': 2}], "
        "'attacks': [{'attack': 'background', 'facts': 1}], "
        "'algorithm': {'name': 'mondrian', 'mode': 'relaxed'}}); "
        "others = {'anonymizer.privacy.t_closeness', 'anonymizer.attacks.definetti', "
        "'anonymizer.search.local.algorithm'}; "
        "sys.exit(not others.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
