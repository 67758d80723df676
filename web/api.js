// The HTTP interface, one function per call the console makes.

import { events } from "./stream.js";

const MAX_QUERY = 1000; // characters the search accepts

/** A refusal or a failure, in words for the reader; `status` is 0 when nothing answered. */
export class Problem extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

export async function signIn(uid) {
  const { token } = await json("POST", "/local/token", { body: { uid } });
  return token;
}

/** Every call made as one user. `onSignedOut` is told when the token is no longer accepted. */
export function connect(token, onSignedOut) {
  const call = async (method, path, options = {}) => {
    try {
      return await json(method, path, { ...options, token });
    } catch (problem) {
      if (problem.status === 401) onSignedOut();
      throw problem;
    }
  };
  const page = (path) => call("GET", path, { as: async (response) =>
    ({ items: await response.json(), next: response.headers.get("X-Next-Cursor") }) });
  return {
    conversations: (cursor) => call("GET", `/v1/conversations?${query({ limit: 20, cursor })}`),
    conversation: (id) => call("GET", `/v1/conversations/${encodeURIComponent(id)}`),
    keep: (conversation) => call("POST", "/v1/conversations", { body: conversation }),
    passages: (words) => call("POST", "/v1/conversations/search", { body: { query: words.slice(0, MAX_QUERY) } }),
    messages: (session) => call("GET", `/v2/messages?${query({ chat_session_id: session })}`),
    clear: (session) => call("DELETE", `/v2/messages?${query({ chat_session_id: session })}`),
    diagnostics: (id) => call("GET", `/v2/messages/${encodeURIComponent(id)}/diagnostics`),
    stop: (run) => call("POST", `/v2/messages/${encodeURIComponent(run)}/stop`),
    chats: () => call("GET", `/v2/chat-sessions?${query({ limit: 500 })}`),
    beginChat: () => call("POST", "/v2/chat-sessions", { body: {} }),
    changeChat: (id, changes) => call("PATCH", `/v2/chat-sessions/${encodeURIComponent(id)}`, { body: changes }),
    deleteChat: (id) => call("DELETE", `/v2/chat-sessions/${encodeURIComponent(id)}`),
    report: (id) => call("POST", `/v2/messages/${encodeURIComponent(id)}/report`),
    rate: (id, value) =>
      call("POST", `/v1/users/analytics/chat_message?${query({ message_id: id, value })}`),
    setTimeZone: (zone) => call("PATCH", "/v1/users/profile", { body: { time_zone: zone } }),
    markRead: (id) => call("POST", `/v1/inbox/${encodeURIComponent(id)}/read`),
    inbox: (cursor) => call("GET", `/v1/inbox?${query({ cursor })}`),
    changeConversation: (id, changes) => call("PATCH", `/v1/conversations/${encodeURIComponent(id)}`, { body: changes }),
    deleteConversation: (id) => call("DELETE", `/v1/conversations/${encodeURIComponent(id)}`),
    // Without a person, the name is taken back.
    nameSpeaker: (id, label, person) => call("PATCH", `/v1/conversations/${encodeURIComponent(id)}/assign-speaker/` +
      `${encodeURIComponent(label)}?${query({ assign_type: "person_id", value: person })}`),
    memories: (cursor) => page(`/v3/memories?${query({ limit: 50, cursor })}`),
    addMemory: (content) => call("POST", "/v3/memories", { body: { content } }),
    editMemory: (id, value) => call("PATCH", `/v3/memories/${encodeURIComponent(id)}?${query({ value })}`),
    mergeMemories: (ids, content) => call("POST", "/v3/memories/merge", { body: { ids, content } }),
    deleteMemory: (id) => call("DELETE", `/v3/memories/${encodeURIComponent(id)}`),
    memoryHistory: (id) => call("GET", `/v3/memories/${encodeURIComponent(id)}/history`),
    tasks: async (cursor) => {
      const { action_items, next_cursor } = await call("GET", `/v1/action-items?${query({ limit: 50, cursor })}`);
      return { items: action_items, next: next_cursor };
    },
    addTask: (task) => call("POST", "/v1/action-items", { body: task }),
    changeTask: (id, changes) => call("PATCH", `/v1/action-items/${encodeURIComponent(id)}`, { body: changes }),
    deleteTask: (id) => call("DELETE", `/v1/action-items/${encodeURIComponent(id)}`),
    people: (cursor) => page(`/v1/users/people?${query({ limit: 500, cursor })}`),
    addPerson: (name) => call("POST", "/v1/users/people", { body: { name } }),
    renamePerson: (id, value) => call("PATCH", `/v1/users/people/${encodeURIComponent(id)}/name?${query({ value })}`),
    deletePerson: (id) => call("DELETE", `/v1/users/people/${encodeURIComponent(id)}`),
    exported: () => call("GET", "/v1/users/export", { as: (response) => response.blob() }),
    erase: () => call("DELETE", "/v1/users/delete-account"),
    erasure: () => call("GET", "/v1/users/delete-account"),
    ask: (question, signal) => stream(() => ask(question, token, signal), onSignedOut),
    resume: (run, after, signal) => stream(() => resume(run, after, token, signal), onSignedOut),
  };
}

async function ask(question, token, signal) {
  const { key, text, session } = question;
  const path = `/v2/messages?${query({ protocol: "ui-message-stream", chat_session_id: session })}`;
  const response = await send("POST", path, { body: { text }, token, headers: { "Idempotency-Key": key }, signal });
  if (response.ok) question.run = response.headers.get("X-Run-Id");
  return response;
}

function resume(run, after, token, signal) {
  const headers = after ? { "Last-Event-ID": after } : {};
  return send("GET", `/v2/messages/${encodeURIComponent(run)}/stream`, { token, headers, signal });
}

/** Opens an answer's stream; where there is nothing more to tell, it has no events. */
async function stream(opened, onSignedOut) {
  const response = await opened();
  if (response.status === 401) onSignedOut();
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? [] : unbroken(response.body);
}

async function* unbroken(body) {
  try {
    yield* events(body);
  } catch {
    throw new Problem("The connection was lost while the answer arrived.");
  }
}

async function json(method, path, { as = bodyOf, ...options }) {
  const response = await send(method, path, options);
  if (!response.ok) throw await problemOf(response);
  return as(response);
}

const bodyOf = (response) => (response.status === 204 ? null : response.json());

async function send(method, path, { body, token, headers: given = {}, signal }) {
  const headers = { ...given };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
  } catch {
    throw new Problem("Keepsake cannot be reached. Check the connection and try again.");
  }
}

async function problemOf(response) {
  const { detail } = await response.json().catch(() => ({}));
  return new Problem(detail || `The server answered ${response.status}.`, response.status);
}

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given);
}
