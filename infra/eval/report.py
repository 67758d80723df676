"""An evaluation in words: each ranking beside the baseline, and how sure the differences are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from infra.eval.locomo import Question
from infra.eval.metrics import Row, interval, means
from infra.eval.plot import Panel

JUDGED = ("any@1", "all@5", "mrr", "ev@500", "ev@1000")
MAIN = frozenset({1, 2, 3, 4})


@dataclass(frozen=True, slots=True)
class Result:
    """A question, its score and its time by each ranking; "baseline" is one, and takes no time."""

    question: Question
    rows: Mapping[str, Row]
    took_ms: Mapping[str, float]


def report(results: Sequence[Result]) -> Iterator[str]:
    for name, categories in (("cat1-4", MAIN), ("cat1", {1}), ("cat5", {5})):
        some = [result for result in results if result.question.category in categories]
        if some:
            yield from _compared(name, some)
    yield from _by_person([r for r in results if r.question.category in MAIN])
    for name in results[0].took_ms:
        times = sorted(result.took_ms[name] for result in results)
        p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
        yield f"{name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def panel(title: str, results: Sequence[Result]) -> Panel:
    main = [result for result in results if result.question.category in MAIN]
    return title, {name: means([r.rows[name] for r in main]) for name in main[0].rows}


def _compared(title: str, results: Sequence[Result]) -> Iterator[str]:
    names = list(results[0].rows)
    mean = {name: means([result.rows[name] for result in results]) for name in names}
    yield f"{title}, n={len(results)}: " + ", ".join(names) + "; 95 % of the differences"
    for key in mean["baseline"]:
        sure = [_interval(results, name, key) for name in names[1:]]
        yield (
            f"  {key:11}"
            + "".join(f"{mean[name][key]:7.1f}" for name in names)
            + " "
            + " ".join(sure)
        )


def _interval(results: Sequence[Result], name: str, key: str) -> str:
    low, high = interval([r.rows[name][key] - r.rows["baseline"][key] for r in results])
    return f"[{low:+.1f}, {high:+.1f}]"


def _by_person(results: Sequence[Result]) -> Iterator[str]:
    """Say what each person gains over the baseline, in points."""
    for name in results[0].took_ms:
        yield f"{name} - baseline by person: " + ", ".join(JUDGED)
        for person in sorted({result.question.person for result in results}):
            theirs = [result for result in results if result.question.person == person]
            ours, plain = (means([r.rows[each] for r in theirs]) for each in (name, "baseline"))
            yield f"  {person:11}" + "".join(f"{ours[key] - plain[key]:+7.1f}" for key in JUDGED)
