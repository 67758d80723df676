// Contacts in the answer to somebody in a crisis: the server writes them as text, here they can be called or opened.

const CONTACT = /^: (?:\d|[\w-]+\.\w)/;

/** Makes links of the contacts that stand in `prose` behind their names, if the server's table has them so. */
export async function linkContacts(prose, { api }) {
  const names = [...prose.querySelectorAll("li > strong:first-child")].filter(({ nextSibling: text }) => CONTACT.test(text?.data ?? ""));
  if (!names.length) return;
  const { loadContacts, reach } = await import("./crisis_contacts.js");
  const contacts = await loadContacts({ api });
  for (const { textContent: name, nextSibling: text } of names) {
    const known = contacts.find((one) => one.name === name && text.data.startsWith(`: ${one.contact}`));
    if (known) text.replaceWith(...linked(text.data, [known.contact, known.also].filter(Boolean), reach));
  }
}

function linked(text, [contact, ...others], reach) {
  if (!contact) return [text];
  const [before, after] = [text.slice(0, text.indexOf(contact)), text.slice(text.indexOf(contact) + contact.length)];
  return [before, reach(contact), ...linked(after, others, reach)];
}
