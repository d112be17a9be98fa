"""What the command line does to a process of its own before and after a command."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from types import ModuleType
from typing import Any

import pytest

from anonymizer.cli.main import compile_methods_late

CLASSES = '''
from dataclasses import dataclass, field
from functools import cached_property

@dataclass(frozen=True)
class Plain:
    """With all that is compared."""
    a: int
    b: str = "b"
    c: list = field(default_factory=list, compare=False, repr=False)

@dataclass(frozen=True, eq=False, kw_only=True)
class Base:
    """Of a derived one."""
    a: int = 1

    @cached_property
    def doubled(self):
        return 2 * self.a

@dataclass(frozen=True, eq=False, kw_only=True)
class Derived(Base):
    """With more fields."""
    b: int

@dataclass(order=True)
class Ordered:
    """Can change."""
    a: int
    b: int = 0

    def __post_init__(self):
        self.b += self.a

class Undecorated(Plain):
    """Inherits all."""
'''
CALLS = """
repr(Plain(1)), repr(Plain(2)), repr(Derived(b=2))
Plain(1) == Plain(1, "b", [2]), Plain(1) == Plain(2), Plain(1) != Plain(1), Plain(1) == Undecorated(1)
hash(Plain(1)) == hash(Plain(1)), len({Plain(1), Plain(1), Plain(2)}), len({Base(), Base()})
Plain(1).c is Plain(1).c
vars(Plain(1, c=[3])), vars(Derived(a=3, b=2)), Derived(a=3, b=2).doubled, vars(Undecorated(5, "x"))
setattr(Plain(1), "a", 2)
delattr(Derived(b=2), "b")
setattr(Derived(b=2), "x", 2)
setattr(Undecorated(1), "x", 2)
Plain()
Plain(1, 2, 3, 4)
Derived(3)
Ordered(1) < Ordered(2), Ordered(1) <= Ordered(1), Ordered(3) > Ordered(2, 5), Ordered(1) >= Ordered(2)
hash(Ordered(1))
Ordered(1) < Plain(1)
replace(Plain(1), a=3), replace(Derived(b=2), a=7), asdict(Undecorated(1)), astuple(Ordered(1))
"""


def classes(name: str) -> Any:
    """Return a new module with the classes."""
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        exec(CLASSES, vars(module))
    finally:
        del sys.modules[name]
    vars(module).update({each: getattr(dataclasses, each) for each in ("replace", "asdict", "astuple")})
    return module


def outcome(line: str, module: Any) -> str:
    """Return what a line returns or raises."""
    try:
        return str(eval(line, vars(module)))
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture(name="late")
def _late(monkeypatch: pytest.MonkeyPatch) -> None:
    if "_create_fn" in vars(dataclasses):
        monkeypatch.setattr(dataclasses, "_create_fn", vars(dataclasses)["_create_fn"])
    compile_methods_late()


@pytest.mark.usefixtures("late")
def test_methods_that_are_compiled_late_do_the_same() -> None:
    early, late = classes("elsewhere"), classes("anonymizer.late")
    for line in CALLS.strip().splitlines():
        assert outcome(line, late) == outcome(line, early), line


@pytest.mark.usefixtures("late")
def test_a_second_command_of_a_process_changes_nothing() -> None:
    """Or else a thousand commands make classes that recurse too deeply."""
    before = vars(dataclasses).get("_create_fn")
    compile_methods_late()
    assert vars(dataclasses).get("_create_fn") is before


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="which compiles the methods of a class at once")
@pytest.mark.usefixtures("late")
def test_a_method_is_compiled_at_its_first_call() -> None:
    found = classes("anonymizer.late")
    stub, other = found.Plain.__init__, found.Plain.__eq__
    assert "given" in inspect.signature(stub).parameters
    found.Undecorated(1)
    assert list(inspect.signature(found.Plain.__init__).parameters) == ["self", "a", "b", "c"]
    assert found.Plain.__init__.__qualname__ == stub.__qualname__
    assert "__init__" not in vars(found.Undecorated)
    assert found.Plain.__eq__ is other
