// Text for people: dates, speakers, tool names.

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export const day = (iso) => DAY.format(new Date(iso));
export const hour = (iso) => HOUR.format(new Date(iso));
export const moment = (iso) => `${DAY.format(new Date(iso))}, ${HOUR.format(new Date(iso))}`;

/** Seconds into a conversation as m:ss. */
export function offset(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** The name of a speaker; diarisation counts from 0, the screen from 1. */
export function speakerName(segment) {
  if (segment.is_user) return "You";
  const number = /^SPEAKER_(\d+)$/.exec(segment.speaker)?.[1];
  return number === undefined ? segment.speaker || "Someone" : `Speaker ${Number(number) + 1}`;
}

const HIDDEN = /(?<!\p{ExtPict})\ufe0f|(?![\n\t\ufe0f])[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\u2800]/gu;

/** A text with invisible characters written out. */
export const plainly = (text) => text.replace(HIDDEN, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

/** A tool's own name for people. */
export const toolName = (name) => plainly(name.replaceAll("_", " "));

/** The name that the model has for a tool, without the suffix that makes names of apps' tools unique. */
export const modelToolName = (name) => toolName(name.replace(/_[0-9a-f]{16}$/, ""));

/** The receiver of a call and its maker, readably: names may be alike, but an id belongs to one app. */
export const describeSource = ({ kind, id }, maker) => (kind === "app" ? plainly(`App ${id}, by ${maker}`) : "A connected service");
