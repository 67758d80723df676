// Talk: the owner speaks with the model in the open chat, which keeps what was said.

import { attempting, el, find, say } from "../dom.js";
import { at } from "../http.js";
import { t } from "../i18n.js";
import { openMicrophone } from "../microphone.js";
import { call } from "../realtime.js";
import { SpokenTurns } from "../spoken_turns.js";

const STATES = {
  "session.created": t("Listening. Say something."),
  "input_audio_buffer.speech_started": t("Listening"),
  "input_audio_buffer.speech_stopped": t("Thinking"),
  "output_audio_buffer.started": t("Speaking"),
  "output_audio_buffer.stopped": t("Listening"),
  "output_audio_buffer.cleared": t("Listening"),
};
const NO_RESULT = "The tool gave no result."; // for the model
const MAX_LINES = 50;

/** Returns `{begin(session), leave()}`; `onEnd(session)` is called once the chat has all that was said. */
export function startTalk({ api, onEnd }) {
  const status = el("p", { role: "status" });
  const lines = el("div", { class: "lines", "aria-label": t("What is being said"), role: "log", tabindex: "0" });
  const plan = el("p", { role: "alert", dir: "auto", hidden: true, class: "plan" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const button = el("button", { type: "button", onclick: () => (current ? end() : dismiss()) });
  const panel = el("section", { id: "talk", "aria-label": t("Talk"), hidden: true }, el("div", { class: "row" }, status, button), plan, lines, problem);
  const attempt = attempting(problem);
  let current = null;
  find("#ask").before(panel);

  async function begin(session) {
    if (current) return button.focus();
    const talk = (current = { session, said: new SpokenTurns(), rows: new Map(), unkept: [], keeping: Promise.resolve() });
    panel.hidden = false;
    button.textContent = t("Stop talking");
    lines.replaceChildren();
    say(problem, "");
    say(plan, "");
    status.textContent = t("Connecting");
    button.focus();
    try {
      talk.call = await call({
        open: async (offer) => {
          const begun = await api.call("POST", "/v2/voice-sessions", { body: { chat_session_id: session, sdp_offer: offer } });
          talk.id = begun.id;
          return begun.sdp_answer;
        },
        onEvent: (event) => take(talk, event),
        onLost: () => current === talk && end(t("The connection is lost. What was said before is in the chat.")),
      });
      if (current === talk) return await listen(talk);
      talk.call.close();
      await endSession(talk);
    } catch (caught) {
      if (current === talk) await end(caught);
    }
  }

  async function listen(talk) {
    const stream = await openMicrophone();
    if (current === talk) return talk.call.listen(stream);
    for (const track of stream.getTracks()) track.stop();
  }

  const endSession = ({ id }) => api.call("POST", at`/v2/voice-sessions/${id}/end`);

  /** Ends what goes on; `why` is a problem that ended it. */
  async function end(why = "") {
    const talk = current;
    if (!talk) return;
    current = null;
    talk.call?.close();
    status.textContent = talk.id ? t("Ended") : "";
    button.textContent = t("Close");
    if (talk.id) {
      await keep(talk);
      await attempt(() => endSession(talk));
      onEnd(talk.session);
    }
    if (talk.unkept.length) say(problem, t("Some of what was said could not be kept in the chat."));
    else if (why) say(problem, why);
    lines.replaceChildren();
    if (problem.hidden && plan.hidden) dismiss();
  }

  function dismiss() {
    if (panel.contains(document.activeElement)) find("#question").focus();
    panel.hidden = true;
  }

  /** Leaves the chat: what goes on in it ends, and nothing of it stays on the screen. */
  async function leave() {
    panel.hidden = true;
    await end();
    panel.hidden = true;
  }

  function take(talk, event) {
    if (current !== talk) return;
    status.textContent = STATES[event.type] ?? status.textContent;
    show(talk, event);
    if (event.type === "error") say(problem, t("The service that speaks reports an error. Stop, and talk again."));
    const { turns, calls } = talk.said.take(event);
    talk.unkept.push(...turns);
    if (turns.length) keep(talk);
    if (calls.length) answerCalls(talk, calls);
  }

  function show(talk, { type, item_id: id, transcript, delta }) {
    if (type === "input_audio_buffer.committed") line(talk, id, t("You"));
    if (type === "conversation.item.input_audio_transcription.completed") line(talk, id, t("You")).textContent = transcript.trim();
    if (type === "conversation.item.input_audio_transcription.failed") line(talk, id, t("You")).textContent = t("(not understood)");
    if (type === "response.output_audio_transcript.delta") line(talk, id, t("Assistant")).append(delta);
  }

  function line(talk, id, who) {
    if (!talk.rows.has(id)) {
      const text = el("span", { dir: "auto" });
      talk.rows.set(id, text);
      lines.append(el("p", {}, el("b", {}, who), " ", text));
      if (lines.children.length > MAX_LINES) lines.firstChild.remove();
    }
    lines.scrollTop = lines.scrollHeight;
    return talk.rows.get(id);
  }

  // One at a time, in their order; what could not be kept is kept with the next.
  function keep(talk) {
    talk.keeping = talk.keeping.then(() => attempt(async () => {
      while (talk.unkept.length) {
        const { itemId, userText, assistantText } = talk.unkept[0];
        const body = { item_id: itemId, user_text: userText, assistant_text: assistantText };
        const kept = await api.call("POST", at`/v2/voice-sessions/${talk.id}/turns`, { body });
        talk.unkept.shift();
        if (kept.crisis_plan) say(plan, kept.crisis_plan);
      }
    }));
    return talk.keeping;
  }

  async function answerCalls(talk, calls) {
    const userText = talk.said.unkept;
    const outputs = await Promise.all(calls.map(({ name, args }) => runTool(talk, { name, arguments: args, user_text: userText })));
    for (const [n, { callId }] of calls.entries()) {
      talk.call.send({ type: "conversation.item.create", item: { type: "function_call_output", call_id: callId, output: outputs[n] } });
    }
    talk.call.send({ type: "response.create" });
  }

  const runTool = async (talk, body) => {
    try {
      return (await api.call("POST", at`/v2/voice-sessions/${talk.id}/tools`, { body })).output;
    } catch {
      return NO_RESULT;
    }
  };

  return { begin, leave };
}
