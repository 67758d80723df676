"""Values keep every promise of a frozen dataclass with slots."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from threading import Barrier

import pytest
from pydantic import TypeAdapter

from shared.domain.value import positional_value, value


@value
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


@positional_value
class Pair:
    first: int
    second: Point | None = None


@value
class Nothing:
    """No field at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


def test_repr_equality_and_replace_match_a_standard_dataclass() -> None:
    ours, standard = Point(x=1, tags=["a"]), Standard(x=1, tags=["a"])

    assert repr(ours) == repr(standard).replace("Standard", "Point")
    assert asdict(ours) == asdict(standard)
    assert replace(ours, y=2) == Point(x=1, y=2, tags=["a"])
    assert ours != replace(ours, y=2)
    assert ours != standard  # type: ignore[comparison-overlap]
    assert Nothing() == Nothing()


@positional_value
class Triple(Pair):
    third: tuple[str, ...] = ()


def test_a_value_extends_another_with_its_fields_and_patterns() -> None:
    assert [each.name for each in fields(Triple)] == ["first", "second", "third"]
    match Triple(1, None, ("a",)):
        case Triple(first, second, third):
            assert (first, second, third) == (1, None, ("a",))
    assert not hasattr(Triple(1), "__dict__")


def test_the_first_value_of_a_class_is_like_the_next_ones() -> None:
    @value
    class Route:
        path: str
        method: str = "GET"
        tags: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match="path"):
        Route()  # type: ignore[call-arg]
    first, second, third = Route(path="/"), Route(path="/"), Route(path="/", tags=[])

    assert first == second == third
    assert first.tags is not second.tags


def test_the_first_value_may_be_given_by_position() -> None:
    @positional_value
    class Step:
        name: str
        number: int = 1

    assert Step("a") == Step("a", 1) == Step("a", number=1)


@pytest.mark.parametrize("arguments", [{}, {"path": "/", "method": "GET"}])
def test_the_first_value_refuses_missing_and_unknown_fields(arguments: dict[str, str]) -> None:
    @value
    class Route:
        path: str

    with pytest.raises(TypeError):
        Route(**arguments)


def test_threads_that_make_the_first_value_at_once_make_the_same() -> None:
    @value
    class Tags:
        names: list[str] = field(default_factory=list)

    begin = Barrier(8)

    def make() -> Tags:
        begin.wait()
        return Tags()

    with ThreadPoolExecutor(8) as threads:
        made = [thread.result() for thread in [threads.submit(make) for _ in range(8)]]

    assert made == [Tags()] * 8
    assert len({id(tags.names) for tags in made}) == 8


def test_equal_values_hash_alike() -> None:
    assert len({Pair(1), Pair(1, None), Pair(2)}) == 2


def test_each_value_has_a_default_of_its_own() -> None:
    assert Point(x=1).tags is not Point(x=1).tags


def test_fields_cannot_be_changed_removed_or_added() -> None:
    point = Point(x=1)

    for change in (
        lambda: setattr(point, "x", 2),
        lambda: delattr(point, "x"),
        lambda: setattr(point, "z", 2),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    assert not hasattr(point, "__dict__")


@pytest.mark.parametrize("arguments", [{}, {"x": 1, "z": 2}])
def test_a_missing_or_unknown_field_is_a_type_error(arguments: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Point(**arguments)  # type: ignore[arg-type]


def test_fields_are_keyword_only_except_for_positional_values() -> None:
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[call-arg]

    match Pair(1, Point(x=2)):
        case Pair(first, Point(x=x)):
            assert (first, x) == (1, 2)


def test_copy_pickle_and_pydantic_treat_a_value_as_a_dataclass() -> None:
    pair = Pair(1, Point(x=2, tags=["a"]))

    assert copy.deepcopy(pair) == pair
    assert pickle.loads(pickle.dumps(pair)) == pair  # noqa: S301 - our own
    adapter = TypeAdapter(Pair)
    assert adapter.validate_python(adapter.dump_python(pair)) == pair


@value
class _Greeting:
    name: str
    words: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a greeting greets somebody")
        object.__setattr__(self, "words", f"Hello {self.name}")


def test_post_init_runs_as_for_any_dataclass():
    assert _Greeting(name="Ann").words == "Hello Ann"
    assert replace(_Greeting(name="Ann"), name="Bob").words == "Hello Bob"
    with pytest.raises(ValueError, match="somebody"):
        _Greeting(name="")
