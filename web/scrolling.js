// Scrolling of a log that grows at its end: a reader at the end stays there, others are not moved.

const NEAR_PX = 120;

/** Changes the content of `box`, and stays at its end if it was there. */
export function followEnd(box, change) {
  const near = isNearEnd(box);
  change();
  if (near) toEnd(box);
}

/** Stays at the end of `box` when its size changes. */
export function keepEnd(box) {
  let near = true;
  box.addEventListener("scroll", () => (near = isNearEnd(box)));
  new ResizeObserver(() => near && toEnd(box)).observe(box);
}

export function toEnd(box) {
  box.scrollTop = box.scrollHeight;
}

const isNearEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
