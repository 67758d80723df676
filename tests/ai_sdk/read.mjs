// Reads UI message streams with the official package, as a web client does, and prints what it made of them.
//
// Each line of its input is a request { major, how, origin, token, argument }, and it prints a line for each:
//   ask     POST /v2/messages through DefaultChatTransport; argument is the question
//   resume  its reconnectToStream; argument is the run's id
//   chat    ask through AbstractChat, which useChat stands on; then resume in a second one
//   chunks  GET origin and check every chunk by the package's schema

import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { major, how, origin, token, argument } = JSON.parse(line);
  try {
    const answer = buildClient(await import(`ai-${major}`), origin, token)[how];
    console.log(JSON.stringify(await answer(argument)));
  } catch (error) {
    console.log(JSON.stringify({ refused: error.message }));
  }
}

function buildClient(sdk, origin, token) {
  const { AbstractChat, DefaultChatTransport, parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } = sdk;

  const transport = new DefaultChatTransport({
    api: `${origin}/v2/messages`,
    headers: { Authorization: `Bearer ${token}` },
    prepareSendMessagesRequest: ({ api, messages, headers }) => ({
      api: `${api}?protocol=ui-message-stream`,
      headers,
      body: { text: messages.at(-1).parts[0].text },
    }),
  });

  const open = {
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

  async function chat(text) {
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

  const openAndRead = (how) => async (argument) => {
    const stream = await open[how](argument);
    return stream && (await read(stream));
  };
  return { chat, ask: openAndRead("ask"), resume: openAndRead("resume"), chunks: openAndRead("chunks") };
}

async function collected(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}
