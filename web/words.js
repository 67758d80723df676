// Text for people: dates, speakers, tool names.

import { el } from "./dom.js";
import { t, tag, tNodes } from "./i18n.js";

const DATE = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
const { hour12 } = new Intl.DateTimeFormat(tag, { timeStyle: "short" }).resolvedOptions();
const TIME = { hour: hour12 ? "numeric" : "2-digit", minute: "2-digit" }; // 6:05 PM, 06:05
const DAY = new Intl.DateTimeFormat(tag, DATE);
const HOUR = new Intl.DateTimeFormat(tag, TIME);
const MOMENT = new Intl.DateTimeFormat(tag, { ...DATE, ...TIME });

export const day = (iso) => DAY.format(new Date(iso));
export const hour = (iso) => HOUR.format(new Date(iso));
export const moment = (iso) => MOMENT.format(new Date(iso));

const NEAR = new Intl.RelativeTimeFormat(tag, { numeric: "auto" });
export const DAY_MS = 86_400_000;
const midnight = (time) => new Date(time.getFullYear(), time.getMonth(), time.getDate());

/** The days from today to a moment, on the clock of the browser. */
export const daysUntil = (iso, now = new Date()) => Math.round((midnight(new Date(iso)) - midnight(now)) / DAY_MS);

/** When a task is due, as people say it: "tomorrow 18:00", later days by their date. */
export function due(iso, now = new Date()) {
  const days = daysUntil(iso, now);
  const name = Math.abs(days) <= 1 ? NEAR.format(days, "day") : day(iso);
  return t("{day} {time}", { day: name, time: hour(iso) });
}

/** Why a conversation is not processed yet. */
export const waitingText = (since) => t("Waiting since {time} for a service that is down. It goes on by itself.", { time: moment(since) });

/** Seconds into a conversation as m:ss. */
export function offset(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** The name of a speaker; diarisation counts from 0, the screen from 1. */
export function speakerName(segment) {
  if (segment.is_user) return t("You");
  return segment.speaker_name || t("Speaker {n}", { n: segment.speaker_id + 1 });
}

const HIDDEN = /(?<!\p{ExtPict})\ufe0f|(?![\n\t\ufe0f])[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\u2800]/gu;

/** A text with invisible characters written out. */
export const plainly = (text) => text.replace(HIDDEN, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

/** A tool's own name for people. */
export const toolName = (name) => plainly(name.replaceAll("_", " "));

const LIBRARY_TOOLS = {
  get_conversations: t("Look at conversations"),
  search_conversations: t("Search in conversations"),
  get_people_and_events: t("Look at people and events"),
  get_memories: t("Look at memories"),
  search_memories: t("Search in memories"),
  remember: t("Write a memory"),
  get_action_items: t("Look at tasks"),
  create_action_item: t("Add a task"),
  update_action_item: t("Change a task"),
  manage_daily_summary: t("Daily summaries"),
  get_health_data: t("Look at health figures"),
  read_file: t("Read a file"),
  search_files: t("Search files"),
  create_chart: t("Draw a chart"),
  get_product_info: t("Look it up in the manual"),
  search_web: t("Search the web"),
  update_memory: t("Change a memory"),
  delete_memories: t("Delete memories"),
  delete_conversation: t("Delete a conversation"),
  set_recall: t("Set what is recalled"),
  save_rule: t("Save a rule"),
  drop_rule: t("Drop a rule"),
  search_chats: t("Search chats"),
  start_exercise: t("Start an exercise"),
  finish_exercise_step: t("Go on with the exercise"),
  end_exercise: t("End the exercise"),
  set_focus_mode: t("Set the focus"),
  request_details: t("Ask what it may read"),
  find_crisis_contacts: t("Find somebody to call"),
  find_app_tools: t("Look for a tool"),
  perplexity_web_search: t("Search the web"),
  read_web_page: t("Read a web page"),
};

/** The name that the model has for a tool, in words; names of apps' tools end in a suffix that makes them unique. */
export const modelToolName = (name) => LIBRARY_TOOLS[name] ?? toolName(name.replace(/_[0-9a-f]{16}$/, ""));

const TEXT_KINDS = {
  recording: t("recordings"),
  chat: t("other chats"),
  file: t("files"),
  paste: t("pasted text"),
  import: t("imported text"),
  mail: t("mail"),
  page: t("web pages"),
  service: t("connected accounts"),
  app: t("apps"),
  agent: t("an agent of somebody else"),
};

/** From whose words a text may come, beside its owner's: nothing where it is their own, or nobody knows. */
export const originText = (kinds) => kinds?.length ? t("written after reading: {kinds}", { kinds: kinds.map((kind) => TEXT_KINDS[kind] ?? kind).join(", ") }) : "";

/** The receiver of a call and its maker, as nodes: names may be alike, but an id belongs to one app. */
export function describeSource({ kind, id }, maker) {
  if (kind !== "app") return [t("A connected service")];
  return tNodes("App {id}, by {maker}", { id: el("code", {}, plainly(id)), maker: el("bdi", {}, plainly(maker)) });
}
