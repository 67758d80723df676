// Sealed chats of this browser: it encrypts what lasts of them, and sends their messages again where the server forgot them.

import { Problem } from "../http.js";
import { t } from "../i18n.js";
import { decrypt, encrypt } from "./encryption.js";
import { chatKey, loadKeys, makeKey } from "./keys.js";

const AT_ONCE = 15; // messages of 256 KiB each, within the 4 MiB of a request
const NOT_ALLOWED = 403;
const ATTEMPTS = 3; // another browser may have stored the same answer first
const MAX_RESENT = 400;
const MAX_RESENT_CHARS = 1_500_000;
const MAX_TITLE_CHARS = 60;
const MAX_KEPT_CHARS = 60_000; // of a message with more than its text: below 256 KiB in UTF-8
const SHOWN_METADATA = ["marked_text", "model", "outcome", "file_citations"];

export class SealedChats {
  #api;
  #uid;
  #asked = new Map(); // questions of this page, by their run
  #chats = new Map(); // what was read of chats, by their id

  constructor({ api, uid }) {
    this.#api = api;
    this.#uid = uid;
  }

  /** Begins a chat; the first one makes this browser's key. */
  async begin() {
    if (!isSecureContext) throw new Problem(t("Sealed chats need an address that begins with https."));
    if (!(await loadKeys(this.#uid)).length) await makeKey(this.#uid);
    const begun = await this.#api.beginChat({ storage_mode: "client_encrypted" });
    await this.changeChat(begun.id, { title: "" });
    return begun;
  }

  /** Returns the chats of a sync as the list of chats shows them. */
  async list(chats) {
    const keys = await loadKeys(this.#uid);
    return Promise.all(chats.map(async (chat) => {
      const opened = await this.#unlock(chat, keys);
      const { title, starred = false } = opened?.content ?? { title: t("Sealed chat") };
      return { id: chat.id, title: title || "New Chat", starred, isUnreadable: !opened, updated_at: chat.changed_at, message_count: chat.message_count,
        preview: opened ? t("Sealed") : t("This browser has no key to it.") };
    }));
  }

  async changeChat(id, changes) {
    await this.#write(id, (chat) => this.#put(chat, [], { ...chat.content, ...changes }));
  }

  /** Returns all messages, newest first. Those that only the server has are stored encrypted, or else at the next visit. */
  async messages(id) {
    const cached = await this.#api.messages(id);
    const opened = await this.#open(id);
    const chat = await this.#keep(id, cached).catch(() => opened);
    const others = cached.filter((message) => !chat.messages.has(message.id)).reverse();
    return [...listReadable(chat).map(({ content, ...message }) => ({ ...message, ...content })), ...others].sort(byTime).reverse();
  }

  /** Stores what the server has answered since. */
  async store(id) {
    await this.#keep(id, await this.#api.messages(id));
  }

  async ask(question, signal) {
    await this.#get(question.session);
    const answer = await this.#api.ask(question, signal);
    this.#asked.set(question.run, question);
    return this.#resendWhereMissing(answer, question, signal);
  }

  async resume(run, after, signal) {
    return this.#resendWhereMissing(await this.#api.resume(run, after, signal), this.#asked.get(run), signal);
  }

  // Where the server lacks the messages before a question, it says so, and answers once they were sent.
  async * #resendWhereMissing(answer, question, signal) {
    for await (const event of answer) {
      const isMissing = question && event.chunks.some(({ type }) => type === "data-request-chat-history");
      if (!isMissing) yield event;
      else {
        yield { ...event, chunks: event.chunks.filter(({ type }) => type !== "finish") };
        const again = await this.#api.resend(question, listResent(await this.#get(question.session)), signal);
        yield { seq: 0, chunks: [{ type: "restart" }] };
        yield* again;
        return;
      }
    }
  }

  // A question that is not answered yet is stored with its answer.
  #keep(id, cached) {
    const settled = cached.slice(cached[0]?.metadata.run ? 1 : 0).reverse();
    return this.#write(id, (chat) => this.#store(chat, settled.filter((message) => isNews(chat.messages.get(message.id), message))));
  }

  // Calls `act(chat)`, with the chat read anew where another browser wrote before; returns the chat.
  async #write(id, act) {
    for (let attempt = 1; ; attempt++) {
      const chat = await this.#get(id);
      try {
        await act(chat);
        return chat;
      } catch (problem) {
        this.#chats.delete(id);
        if (problem.status !== 409 || attempt === ATTEMPTS) throw problem;
      }
    }
  }

  async #store(chat, news) {
    for (let at = 0; at < news.length; at += AT_ONCE) {
      const messages = news.slice(at, at + AT_ONCE).map((message) => ({
        id: message.id, created_at: message.created_at, version: (chat.messages.get(message.id)?.version ?? 0) + 1, content: contentOf(message),
      }));
      const first = messages.find(({ content }) => content.sender === "human");
      const title = !chat.content.title && first && cut(first.content.text);
      await this.#put(chat, messages, title && { ...chat.content, title });
    }
  }

  async #put(chat, messages, content) {
    const version = chat.version + 1;
    const seal = (value, place) => encrypt(chat.key, JSON.stringify(value), { uid: this.#uid, chat: chat.id, ...place });
    await this.#api.putCiphertexts(chat.id, {
      chat: content ? { version, ciphertext: await seal(content, { version }) } : undefined,
      messages: await Promise.all(messages.map(async ({ content: text, ...message }) =>
        ({ ...message, ciphertext: await seal(text, { message: message.id, version: message.version }) }))),
    });
    if (content) Object.assign(chat, { version, content });
    for (const message of messages) chat.messages.set(message.id, message);
  }

  #get = async (id) => this.#chats.get(id) ?? this.#open(id);

  // Reads a chat and its messages. Throws the Problem of a chat to which this browser has no key.
  async #open(id) {
    const keys = await loadKeys(this.#uid);
    const messages = new Map();
    let opened;
    for (let cursor; cursor !== null;) {
      const page = await this.#api.ciphertexts(id, cursor);
      opened ??= await this.#unlock(page.chat, keys);
      if (!opened) throw new Problem(t("This browser has no key to this chat. Pair it with a browser that has one: switch on “Sealed” beside “New chat”."), NOT_ALLOWED);
      const contents = await Promise.all(page.messages.map(({ id: message, version, ciphertext }) =>
        ciphertext && this.#read(opened.key, ciphertext, { chat: id, message, version })));
      page.messages.forEach(({ ciphertext: _, ...message }, at) => messages.set(message.id, { ...message, content: contents[at] }));
      cursor = page.next_cursor;
    }
    const chat = { ...opened, messages };
    this.#chats.set(id, chat);
    return chat;
  }

  // Finds the key that opens a chat, null where there is none; a chat of which nothing is stored yet takes the first.
  async #unlock({ id, version, ciphertext }, keys) {
    for (const own of keys) {
      const key = await chatKey(own, id);
      const content = ciphertext ? await this.#read(key, ciphertext, { chat: id, version }) : { title: "" };
      if (content) return { id, key, version, content };
    }
    return null;
  }

  async #read(key, ciphertext, place) {
    return JSON.parse(await decrypt(key, ciphertext, { uid: this.#uid, ...place }));
  }
}

// A late correction changes the text of an answer. What was deleted, or does not decrypt, stays as it is.
const isNews = (known, { text }) => !known || (known.content && known.content.text !== text);

const listReadable = ({ messages }) => [...messages.values()].filter(({ content }) => content).sort(byTime);

function listResent(chat) {
  let chars = 0;
  return listReadable(chat).slice(-MAX_RESENT).reverse()
    .filter(({ content }) => (chars += content.text.length) <= MAX_RESENT_CHARS)
    .map(({ id, created_at, content: { sender, text } }) => ({ id, created_at, sender, text }));
}

const byTime = (one, other) => Date.parse(one.created_at) - Date.parse(other.created_at);

// What is shown of a message: its text, and where there is room, its sources and its steps.
function contentOf({ sender, text, memories_id, memories, chart_data, metadata }) {
  const shown = Object.fromEntries(SHOWN_METADATA.filter((name) => name in metadata).map((name) => [name, metadata[name]]));
  const content = { sender, text, memories_id, memories, chart_data, metadata: shown };
  const whole = { ...content, metadata: { ...shown, parts: metadata.parts } };
  return [whole, content].find((form) => JSON.stringify(form).length <= MAX_KEPT_CHARS) ?? { sender, text };
}

function cut(text) {
  const words = text.trim().replace(/\s+/g, " ");
  return words.length <= MAX_TITLE_CHARS ? words : `${words.slice(0, MAX_TITLE_CHARS).replace(/\s\S*$/, "")} …`;
}
