// Uses the client as a program does: `node - URL TOKEN ACTION`, run in the folder where it was built.

const { connect, RequestFailed } = await import(`file://${process.cwd()}/dist/index.js`);
const [url, token, action] = process.argv.slice(2);

let pauses = 0;
const sleep = async () => void pauses++;
const keepsake = connect({ url, token, sleep });

const actions = {
  async read() {
    const path = { conversation_id: "offsite" };
    const { data } = await keepsake.api.GET("/v1/conversations/{conversation_id}", { params: { path } });
    return data.transcript_segments[0].text;
  },
  async refuse() {
    const path = { conversation_id: "none" };
    const failure = await keepsake.api.GET("/v1/conversations/{conversation_id}", { params: { path } }).catch((e) => e);
    return [failure instanceof RequestFailed, failure.status, failure.message];
  },
  async ask() {
    return [await keepsake.ask("When is the offsite?").text(), pauses];
  },
  async stop() {
    const answer = keepsake.ask("When?");
    let last;
    for await (const event of answer) {
      if (event.type === "text-delta") await answer.stop();
      last = event.type;
    }
    return last;
  },
};

console.log(JSON.stringify(await actions[action]()));
