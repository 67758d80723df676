// Transcripts, pasted or dropped, as the segments that the server stores.

const TURN = /^\s*([\p{L}\p{N}][^\s:]*(?: [^\s:]+){0,2}):\s+(\S.*)$/u;
const WORDS_PER_SECOND = 2.5; // ordinary talking speed: a pasted text carries no times

/** Reads a transcript: JSON as exported, `Name: text` turns, or plain paragraphs. */
export function conversationFrom(text, { name, startedAt = null, now = new Date() }) {
  const exported = parseExport(text);
  const segments = exported?.transcript_segments ?? timed(piecesOf(text, ownNames(name)));
  const length = segments.at(-1)?.end ?? 0;
  const started = startedAt ?? new Date(now - length * 1000);
  return {
    started_at: exported?.started_at ?? started.toISOString(),
    finished_at: exported?.finished_at ?? new Date(+started + length * 1000).toISOString(),
    source: exported?.source ?? "unknown",
    language: exported?.language ?? (navigator.language || "en").split("-")[0],
    transcript_segments: segments,
  };
}

function parseExport(text) {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    const value = JSON.parse(text);
    const exported = Array.isArray(value) ? { transcript_segments: value } : value;
    return Array.isArray(exported.transcript_segments) ? exported : null;
  } catch {
    return null;
  }
}

const ownNames = (name) => new Set(["me", "you", name.toLowerCase()]);

function piecesOf(text, own) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  return TURN.test(lines[0] ?? "") ? turns(lines, own) : paragraphs(text);
}

function turns(lines, own) {
  const pieces = [];
  for (const line of lines) {
    const [, speaker, spoken] = TURN.exec(line) ?? [];
    if (speaker) pieces.push({ speaker, is_user: own.has(speaker.toLowerCase()), text: spoken.trim() });
    else pieces.at(-1).text += `\n${line.trim()}`;
  }
  return pieces;
}

function paragraphs(text) {
  const paragraphTexts = text.split(/\r?\n\s*\r?\n/).map((paragraph) => paragraph.trim()).filter(Boolean);
  return paragraphTexts.map((paragraph) => ({ speaker: "SPEAKER_00", is_user: false, text: paragraph }));
}

function timed(pieces) {
  let end = 0;
  return pieces.map((piece) => {
    const start = end;
    end += Math.ceil(piece.text.split(/\s+/).length / WORDS_PER_SECOND);
    return { ...piece, start, end };
  });
}
