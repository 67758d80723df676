// HTTP requests and their problems.

import { t, tag } from "./i18n.js";

/**
 * A refusal or a failure, with a message for people; `status` is 0 when nothing answered.
 * `lang` is the language of a message that the server wrote, which is not translated.
 */
export class Problem extends Error {
  constructor(message, status = 0, lang = "") {
    super(message);
    this.status = status;
    this.lang = lang;
  }
}

/** Sends a request and reads its answer. Throws the Problem of a refusal. */
export async function json(method, path, { as = bodyOf, ...options }) {
  const response = await send(method, path, options);
  if (!response.ok) throw await problemOf(response);
  return as(response);
}

const bodyOf = (response) => (response.status === 204 ? null : response.json());

/** Sends a request; `body` goes as JSON, `form` (FormData or a Blob) as it is. */
export async function send(method, path, { body, form, token, headers: extra = {}, signal }) {
  const headers = { "Accept-Language": tag, ...extra };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  try {
    // A page that is left still deletes what it promised to.
    return await fetch(path, { method, headers, body: form ?? (body && JSON.stringify(body)), signal, keepalive: method === "DELETE" });
  } catch {
    throw new Problem(t("Keepsake cannot be reached. Check the connection and try again."));
  }
}

export async function problemOf(response) {
  const { detail, code, origins } = await response.json().catch(() => ({}));
  if (detail) return Object.assign(new Problem(detail, response.status, "en"), { code, origins });
  return new Problem(t("The server answered {status}.", { status: response.status }), response.status);
}

/** An address: at`/v1/apps/${id}?${query({ limit })}`. Values are encoded. */
export function at(parts, ...values) {
  const encoded = values.map((value) => (value instanceof URLSearchParams ? value : encodeURIComponent(value)));
  return String.raw({ raw: parts }, ...encoded);
}

/** The query of an address; undefined values are left out. */
export function query(values) {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(entries);
}
