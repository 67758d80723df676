// Calls of the console in which sealed chats look like all others. What encrypts is loaded with the first of them.

import { isSealed } from "../pending.js";

/** The calls of `api`, for the owner `uid`. */
export function withSealedChats(api, uid) {
  let loading;
  let listed = null; // read again once a sealed chat changed here
  const sealed = () => (loading ??= import("./chats.js").then(({ SealedChats }) => new SealedChats({ api, uid })));

  async function list() {
    const chats = await api.sealedChats();
    return chats.length ? (await sealed()).list(chats) : [];
  }

  async function chats() {
    listed ??= list();
    const wanted = listed;
    try {
      return (await Promise.all([api.chats(), wanted])).flat().sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at));
    } catch (problem) {
      if (listed === wanted) listed = null;
      throw problem;
    }
  }

  const choose = (name, sessionOf = (session) => session) => async (...values) => {
    if (!isSealed(sessionOf(...values))) return api[name](...values);
    try {
      return await (await sealed())[name](...values);
    } finally {
      listed = null;
    }
  };

  return {
    ...api,
    chats,
    messages: choose("messages"),
    storeSealed: async (session) => {
      await (await sealed()).store(session);
      listed = null;
    },
    changeChat: choose("changeChat"),
    ask: choose("ask", ({ session }) => session),
    resume: choose("resume"),
    deleteChat: async (session) => {
      await api.deleteChat(session);
      listed = null;
    },
    beginChat: async (fields) => {
      if (fields?.storage_mode !== "client_encrypted") return api.beginChat(fields);
      listed = null;
      return (await sealed()).begin();
    },
    forgetSealedList: () => { listed = null; },
  };
}
