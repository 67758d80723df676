// Building elements. Text always becomes a text node, so nothing written by others is ever parsed.

export const find = (selector, root = document) => root.querySelector(selector);

/** Creates an element: `on…` props become listeners, others attributes; null and false are left out. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(node, name, value);
  node.append(...children.filter((child) => child != null && child !== false));
  return node;
}

function set(node, name, value) {
  if (value == null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else node.setAttribute(name, value === true ? "" : value);
}

const SVG = "http://www.w3.org/2000/svg";

/** Builds an element of SVG. */
export function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Draws a symbol of icons.svg; it has no label, so its button needs one. */
export function icon(name) {
  return draw("svg", { class: "icon", "aria-hidden": "true" }, draw("use", { href: `/icons.svg#${name}` }));
}

/** A button that shows only an icon; `label` is its name and tooltip. */
export function iconButton(name, label, onclick, props = {}) {
  return el("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick, ...props },
    icon(name));
}

/** Shows an error, to screen readers too: a text, or the problem that was caught. An empty text hides it. */
export function say(node, error) {
  const text = error.message ?? error;
  node.textContent = text;
  node.hidden = !text;
  node.toggleAttribute("lang", Boolean(error.lang));
  if (error.lang) node.lang = error.lang;
}

/** A caught problem as a paragraph, read by screen readers when it appears. */
export const problemLine = (problem) =>
  el("p", { class: "problem", role: "alert", lang: problem.lang || null }, problem.message);

/** Returns `attempt(act)`, which runs a change and shows its error on `line`. */
export const attempting = (line) => async (act) => {
  say(line, "");
  try {
    await act();
  } catch (problem) {
    say(line, problem);
  }
};

/** Calls `act` when the form is sent; ignores further presses until it is done. */
export function onSubmit(form, act) {
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    await act();
    busy = false;
  });
}

/** Opens a dialog under a title; once closed it is gone, and the focus is back where it was. */
export function openDialog(title, ...nodes) {
  const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, el("h2", { id: "dialog-title", dir: "auto" }, title), ...nodes);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A link out of Keepsake; only http and https addresses become links. */
export function linkOut(address, text) {
  if (!/^https?:\/\//i.test(address)) return text;
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text);
}

/** Replaces `node` by a newer version and focuses its first button. */
export function renew(node, newer) {
  node.replaceWith(newer);
  find("button", newer)?.focus();
}

/** Focuses `row`, the first that “Show more” added: the button itself may be gone. */
export function moveTo(row) {
  row?.setAttribute("tabindex", "-1");
  row?.focus();
}
