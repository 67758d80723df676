// Pending questions: at most one a chat, stored so that it survives a reload of the page.

const PREFIX = "keepsake.question.";

export const isIncognito = (session) => session.includes("incognito-");
export const isSealed = (name) => name.includes("sealed-"); // of a chat, a message or a run
export const isPrivate = (session) => isIncognito(session) || isSealed(session); // this tab stores none of its words
export const remember = (question) => isPrivate(question.session) || sessionStorage.setItem(PREFIX + question.session, JSON.stringify(question));
export const forget = ({ session }) => sessionStorage.removeItem(PREFIX + session);

/** Returns the unanswered question of a chat, from its newest messages or as it was sent; else null. */
export function pending(session, newestFirst) {
  const [newest] = newestFirst;
  if (newest?.metadata?.run) return { run: newest.metadata.run, session, text: newest.text };
  const sent = JSON.parse(sessionStorage.getItem(PREFIX + session));
  if (!sent?.run) return sent;
  const isListed = (id) => newestFirst.some((message) => message.id === id);
  return isListed(`${sent.run}-q`) && !isListed(sent.run) ? sent : null;
}
