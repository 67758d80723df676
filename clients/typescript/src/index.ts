// Client of Keepsake: its API, typed from docs/openapi.json, and answers as they are written.

import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { paths } from "./api.js";
import { ask, type Answer, type Question } from "./answer.js";
import { throwProblem } from "./problem.js";

export type { components, paths } from "./api.js";
export { AnswerLost, type Answer, type AnswerEvent, type Question } from "./answer.js";
export { RequestFailed } from "./problem.js";

export interface Options {
  /** Where the server answers, such as http://127.0.0.1:8080. */
  url: string;
  /** The user's token, or where to get a fresh one for each request. */
  token: string | (() => Promise<string>);
  /** How to wait between attempts, in milliseconds. */
  sleep?: (ms: number) => Promise<void>;
}

export interface Keepsake {
  /** Every route: `await api.GET("/v1/conversations")`; a refusal throws RequestFailed. */
  api: Client<paths>;
  /** Asks a question; iterate over the answer to read its events, each once. */
  ask(text: string, question?: Omit<Question, "text">): Answer;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Connects as one user. */
export function connect({ url, token, sleep = wait }: Options): Keepsake {
  const authorize = async () => `Bearer ${typeof token === "string" ? token : await token()}`;
  const api = createClient<paths>({ baseUrl: url });
  const middleware: Middleware = {
    async onRequest({ request }) {
      request.headers.set("Authorization", await authorize());
    },
    async onResponse({ response }) {
      if (!response.ok) await throwProblem(response);
    },
  };
  api.use(middleware);
  return { api, ask: (text, question = {}) => ask({ url, authorize, sleep }, { ...question, text }) };
}

/** Signs in at a server on this machine with its local key; returns a token. */
export async function signInLocally(url: string, uid: string, key: string): Promise<string> {
  const response = await fetch(`${url}/local/token`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Local-Key": key },
    body: JSON.stringify({ uid }),
  });
  if (!response.ok) await throwProblem(response);
  return ((await response.json()) as { token: string }).token;
}
