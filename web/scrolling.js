// A log that grows at its end: reading further up is left in peace, at the end one stays at the end.

const NEAR_PX = 120;

/** Makes a change to what is in `box`. */
export function followEnd(box, change) {
  const near = isNearEnd(box);
  change();
  if (near) toEnd(box);
}

/** Stays at the end of `box` also when it narrows. */
export function keepEnd(box) {
  let near = true;
  box.addEventListener("scroll", () => (near = isNearEnd(box)));
  new ResizeObserver(() => near && toEnd(box)).observe(box);
}

export function toEnd(box) {
  box.scrollTop = box.scrollHeight;
}

const isNearEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
