"""Report of an evaluation: each ranking beside the baseline, with its confidence intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from infra.eval.locomo import Question
from infra.eval.metrics import Row, compute_interval, compute_means
from infra.eval.plot import Panel

REPORTED_METRICS = ("any@1", "all@5", "mrr", "ev@500", "ev@1000")
MAIN_CATEGORIES = frozenset({1, 2, 3, 4})


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """A question with its score and time in each ranking; "baseline" is one, without a time."""

    question: Question
    rows: Mapping[str, Row]
    took_ms: Mapping[str, float]


def render_report(results: Sequence[QuestionResult]) -> Iterator[str]:
    for name, categories in (("cat1-4", MAIN_CATEGORIES), ("cat1", {1}), ("cat5", {5})):
        selected = [result for result in results if result.question.category in categories]
        if selected:
            yield from _compare_rankings(name, selected)
    yield from _compare_by_person([r for r in results if r.question.category in MAIN_CATEGORIES])
    for name in results[0].took_ms:
        times = sorted(result.took_ms[name] for result in results)
        p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
        yield f"{name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def build_panel(title: str, results: Sequence[QuestionResult]) -> Panel:
    main = [result for result in results if result.question.category in MAIN_CATEGORIES]
    return title, {name: compute_means([r.rows[name] for r in main]) for name in main[0].rows}


def _compare_rankings(title: str, results: Sequence[QuestionResult]) -> Iterator[str]:
    names = list(results[0].rows)
    mean = {name: compute_means([result.rows[name] for result in results]) for name in names}
    yield f"{title}, n={len(results)}: " + ", ".join(names) + "; 95 % of the differences"
    for key in mean["baseline"]:
        intervals = [_format_interval(results, name, key) for name in names[1:]]
        yield (
            f"  {key:11}"
            + "".join(f"{mean[name][key]:7.1f}" for name in names)
            + " "
            + " ".join(intervals)
        )


def _format_interval(results: Sequence[QuestionResult], name: str, key: str) -> str:
    low, high = compute_interval([r.rows[name][key] - r.rows["baseline"][key] for r in results])
    return f"[{low:+.1f}, {high:+.1f}]"


def _compare_by_person(results: Sequence[QuestionResult]) -> Iterator[str]:
    """Report each person's gain over the baseline, in points."""
    for name in results[0].took_ms:
        yield f"{name} - baseline by person: " + ", ".join(REPORTED_METRICS)
        for person in sorted({result.question.person for result in results}):
            person_results = [result for result in results if result.question.person == person]
            ours, plain = (
                compute_means([r.rows[ranking] for r in person_results])
                for ranking in (name, "baseline")
            )
            yield f"  {person:11}" + "".join(
                f"{ours[key] - plain[key]:+7.1f}" for key in REPORTED_METRICS
            )
