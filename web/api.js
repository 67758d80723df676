// The HTTP interface, one function per call the console makes.

import { at, json, Problem, problemOf, query, send } from "./http.js";
import { t } from "./i18n.js";
import { events } from "./stream.js";

const MAX_QUERY = 1000; // characters the search accepts
const DEVELOPER_SCOPES = ["conversations", "memories", "action_items", "goals"].flatMap((kind) => [`${kind}:read`, `${kind}:write`]);
const LISTED = "in_progress,processing,completed,failed";

/** Signs in with a password in `account`, or with the local key. */
export async function signIn(account, key) {
  const headers = key === undefined ? {} : { "X-Local-Key": key };
  const { token } = await json("POST", "/local/token", { body: account, headers });
  return token;
}

/** Changes the password of an account that is named with the one it has. */
export const changePassword = (change) => json("POST", "/local/password", { body: change });

const browserHeaders = (id) => ({ "X-App-Platform": "web", "X-Device-Id-Hash": id });

/** Every call made as one user. `onSignedOut` is called when their token is no longer accepted. */
export function connect(getToken, onSignedOut) {
  const profileListeners = [];
  const call = async (method, path, options = {}) => {
    try {
      return await json(method, path, { ...options, token: await getToken() });
    } catch (problem) {
      if (problem.status === 401) onSignedOut();
      throw problem;
    }
  };
  const page = (path) => call("GET", path, { as: async (response) =>
    ({ items: await response.json(), next: response.headers.get("X-Next-Cursor") }) });
  return {
    call,
    conversations: (cursor, filter) => page(`/v1/conversations?${query({ limit: 50, cursor, ...filter, statuses: LISTED, include_discarded: true, include_transcript: false })}`),
    importForm: (form, preview) => call("POST", `/v1/imports?${query({ preview })}`, { form }),
    importUploads: (uploads, modified) => call("POST", "/v1/imports?preview=true", { body: { uploads, modified } }),
    importWearable: (wearable, key) => call("POST", "/v1/imports", { body: { wearable, key } }),
    imported: (id) => call("GET", at`/v1/imports/${id}`),
    keepImport: (id, texts, me) => call("POST", at`/v1/imports/${id}/keep`, { body: { texts, me } }),
    discardImport: (id) => call("DELETE", at`/v1/imports/${id}`),
    startUpload: (name, length) => call("POST", "/v1/uploads", { headers: { "Tus-Resumable": "1.0.0", "Upload-Length": String(length), "Upload-Metadata": `filename ${toBase64(name)}` }, as: (response) => response.headers.get("Location") }),
    sendPart: (location, offset, part) => call("PATCH", location, { form: part, headers: { "Tus-Resumable": "1.0.0", "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" } }),
    addFiles: (uploads) => call("POST", "/v2/files", { body: { uploads } }),
    file: (id) => call("GET", at`/v2/files/${id}`),
    fileContent: (id) => call("GET", at`/v2/files/${id}/content`, { as: (response) => response.blob() }),
    deleteFile: (id) => call("DELETE", at`/v2/files/${id}`),
    loadSampleLibrary: () => call("POST", "/v1/sample-library"),
    removeSampleLibrary: () => call("DELETE", "/v1/sample-library"),
    suggestedQuestions: () => call("GET", "/v1/suggested-questions"),
    chatSuggestions: () => call("GET", "/v2/chat-suggestions"),
    notes: (message) => call("GET", at`/v2/messages/${message}/notes`),
    decideDetails: (session, request, responses) => call("POST", at`/v2/chat-sessions/${session}/details-requests/${request}`, { body: { responses } }),
    conversation: (id) => call("GET", at`/v1/conversations/${id}`),
    recordings: (conversation) => call("GET", `/v1/audio?${query({ conversation_id: conversation })}`),
    recording: (id) => call("GET", at`/v1/audio/${id}`),
    sendRecording: (form) => call("POST", "/v1/audio", { form }),
    addRecording: (recording) => call("POST", "/v1/audio", { body: recording }),
    retryRecording: (id) => call("POST", at`/v1/audio/${id}/retry`),
    deleteRecording: (id) => call("DELETE", at`/v1/audio/${id}`),
    sound: (id, recording) => call("GET", at`/v1/conversations/${id}/audio?${query({ recording })}`, { as: (response) => response.blob() }),
    setKeepsAudio: (keeps) => call("PATCH", "/v1/users/profile", { body: { keeps_audio: keeps } }),
    passages: (words, filters) => call("POST", "/v1/conversations/search", { body: { query: words.slice(0, MAX_QUERY), per_page: 20, include_transcript: false, ...filters } }),
    messages: (session, before) => call("GET", `/v2/messages?${query({ protocol: "ui-message-stream", chat_session_id: session, before })}`),
    searchChats: (words, cursor) => call("GET", `/v1/chats/search?${query({ query: words, cursor })}`),
    clear: (session) => call("DELETE", `/v2/messages?${query({ chat_session_id: session })}`),
    showVersion: (session, id) => call("PUT", at`/v2/chat-sessions/${session}/shown-version`, { body: { message_id: id } }),
    embed: (id) => call("GET", at`/v2/embeds/${id}`),
    alternatives: (id) => call("GET", at`/v2/messages/${id}/alternatives`),
    chooseAnswer: (id, voice) => call("PUT", at`/v2/messages/${id}/chosen`, { body: { voice } }),
    shareChat: (session) => call("PUT", at`/v1/shared-chats/${session}`),
    unshareChat: (session) => call("DELETE", at`/v1/shared-chats/${session}`),
    diagnostics: (id) => call("GET", at`/v2/messages/${id}/diagnostics`),
    stop: (run) => call("POST", at`/v2/messages/${run}/stop`),
    confirm: (run, id, decision) => call("POST", at`/v2/messages/${run}/confirmations/${id}`, { body: decision }),
    toolGrants: () => call("GET", "/v1/tool-grants"),
    setToolGrant: (grant) => call("PUT", "/v1/tool-grants", { body: grant }),
    undoChange: (message, change) => call("POST", at`/v1/messages/${message}/changes/${change}/undo`),
    chats: () => call("GET", `/v2/chat-sessions?${query({ limit: 500 })}`),
    beginChat: (fields = {}) => call("POST", "/v2/chat-sessions", { body: fields }),
    changeChat: (id, changes) => call("PATCH", at`/v2/chat-sessions/${id}`, { body: changes }),
    sealedChats: async () => {
      const chats = [];
      for (let page = {}; !page.is_complete; chats.push(...page.chats)) page = await call("GET", `/v2/sync?${query({ phase: 2, cursor: page.cursor })}`);
      return chats.map(({ chat }) => chat).filter(({ is_deleted: isDeleted }) => !isDeleted);
    },
    ciphertexts: (session, cursor) => call("GET", at`/v2/chat-sessions/${session}/ciphertexts?${query({ cursor })}`),
    putCiphertexts: (session, body) => call("PUT", at`/v2/chat-sessions/${session}/ciphertexts`, { body }),
    startPairing: (id, keys) => call("PUT", "/v2/sealed-pairing", { body: { id, wrapped_keys: keys } }),
    endPairing: () => call("DELETE", "/v2/sealed-pairing"),
    takePairing: (id) => call("POST", "/v2/sealed-pairing/take", { body: { id } }),
    deleteChat: (id) => call("DELETE", at`/v2/chat-sessions/${id}`),
    setFocus: (id, mode) => call("PUT", at`/v2/chat-sessions/${id}/focus`, { body: { focus_mode_id: mode } }),
    focusModes: () => call("GET", "/v1/focus-modes"),
    addFocusMode: (mode) => call("POST", "/v1/focus-modes", { body: mode }),
    changeFocusMode: (id, changes) => call("PATCH", at`/v1/focus-modes/${id}`, { body: changes }),
    deleteFocusMode: (id) => call("DELETE", at`/v1/focus-modes/${id}`),
    agents: (cursor) => call("GET", `/v1/agents?${query({ cursor })}`),
    agent: (id) => call("GET", at`/v1/agents/${id}`),
    addAgent: (agent) => call("POST", "/v1/agents", { body: agent }),
    changeAgent: (id, changes) => call("PATCH", at`/v1/agents/${id}`, { body: changes }),
    deleteAgent: (id) => call("DELETE", at`/v1/agents/${id}`),
    shareAgent: (id) => call("PUT", at`/v1/agents/${id}/share`),
    unshareAgent: (id) => call("DELETE", at`/v1/agents/${id}/share`),
    sharedAgent: (token) => call("GET", at`/v1/shared-agents/${token}`),
    addSharedAgent: (token) => call("POST", "/v1/agents/from-link", { body: { token } }),
    chatModels: () => call("GET", "/v1/chat-models"),
    report: (id) => call("POST", at`/v2/messages/${id}/report`),
    rate: (id, value) =>
      call("POST", `/v1/users/analytics/chat_message?${query({ message_id: id, value })}`),
    usage: (days) => call("GET", `/v1/users/me/usage?period=monthly&days=${days}`),
    profile: () => call("GET", "/v1/users/profile"),
    setProfile: async (changes) => {
      const profile = await call("PATCH", "/v1/users/profile", { body: changes });
      for (const tell of profileListeners) tell(profile);
      return profile;
    },
    onProfile: (tell) => profileListeners.push(tell),
    chatPrompt: () => call("GET", "/v1/users/chat-prompt"),
    setChatPrompt: (prompt, reminder) => call("PUT", "/v1/users/chat-prompt", { body: { prompt, reminder } }),
    resetChatPrompt: () => call("DELETE", "/v1/users/chat-prompt"),
    setPlaceShared: (shared) => call("PATCH", "/v1/users/profile", { body: { is_place_shared: shared } }),
    setRetention: (days) => call("PATCH", "/v1/users/profile", { body: { retention_days: days } }),
    setTimeZone: (zone) => call("PATCH", "/v1/users/profile", { body: { time_zone: zone } }),
    setOwnNames: (names) => call("PATCH", "/v1/users/profile", { body: { own_names: names } }),
    markRead: (id) => call("POST", at`/v1/inbox/${id}/read`),
    inbox: (cursor) => call("GET", `/v1/inbox?${query({ cursor })}`),
    preferences: () => call("GET", "/v1/users/notification-preferences"),
    setPreferences: (changes) => call("PATCH", "/v1/users/notification-preferences", { body: changes }),
    changeConversation: (id, changes) => call("PATCH", at`/v1/conversations/${id}`, { body: changes }),
    bin: () => call("GET", "/v1/bin"),
    // Kinds are conversations, memories and action_items.
    moveToBin: (kind, id) => call("POST", at`/v1/bin/${kind}/${id}`),
    restore: (kind, id) => call("POST", at`/v1/bin/${kind}/${id}/restore`),
    deleteFromBin: (kind, id) => call("DELETE", at`/v1/bin/${kind}/${id}`),
    shareConversation: (id) => call("PATCH", at`/v1/conversations/${id}/visibility?value=shared`),
    unshareConversation: (id) => call("PATCH", at`/v1/conversations/${id}/visibility?value=private`),
    // Without a person, the name is removed.
    nameSpeaker: (id, label, person) => call("PATCH", at`/v1/conversations/${id}/assign-speaker/${label}?${query({ assign_type: "person_id", value: person })}`),
    // With `keepName`, whoever bears that name is the user in every conversation.
    markSelf: (id, label, isUser, keepName = false) => call("PATCH", at`/v1/conversations/${id}/assign-speaker/${label}?${query({ assign_type: "is_user", value: isUser, keep_name: keepName })}`),
    reprocess: (id) => call("POST", at`/v1/conversations/${id}/reprocess`),
    memories: (cursor) => page(`/v3/memories?${query({ limit: 50, cursor })}`),
    addMemory: (content) => call("POST", "/v3/memories", { body: { content } }),
    editMemory: (id, value) => call("PATCH", at`/v3/memories/${id}`, { body: { value } }),
    mergeMemories: (ids, content) => call("POST", "/v3/memories/merge", { body: { ids, content } }),
    deleteAllMemories: () => call("DELETE", "/v3/memories"),
    memoryHistory: (id) => call("GET", at`/v3/memories/${id}/history`),
    tasks: async (cursor) => {
      const { action_items, next_cursor } = await call("GET", `/v1/action-items?${query({ limit: 50, cursor })}`);
      return { items: action_items, next: next_cursor };
    },
    othersTasks: async (cursor) => {
      const { action_items, next_cursor } = await call("GET", `/v1/action-items?${query({ limit: 50, cursor, owner: "others" })}`);
      return { items: action_items, next: next_cursor };
    },
    tickTask: (conversation, place, done) => call("PATCH", at`/v1/conversations/${conversation}/action-items`, { body: { items_idx: [place], values: [done] } }),
    addTask: (task) => call("POST", "/v1/action-items", { body: task }),
    changeTask: (id, changes) => call("PATCH", at`/v1/action-items/${id}`, { body: changes }),
    folders: () => call("GET", "/v1/folders"),
    addFolder: (name) => call("POST", "/v1/folders", { body: { name } }),
    changeFolder: (id, changes) => call("PATCH", at`/v1/folders/${id}`, { body: changes }),
    deleteFolder: (id) => call("DELETE", at`/v1/folders/${id}`),
    moveToFolder: (folder, ids) => call("POST", at`/v1/folders/${folder}/conversations/bulk-move`, { body: { conversation_ids: ids } }),
    leaveFolder: (id) => call("PATCH", at`/v1/conversations/${id}/folder`, { body: { folder_id: null } }),
    mergeConversations: (ids) => call("POST", "/v1/conversations/merge", { body: { conversation_ids: ids } }),
    doubles: (id) => call("GET", at`/v1/conversations/${id}/doubles`),
    merges: () => call("GET", "/v1/conversations/merges"),
    undoMerge: (id) => call("POST", at`/v1/conversations/${id}/undo-merge`),
    goals: () => call("GET", "/v1/goals/all"),
    addGoal: (goal) => call("POST", "/v1/goals", { body: goal }),
    changeGoal: (id, changes) => call("PATCH", at`/v1/goals/${id}`, { body: changes }),
    recordGoal: (id, value) => call("PATCH", at`/v1/goals/${id}/progress?${query({ current_value: value })}`),
    deleteGoal: (id) => call("DELETE", at`/v1/goals/${id}`),
    summaries: (page) => call("GET", `/v1/users/daily-summaries?${query(page)}`),
    summary: (day) => call("GET", at`/v1/users/daily-summaries/${day}`),
    makeSummary: () => call("POST", "/v1/users/daily-summary-settings/test", { body: {} }),
    summarySettings: () => call("GET", "/v1/users/daily-summary-settings"),
    setSummarySettings: (changes) => call("PATCH", "/v1/users/daily-summary-settings", { body: changes }),
    pushFrequency: () => call("GET", "/v1/users/mentor-notification-settings"),
    webPushKey: () => call("GET", "/v1/users/web-push-key"),
    saveBrowser: (id, subscription) => call("POST", "/v1/users/fcm-token", { headers: browserHeaders(id), body: { fcm_token: subscription, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone } }),
    removeBrowser: (id) => call("DELETE", "/v1/users/fcm-token", { headers: browserHeaders(id) }),
    setPushFrequency: (frequency) => call("PATCH", "/v1/users/mentor-notification-settings", { body: { frequency } }),
    people: (cursor) => page(`/v1/users/people?${query({ limit: 500, cursor })}`),
    renewals: () => call("GET", "/v1/users/renewals"),
    namedSpeakers: () => call("GET", "/v1/users/speakers"),
    addPerson: (name) => call("POST", "/v1/users/people", { body: { name } }),
    renamePerson: (id, value) => call("PATCH", at`/v1/users/people/${id}/name`, { body: { value } }),
    setRole: (id, value) => call("PATCH", at`/v1/users/people/${id}/role`, { body: { value } }),
    deletePerson: (id) => call("DELETE", at`/v1/users/people/${id}`),
    // The first page has all own and installed apps.
    liveListeners: () => call("GET", "/v1/apps/live-listeners"),
    apps: (cursor) => page(`/v1/apps?${query({ cursor })}`),
    app: (id) => call("GET", at`/v1/apps/${id}`),
    appTools: (id) => call("GET", at`/v1/apps/${id}/tools`),
    installApp: ({ id, permissions }) => call("POST", `/v1/apps/enable?${query({ app_id: id, permissions })}`),
    uninstallApp: (id) => call("POST", `/v1/apps/disable?${query({ app_id: id })}`),
    registerApp: (app) => call("POST", "/v1/apps", { body: app }),
    changeApp: (id, changes) => call("PATCH", at`/v1/apps/${id}`, { body: changes }),
    deleteApp: (id) => call("DELETE", at`/v1/apps/${id}`),
    checkManifest: (id) => call("POST", at`/v1/apps/${id}/refresh-manifest`),
    addMcpServer: (server) => call("POST", "/v1/apps/mcp", { body: server }),
    checkMcpServer: (id) => call("POST", at`/v1/apps/${id}/mcp/refresh`),
    appKeys: (id) => call("GET", at`/v1/apps/${id}/keys`),
    createAppKey: (id) => call("POST", at`/v1/apps/${id}/keys`),
    revokeAppKey: (id, key) => call("DELETE", at`/v1/apps/${id}/keys/${key}`),
    rotateSecret: (id) => call("POST", at`/v1/apps/${id}/signing-secret`),
    appCalls: (id) => call("GET", at`/v1/apps/${id}/calls`),
    modelRefusals: (id) => call("GET", at`/v1/apps/${id}/model-refusals`),
    connections: () => call("GET", "/v1/connections"),
    connection: (service) => call("GET", at`/v1/connections/${service}`),
    authorize: (service) => call("POST", at`/v1/connections/${service}/authorize`),
    disconnect: (service) => call("DELETE", at`/v1/connections/${service}`),
    mcpKeys: () => call("GET", "/v1/mcp/keys"),
    createMcpKey: (name) => call("POST", "/v1/mcp/keys", { body: { name } }),
    revokeMcpKey: (id) => call("DELETE", at`/v1/mcp/keys/${id}`),
    programs: () => call("GET", "/v1/mcp/programs"),
    disconnectProgram: (id) => call("DELETE", at`/v1/mcp/programs/${id}`),
    previewAuthorization: (request) => call("POST", "/v1/mcp/authorizations/preview", { body: request }),
    decideAuthorization: (request, allows) => call("POST", "/v1/mcp/authorizations", { body: { request, allows } }),
    developerKeys: () => call("GET", "/v1/dev/keys"),
    createDeveloperKey: (name, mayWrite) => call("POST", "/v1/dev/keys", { body: { name, scopes: mayWrite ? DEVELOPER_SCOPES : null } }),
    revokeDeveloperKey: (id) => call("DELETE", at`/v1/dev/keys/${id}`),
    search: () => call("GET", "/local/search"),
    accounts: () => call("GET", "/local/accounts"),
    invite: (name) => call("POST", "/local/accounts", { body: { uid: name } }),
    signOutEverywhere: (endsKeys) => call("POST", "/v1/users/sign-out", { body: { revokes_keys: endsKeys } }),
    exportAll: () => call("GET", "/v1/users/export?format=zip", { as: (response) => response.blob() }),
    erase: () => call("DELETE", "/v1/users/delete-account"),
    erasure: () => call("GET", "/v1/users/delete-account"),
    ask: (question, signal) => stream(async () => ask(question, await getToken(), signal), onSignedOut),
    resend: (question, messages, signal) => stream(async () => send("POST", at`/v2/messages/${question.run}/resend`, { body: { question: bodyOf(question), messages }, token: await getToken(), signal }), onSignedOut),
    resume: (run, after, signal) => stream(async () => resume(run, after, await getToken(), signal), onSignedOut),
  };
}

const toBase64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

async function ask(question, token, signal) {
  const { key, session, of } = question;
  const path = of ? at`/v2/messages/${of}/versions` : `/v2/messages?${query({ protocol: "ui-message-stream", chat_session_id: session })}`;
  const response = await send("POST", path, { body: bodyOf(question), token, headers: { "Idempotency-Key": key }, signal });
  if (response.ok) question.run = response.headers.get("X-Run-Id");
  return response;
}

// An answer that is asked again is sent without its question, which the server has.
function bodyOf({ text, of, isEdited, follows, model, models, files }) {
  if (!of) return { text, follows, model, models, file_ids: files?.length ? files.map(({ id }) => id) : undefined };
  return isEdited ? { text } : {};
}

function resume(run, after, token, signal) {
  const headers = after ? { "Last-Event-ID": after } : {};
  return send("GET", at`/v2/messages/${run}/stream`, { token, headers, signal });
}

/** Opens an answer's stream; without anything new it has no events. */
async function stream(open, onSignedOut) {
  const response = await open().catch((problem) => {
    if (problem.status === 401) onSignedOut();
    throw problem;
  });
  if (response.status === 401) onSignedOut();
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? [].values() : readEvents(response.body);
}

async function* readEvents(body) {
  try {
    yield* events(body);
  } catch {
    throw new Problem(t("The connection was lost while the answer arrived."));
  }
}
