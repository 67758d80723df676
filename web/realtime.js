// Realtime: a call to a model that hears and speaks, between the browser and its provider.

const CHANNEL = "oai-events";

/**
 * Makes a call. `open(offer)` returns the provider's answer to it (SDP). `onEvent(event)` gets what the
 * provider tells, and `onLost()` is called once if the connection breaks. Returns `{listen, send, close}`:
 * `listen(stream)` lets it hear a microphone.
 */
export async function call({ open, onEvent, onLost }) {
  const connection = new RTCPeerConnection();
  const speaker = new Audio();
  speaker.autoplay = true;
  const { sender } = connection.addTransceiver("audio", { direction: "sendrecv" });
  const channel = connection.createDataChannel(CHANNEL);
  connection.addEventListener("track", ({ streams, track }) => (speaker.srcObject = streams[0] ?? new MediaStream([track])));
  channel.addEventListener("message", ({ data }) => onEvent(JSON.parse(data)));
  connection.addEventListener("connectionstatechange", () => connection.connectionState === "failed" && onLost());
  channel.addEventListener("close", () => connection.connectionState !== "closed" && onLost());

  const close = () => {
    for (const track of [sender.track, ...(speaker.srcObject?.getTracks() ?? [])]) track?.stop();
    connection.close();
  };
  try {
    await connection.setLocalDescription();
    await connection.setRemoteDescription({ type: "answer", sdp: await open(connection.localDescription.sdp) });
  } catch (problem) {
    close();
    throw problem;
  }
  return {
    listen: (stream) => sender.replaceTrack(stream.getAudioTracks()[0]),
    send: (event) => channel.readyState === "open" && channel.send(JSON.stringify(event)),
    close,
  };
}
