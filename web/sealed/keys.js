// Keys of sealed chats in this browser: one of each owner, several where their browsers began apart.
//
// A chat's key is derived from the owner's, so a paired browser reads the chats to come too. IndexedDB holds no key that a
// script can export: `root` only derives. `wrapped` is the same key, encrypted by `keeper`, which only wraps and unwraps:
// from it a pairing gets the key that it wraps for the other browser. This page never reads the bytes of a key; a hostile script
// in it could do as a pairing does, and read them.

const GCM = { name: "AES-GCM", length: 256 };
const NONCE_BYTES = 12;
const WRAPPED_BYTES = NONCE_BYTES + 32 + 16; // the nonce, the key and the tag
const FORMAT = 1;
const bytesOf = (text) => new TextEncoder().encode(text);
const derivation = (info) => ({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: bytesOf(info) });

/** The owner's keys, `{uid, id, root, keeper, wrapped}`. */
export const loadKeys = (uid) => inStore("readonly", (store) => store.getAll(keysOf(uid)));

export const deleteKeys = (uid) => inStore("readwrite", (store) => store.delete(keysOf(uid)));

/** Makes the owner's key, and asks the browser not to evict it. */
export async function makeKey(uid) {
  await keep(uid, await crypto.subtle.generateKey(GCM, true, ["encrypt"]));
  navigator.storage.persist();
}

/** Derives the key of a chat. */
export const chatKey = ({ uid, root }, chat) =>
  crypto.subtle.deriveKey(derivation(`keepsake-v1|${uid}|${chat}`), root, GCM, false, ["encrypt", "decrypt"]);

/** Wraps all keys of the owner by `key`, for another browser. */
export async function wrapKeys(uid, key) {
  const boxes = (await loadKeys(uid)).map(async ({ keeper, wrapped }) => wrap(await unwrap(wrapped, keeper), key));
  return Uint8Array.of(FORMAT, ...(await Promise.all(boxes)).flatMap((box) => [...box]));
}

/** Keeps the keys that another browser wrapped by `key`, beside those that are here. */
export async function addKeys(uid, bytes, key) {
  for (let at = 1; at < bytes.length; at += WRAPPED_BYTES) {
    await keep(uid, await unwrap(bytes.subarray(at, at + WRAPPED_BYTES), key));
  }
}

async function keep(uid, key) {
  const keeper = await crypto.subtle.generateKey(GCM, false, ["wrapKey", "unwrapKey"]);
  const wrapped = await wrap(key, keeper);
  const root = await unwrap(wrapped, keeper, ["HKDF", false, ["deriveKey", "deriveBits"]]);
  const id = toHex(await crypto.subtle.deriveBits(derivation("keepsake-v1|id"), root, 128));
  await inStore("readwrite", (store) => store.put({ uid, id, root, keeper, wrapped }));
}

async function wrap(key, by) {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return Uint8Array.of(...iv, ...new Uint8Array(await crypto.subtle.wrapKey("raw", key, by, { name: "AES-GCM", iv })));
}

// A key that is wrapped again has to be extractable, but only its handle is in the page.
const unwrap = (wrapped, by, as = [GCM, true, ["encrypt"]]) =>
  crypto.subtle.unwrapKey("raw", wrapped.subarray(NONCE_BYTES), by, { name: "AES-GCM", iv: wrapped.subarray(0, NONCE_BYTES) }, ...as);

/** Derives what both browsers of a pairing know by its code: the id that the server sees, and the key that wraps. */
export async function derivePairing(uid, code) {
  const secret = await crypto.subtle.importKey("raw", code, "HKDF", false, ["deriveKey", "deriveBits"]);
  const [id, key] = await Promise.all([
    crypto.subtle.deriveBits(derivation(`keepsake-pairing-v1|${uid}|id`), secret, 128),
    crypto.subtle.deriveKey(derivation(`keepsake-pairing-v1|${uid}|key`), secret, GCM, false, ["wrapKey", "unwrapKey"]),
  ]);
  return { id: toHex(id), key };
}

const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

const keysOf = (uid) => IDBKeyRange.bound([uid], [uid, []]);

async function inStore(mode, act) {
  const database = await openDatabase();
  try {
    const transaction = database.transaction("keys", mode, { durability: "strict" });
    const request = act(transaction.objectStore("keys"));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  } finally {
    database.close();
  }
}

const openDatabase = () => new Promise((resolve, reject) => {
  const request = indexedDB.open("keepsake", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("keys", { keyPath: ["uid", "id"] });
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
