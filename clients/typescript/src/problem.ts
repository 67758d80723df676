/** A refusal. The message says why; `retryAfter` is when to ask again, in seconds, if the server said so. */
export class RequestFailed extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly retryAfter?: number,
  ) {
    super(detail);
    this.name = "RequestFailed";
  }
}

export async function throwProblem(response: Response): Promise<never> {
  const isProblem = response.headers.get("Content-Type")?.includes("json");
  const problem = isProblem ? ((await response.json()) as { detail?: string }) : {};
  const seconds = response.headers.get("Retry-After");
  throw new RequestFailed(response.status, problem.detail ?? response.statusText, seconds ? Number(seconds) : undefined);
}
