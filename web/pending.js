// Pending questions: at most one a chat, stored so that it survives a reload of the page.

const PREFIX = "keepsake.question.";

export const remember = (question) => sessionStorage.setItem(PREFIX + question.session, JSON.stringify(question));
export const forget = ({ session }) => sessionStorage.removeItem(PREFIX + session);

/** Returns the unanswered question of a chat, from its newest messages or as it was sent; else null. */
export function pending(session, [newest, ...older]) {
  const run = newest?.sender === "human" && /^(.+)-q$/.exec(newest.id)?.[1];
  if (run) return { run, session, text: newest.text };
  const sent = JSON.parse(sessionStorage.getItem(PREFIX + session));
  const answered = sent?.run && [newest, ...older].some((message) => message?.id === sent.run);
  return answered ? null : sent;
}
