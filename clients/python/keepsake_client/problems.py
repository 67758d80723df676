"""Problems: refusals of the server as exceptions."""

import httpx


class RequestFailed(Exception):
    """A refusal. The message says why; `retry_after_s` is when to ask again, if the server said so."""

    def __init__(self, status: int, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.retry_after_s = retry_after_s


def check(answer: httpx.Response) -> None:
    """Raise RequestFailed unless the request succeeded."""
    if answer.is_success:
        return
    answer.read()
    problem = answer.json() if "json" in answer.headers.get("content-type", "") else {}
    wait = answer.headers.get("Retry-After", "")
    raise RequestFailed(
        answer.status_code,
        str(problem.get("detail", answer.reason_phrase)),
        float(wait) if wait.isdigit() else None,
    )
