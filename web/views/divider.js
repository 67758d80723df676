// The borders between the columns: dragged, or moved by the arrow keys. Where they stand is kept in this browser.

import { find } from "../dom.js";

const STEP_PX = 24;

/** Style sheets bound the widths, so that every column stays readable in any window. */
export function startDividers() {
  startDivider(find("#divider"), { name: "list-width", column: 1, growsTo: 1 });
  startDivider(find("#reader-divider"), { name: "reader-width", column: 3, growsTo: -1 });
}

function startDivider(divider, { name, column, growsTo }) {
  const grid = find("#console");
  const place = `keepsake.${name}`;
  const measure = () => parseFloat(getComputedStyle(grid).gridTemplateColumns.split(" ")[column]);
  const tell = (px) => (divider.ariaValueNow = Math.round(px));

  function widen(px) {
    grid.style.setProperty(`--${name}`, `${px}px`);
    localStorage.setItem(place, Math.round(measure()));
    tell(measure());
  }
  function reset() {
    grid.style.removeProperty(`--${name}`);
    localStorage.removeItem(place);
    tell(measure());
  }

  const kept = Number(localStorage.getItem(place));
  if (kept) grid.style.setProperty(`--${name}`, `${kept}px`);
  tell(kept || measure() || divider.ariaValueNow);
  divider.addEventListener("focus", () => tell(measure()));
  divider.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    divider.setPointerCapture(event.pointerId);
    const begun = measure() - growsTo * event.clientX;
    divider.onpointermove = ({ clientX }) => widen(begun + growsTo * clientX);
  });
  divider.addEventListener("lostpointercapture", () => (divider.onpointermove = null));
  divider.addEventListener("dblclick", reset);
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    if (!step) return;
    event.preventDefault();
    widen(measure() + growsTo * step);
  });
}
