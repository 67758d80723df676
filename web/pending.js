// Questions whose answers are not complete yet, a chat one at most; they outlive a reload of the page.

const PREFIX = "keepsake.question.";

export const remember = (question) => sessionStorage.setItem(PREFIX + question.session, JSON.stringify(question));
export const forget = ({ session }) => sessionStorage.removeItem(PREFIX + session);

/** The question of a chat that waits for its answer: as the chat's newest messages tell, or as it was sent. */
export function pending(session, [newest, ...older]) {
  const run = newest?.sender === "human" && /^(.+)-q$/.exec(newest.id)?.[1];
  if (run) return { run, session, text: newest.text };
  const sent = JSON.parse(sessionStorage.getItem(PREFIX + session));
  const answered = sent?.run && [newest, ...older].some((message) => message?.id === sent.run);
  return answered ? null : sent;
}
