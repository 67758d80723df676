// Encryption of sealed chats: AES-256-GCM, bound to where a ciphertext belongs. docs/private-chats.md has the form.

const FORMAT = 1;
const NONCE_BYTES = 12;

/** Encrypts a text for its place, `{uid, chat, message, version}`, without a message for the chat's own; returns base64. Test vectors alone give a nonce. */
export async function encrypt(key, text, place, nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))) {
  const sealed = await crypto.subtle.encrypt(parameters(nonce, place), key, new TextEncoder().encode(text));
  return toBase64(Uint8Array.of(FORMAT, ...nonce, ...new Uint8Array(sealed)));
}

/** Returns the text; null where the ciphertext belongs to another key or place. */
export async function decrypt(key, ciphertext, place) {
  const bytes = fromBase64(ciphertext);
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  try {
    return new TextDecoder().decode(await crypto.subtle.decrypt(parameters(nonce, place), key, bytes.subarray(1 + NONCE_BYTES)));
  } catch {
    return null;
  }
}

const parameters = (iv, { uid, chat, message = "", version }) =>
  ({ name: "AES-GCM", iv, additionalData: new TextEncoder().encode(["keepsake-v1", uid, chat, message, version].join("|")) });

export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
export const fromBase64 = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
