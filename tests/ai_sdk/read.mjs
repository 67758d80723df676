// Reads a UI message stream with the official package, as a web client does, and prints what it made of it.
//
// Called as: node --input-type=module - MAJOR HOW ORIGIN TOKEN ARGUMENT < read.mjs
//   ask     POST /v2/messages through DefaultChatTransport; ARGUMENT is the question
//   resume  its reconnectToStream; ARGUMENT is the run's id
//   chat    ask through AbstractChat, which useChat stands on; then resume in a second one
//   chunks  GET ORIGIN and check every chunk by the package's schema

const [major, how, origin, token, argument] = process.argv.slice(2);
const { AbstractChat, DefaultChatTransport, parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } = await import(`ai-${major}`);

const transport = new DefaultChatTransport({
  api: `${origin}/v2/messages`,
  headers: { Authorization: `Bearer ${token}` },
  prepareSendMessagesRequest: ({ api, messages, headers }) => ({
    api: `${api}?protocol=ui-message-stream`,
    headers,
    body: { text: messages.at(-1).parts[0].text },
  }),
});

const OPEN = {
  ask: (text) =>
    transport.sendMessages({
      chatId: "chat",
      trigger: "submit-message",
      messages: [{ id: "question", role: "user", parts: [{ type: "text", text }] }],
    }),
  resume: (chatId) => transport.reconnectToStream({ chatId }),
  chunks: async () => {
    const { body } = await fetch(origin);
    const parsed = parseJsonEventStream({ stream: body, schema: uiMessageChunkSchema });
    return parsed.pipeThrough(
      new TransformStream({
        transform(result, controller) {
          if (!result.success) throw result.error;
          controller.enqueue(result.value);
        },
      }),
    );
  },
};

class Chat extends AbstractChat {
  constructor(id, messages) {
    const state = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => messages.push(message),
      popMessage: () => messages.pop(),
      replaceMessage: (at, message) => (messages[at] = message),
      snapshot: structuredClone,
    };
    super({ id, transport, state });
  }

  get shown() {
    return { status: this.status, error: this.error?.message, messages: this.messages };
  }
}

try {
  console.log(JSON.stringify(how === "chat" ? await chatted(argument) : await opened()));
} catch (error) {
  console.log(JSON.stringify({ refused: error.message }));
}

async function opened() {
  const stream = await OPEN[how](argument);
  return stream && (await read(stream));
}

async function chatted(text) {
  const first = new Chat("chat", []);
  await first.sendMessage({ text });
  const [question, answer] = first.messages;
  const second = new Chat(answer.id, [question]);
  await second.resumeStream();
  return [first.shown, second.shown];
}

async function read(stream) {
  const [seen, shown] = stream.tee();
  const errors = [];
  const [chunks, messages] = await Promise.all([
    collected(seen),
    collected(readUIMessageStream({ stream: shown, onError: (error) => errors.push(error.message) })),
  ]);
  return { chunks, message: messages.at(-1), errors };
}

async function collected(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}
