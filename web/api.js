// The HTTP interface, one function per call the console makes.

import { at, json, Problem, problemOf, query, send } from "./http.js";
import { events } from "./stream.js";

const MAX_QUERY = 1000; // characters the search accepts

export async function signIn(uid, key) {
  const { token } = await json("POST", "/local/token", { body: { uid }, headers: { "X-Local-Key": key } });
  return token;
}

/** Every call made as one user. `onSignedOut` is called when the token is no longer accepted. */
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
    conversation: (id) => call("GET", at`/v1/conversations/${id}`),
    addConversation: (conversation) => call("POST", "/v1/conversations", { body: conversation }),
    passages: (words) => call("POST", "/v1/conversations/search", { body: { query: words.slice(0, MAX_QUERY) } }),
    messages: (session) => call("GET", `/v2/messages?${query({ chat_session_id: session })}`),
    clear: (session) => call("DELETE", `/v2/messages?${query({ chat_session_id: session })}`),
    diagnostics: (id) => call("GET", at`/v2/messages/${id}/diagnostics`),
    stop: (run) => call("POST", at`/v2/messages/${run}/stop`),
    confirm: (run, id, decision) => call("POST", at`/v2/messages/${run}/confirmations/${id}`, { body: decision }),
    toolGrants: () => call("GET", "/v1/tool-grants"),
    setToolGrant: (grant) => call("PUT", "/v1/tool-grants", { body: grant }),
    undoChange: (message, change) => call("POST", at`/v1/messages/${message}/changes/${change}/undo`),
    chats: () => call("GET", `/v2/chat-sessions?${query({ limit: 500 })}`),
    beginChat: () => call("POST", "/v2/chat-sessions", { body: {} }),
    changeChat: (id, changes) => call("PATCH", at`/v2/chat-sessions/${id}`, { body: changes }),
    deleteChat: (id) => call("DELETE", at`/v2/chat-sessions/${id}`),
    report: (id) => call("POST", at`/v2/messages/${id}/report`),
    rate: (id, value) =>
      call("POST", `/v1/users/analytics/chat_message?${query({ message_id: id, value })}`),
    usage: () => call("GET", "/v1/users/me/usage"),
    profile: () => call("GET", "/v1/users/profile"),
    setRetention: (days) => call("PATCH", "/v1/users/profile", { body: { retention_days: days } }),
    setTimeZone: (zone) => call("PATCH", "/v1/users/profile", { body: { time_zone: zone } }),
    markRead: (id) => call("POST", at`/v1/inbox/${id}/read`),
    inbox: (cursor) => call("GET", `/v1/inbox?${query({ cursor })}`),
    preferences: () => call("GET", "/v1/users/notification-preferences"),
    setPreferences: (changes) => call("PATCH", "/v1/users/notification-preferences", { body: changes }),
    changeConversation: (id, changes) => call("PATCH", at`/v1/conversations/${id}`, { body: changes }),
    deleteConversation: (id) => call("DELETE", at`/v1/conversations/${id}`),
    // Without a person, the name is removed.
    nameSpeaker: (id, label, person) => call("PATCH", at`/v1/conversations/${id}/assign-speaker/${label}?${query({ assign_type: "person_id", value: person })}`),
    memories: (cursor) => page(`/v3/memories?${query({ limit: 50, cursor })}`),
    addMemory: (content) => call("POST", "/v3/memories", { body: { content } }),
    editMemory: (id, value) => call("PATCH", at`/v3/memories/${id}`, { body: { value } }),
    mergeMemories: (ids, content) => call("POST", "/v3/memories/merge", { body: { ids, content } }),
    deleteMemory: (id) => call("DELETE", at`/v3/memories/${id}`),
    memoryHistory: (id) => call("GET", at`/v3/memories/${id}/history`),
    tasks: async (cursor) => {
      const { action_items, next_cursor } = await call("GET", `/v1/action-items?${query({ limit: 50, cursor })}`);
      return { items: action_items, next: next_cursor };
    },
    addTask: (task) => call("POST", "/v1/action-items", { body: task }),
    changeTask: (id, changes) => call("PATCH", at`/v1/action-items/${id}`, { body: changes }),
    deleteTask: (id) => call("DELETE", at`/v1/action-items/${id}`),
    people: (cursor) => page(`/v1/users/people?${query({ limit: 500, cursor })}`),
    addPerson: (name) => call("POST", "/v1/users/people", { body: { name } }),
    renamePerson: (id, value) => call("PATCH", at`/v1/users/people/${id}/name`, { body: { value } }),
    deletePerson: (id) => call("DELETE", at`/v1/users/people/${id}`),
    // The first page has all own and installed apps.
    apps: (cursor) => page(`/v1/apps?${query({ cursor })}`),
    app: (id) => call("GET", at`/v1/apps/${id}`),
    appTools: (id) => call("GET", at`/v1/apps/${id}/tools`),
    installApp: ({ id, permissions }) => call("POST", `/v1/apps/enable?${query({ app_id: id, permissions })}`),
    uninstallApp: (id) => call("POST", `/v1/apps/disable?${query({ app_id: id })}`),
    registerApp: (app) => call("POST", "/v1/apps", { body: app }),
    changeApp: (id, changes) => call("PATCH", at`/v1/apps/${id}`, { body: changes }),
    deleteApp: (id) => call("DELETE", at`/v1/apps/${id}`),
    checkManifest: (id) => call("POST", at`/v1/apps/${id}/refresh-manifest`),
    addMcpServer: (name, address) => call("POST", "/v1/apps/mcp", { body: { name, mcp_server_url: address } }),
    checkMcpServer: (id) => call("POST", at`/v1/apps/${id}/mcp/refresh`),
    appKeys: (id) => call("GET", at`/v1/apps/${id}/keys`),
    createAppKey: (id) => call("POST", at`/v1/apps/${id}/keys`),
    revokeAppKey: (id, key) => call("DELETE", at`/v1/apps/${id}/keys/${key}`),
    rotateSecret: (id) => call("POST", at`/v1/apps/${id}/signing-secret`),
    appCalls: (id) => call("GET", at`/v1/apps/${id}/calls`),
    connections: () => call("GET", "/v1/connections"),
    connection: (service) => call("GET", at`/v1/connections/${service}`),
    authorize: (service) => call("POST", at`/v1/connections/${service}/authorize`),
    disconnect: (service) => call("DELETE", at`/v1/connections/${service}`),
    mcpKeys: () => call("GET", "/v1/mcp/keys"),
    createMcpKey: (name) => call("POST", "/v1/mcp/keys", { body: { name } }),
    revokeMcpKey: (id) => call("DELETE", at`/v1/mcp/keys/${id}`),
    exportAll: () => call("GET", "/v1/users/export", { as: (response) => response.blob() }),
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
  return send("GET", at`/v2/messages/${run}/stream`, { token, headers, signal });
}

/** Opens an answer's stream; without anything new it has no events. */
async function stream(open, onSignedOut) {
  const response = await open();
  if (response.status === 401) onSignedOut();
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? [] : readEvents(response.body);
}

async function* readEvents(body) {
  try {
    yield* events(body);
  } catch {
    throw new Problem("The connection was lost while the answer arrived.");
  }
}
