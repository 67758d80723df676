// A chart of an answer: lines or bars, and the same figures as a table.

import { draw, el } from "../dom.js";
import { formatNumber, t, tag } from "../i18n.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [600, 260, 64, 12, 12, 34];
const MOST_LABELS = 8;
const MOST_SIGNS = 10;
const TICKS = 4;
const SHORT = new Intl.NumberFormat(tag, { notation: "compact", maximumFractionDigits: 2 });
const toBottom = HEIGHT - BOTTOM;

/** Draws `chart_data` of a message. */
export function chart(data) {
  const { title, datasets, y_label: unit } = data;
  return el("figure", { class: "drawn" },
    el("figcaption", { dir: "auto" }, title, unit && el("span", { class: "meta" }, ` ${unit}`)),
    drawing(data),
    datasets.length > 1 && el("ul", { class: "legend" }, ...datasets.map(legend)),
    el("details", {}, el("summary", {}, t("As a table")), el("div", { class: "wide" }, table(data))));
}

function drawing({ title, chart_type: type, datasets }) {
  const labels = datasets[0].data_points.map(({ label }) => label);
  const figures = datasets.flatMap(({ data_points: points }) => points.map(({ value }) => value));
  const ticks = scale(type === "bar" ? [0, ...figures] : figures);
  const [low, high] = [ticks[0], ticks.at(-1)];
  const place = {
    step: (WIDTH - LEFT - RIGHT) / labels.length,
    x: (n) => LEFT + ((WIDTH - LEFT - RIGHT) * (n + 0.5)) / labels.length,
    y: (value) => toBottom - ((value - low) / (high - low)) * (toBottom - TOP),
  };
  const series = type === "bar" ? bars : line;
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": t("Chart “{title}”. Its figures stand in the table below.", { title }) },
    ...ticks.map((tick) => gridLine(tick, place)),
    ...axisLabels(labels, place),
    ...datasets.map((dataset, n) => draw("g", ink(dataset, n), ...series(dataset, place, n, datasets.length))));
}

/** Round numbers around all figures, in even steps. */
export function scale(figures) {
  const [low, high] = [Math.min(...figures), Math.max(...figures)];
  const rough = (high - low || Math.abs(high) || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  return Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

function gridLine(tick, { y }) {
  return draw("g", { class: tick === 0 ? "grid zero" : "grid" },
    draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick) }),
    draw("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, SHORT.format(tick)));
}

// Where there are many, only some of the labels fit below the axis.
function axisLabels(labels, { x }) {
  const every = Math.ceil(labels.length / MOST_LABELS);
  return labels.flatMap((label, n) => (n % every ? [] : [
    draw("text", { class: "label", x: x(n), y: HEIGHT - 12, "text-anchor": "middle" }, shorten(label))]));
}

function shorten(label) {
  const signs = [...label];
  return signs.length > MOST_SIGNS ? `${signs.slice(0, MOST_SIGNS - 1).join("")}…` : label;
}

function line({ label, data_points: points }, { x, y }) {
  const path = points.map(({ value }, n) => `${x(n)},${y(value)}`).join(" ");
  return [draw("polyline", { points: path }),
    ...points.map((point, n) => draw("circle", { cx: x(n), cy: y(point.value), r: 3.5 }, tooltip(label, point)))];
}

function bars({ label, data_points: points }, { x, y, step }, n, count) {
  const width = (step * 0.8) / count;
  return points.map((point, at) => draw("rect", {
    x: x(at) - step * 0.4 + n * width,
    y: Math.min(y(point.value), y(0)),
    width,
    height: Math.abs(y(point.value) - y(0)),
  }, tooltip(label, point)));
}

const tooltip = (label, point) => draw("title", {}, t("{label}, {place}: {value}", { label, place: point.label, value: formatNumber(point.value) }));

// The colour of a dataset, its own or one of ours, as the colour of what is drawn inside.
const ink = ({ color }, n) => (color ? { color } : { class: `series-${n}` });

function legend(dataset, n) {
  return el("li", {}, draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true", ...ink(dataset, n) }, draw("circle", { cx: 5, cy: 5, r: 5 })), el("bdi", {}, dataset.label));
}

function table({ title, x_label: place, datasets }) {
  const rows = datasets[0].data_points.map(({ label }, n) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, label),
    ...datasets.map(({ data_points: points }) => el("td", {}, formatNumber(points[n].value)))));
  const head = [place || t("Label"), ...datasets.map(({ label }) => label)];
  return el("table", { "aria-label": title },
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col", dir: "auto" }, text)))),
    el("tbody", {}, ...rows));
}
