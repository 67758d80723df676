// The border between the lists and the chat: dragged, or moved by the arrow keys. Where it stands is kept in this browser.

import { find } from "../dom.js";

const WIDTH = "keepsake.list-width";
const STEP_PX = 24;

/** Style sheets bound the width, so that both sides stay readable in any window. */
export function startDivider() {
  const grid = find("#console");
  const divider = find("#divider");
  const measure = () => parseFloat(getComputedStyle(grid).gridTemplateColumns.split(" ")[1]);

  function widen(px) {
    grid.style.setProperty("--list-width", `${px}px`);
    keep(Math.round(measure()));
  }
  function keep(px) {
    localStorage.setItem(WIDTH, px);
    divider.ariaValueNow = px;
  }
  function reset() {
    grid.style.removeProperty("--list-width");
    localStorage.removeItem(WIDTH);
    divider.ariaValueNow = Math.round(measure());
  }

  const kept = Number(localStorage.getItem(WIDTH));
  if (kept) grid.style.setProperty("--list-width", `${kept}px`);
  divider.ariaValueNow = Math.round(measure());
  divider.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    divider.setPointerCapture(event.pointerId);
    const offset = measure() - event.clientX;
    divider.onpointermove = ({ clientX }) => widen(clientX + offset);
  });
  divider.addEventListener("lostpointercapture", () => (divider.onpointermove = null));
  divider.addEventListener("dblclick", reset);
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    if (!step) return;
    event.preventDefault();
    widen(measure() + step);
  });
}
