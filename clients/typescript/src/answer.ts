// An answer: its events as they are written, each once, across lost connections.

import { EventSourceParserStream } from "eventsource-parser/stream";
import { throwProblem } from "./problem.js";

/** An event of the UI message stream; `type` tells which, such as `text-delta`, whose `delta` is text. */
export interface AnswerEvent {
  type: string;
  delta?: string;
  data?: { chars?: number; [name: string]: unknown };
  [name: string]: unknown;
}

export interface Question {
  text: string;
  /** The chat's id; the main chat without one. */
  chat?: string;
  /** Questions with the same key are asked once. */
  key?: string;
}

export interface Answer extends AsyncIterable<AnswerEvent> {
  /** Its id as soon as the server says it. */
  readonly run: string | undefined;
  /** Ends the answer where it is; what was written stays. Only after the first event. */
  stop(): Promise<void>;
  /** Reads to the end; returns the text, without what was taken back from it. */
  text(): Promise<string>;
}

/** The server no longer has the events of this answer; its message may be in the chat. */
export class AnswerLost extends Error {
  constructor() {
    super("The server no longer has the events of this answer");
    this.name = "AnswerLost";
  }
}

interface Server {
  url: string;
  authorize: () => Promise<string>;
  sleep: (ms: number) => Promise<void>;
}

const LAST_TYPES = ["finish", "abort", "error"];
const PAUSES_MS = [250, 500, 1000, 2000, 4000];

export function ask(server: Server, question: Question): Answer {
  return new FollowedAnswer(server, { key: crypto.randomUUID(), ...question });
}

class FollowedAnswer implements Answer {
  run: string | undefined;
  #seen = "";

  constructor(
    private readonly server: Server,
    private readonly question: Question & { key: string },
  ) {}

  async *[Symbol.asyncIterator](): AsyncIterator<AnswerEvent> {
    for (let failures = 0; ; failures++) {
      const seen = this.#seen;
      try {
        for await (const event of this.#read()) {
          yield event;
          if (LAST_TYPES.includes(event.type)) return;
        }
      } catch (error) {
        // A broken connection is a TypeError, as fetch throws it.
        if (!(error instanceof TypeError) || failures === PAUSES_MS.length) throw error;
      }
      if (this.#seen !== seen) failures = 0;
      if (failures === PAUSES_MS.length) throw new AnswerLost();
      await this.server.sleep(PAUSES_MS[failures]);
    }
  }

  async text(): Promise<string> {
    let text = "";
    for await (const event of this) {
      if (event.type === "text-delta") text += event.delta;
      if (event.type === "data-answer-withdrawn") text = [...text].slice(0, -event.data!.chars!).join("");
    }
    return text;
  }

  async stop(): Promise<void> {
    const response = await this.#send("POST", `/v2/messages/${this.run}/stop`);
    if (!response.ok) await throwProblem(response);
  }

  /** Yields the events of one connection that were not seen before. */
  async *#read(): AsyncGenerator<AnswerEvent> {
    const response = await this.#open();
    if (this.run && [204, 404].includes(response.status)) throw new AnswerLost();
    if (!response.ok) await throwProblem(response);
    this.run = response.headers.get("X-Run-Id") ?? this.run;
    // Events are held back until one with a number: a cut before it sends all of them again.
    let group: AnswerEvent[] = [];
    for await (const { id, data } of readMessages(response.body!)) {
      if (data && data !== "[DONE]") group.push(JSON.parse(data));
      if (!id) continue;
      this.#seen = id;
      yield* group.splice(0);
    }
  }

  #open(): Promise<Response> {
    if (this.run) {
      const headers: Record<string, string> = this.#seen ? { "Last-Event-ID": this.#seen } : {};
      return this.#send("GET", `/v2/messages/${this.run}/stream`, headers);
    }
    const { text, chat, key } = this.question;
    const query = new URLSearchParams({ protocol: "ui-message-stream", ...(chat && { chat_session_id: chat }) });
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    return this.#send("POST", `/v2/messages?${query}`, headers, JSON.stringify({ text }));
  }

  async #send(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Response> {
    const authorization = await this.server.authorize();
    return fetch(this.server.url + path, { method, headers: { ...headers, Authorization: authorization }, body });
  }
}

function readMessages(body: ReadableStream<Uint8Array>) {
  const text = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>);
  return text.pipeThrough(new EventSourceParserStream()) as unknown as AsyncIterable<{ id?: string; data: string }>;
}
