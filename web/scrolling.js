// Scrolling of a log that grows at its end: a reader at the end stays there, others are not moved.

const NEAR_PX = 120;

/** Stays at the end of `box` while it grows or its size changes; what a reader opens within it moves nobody. */
export function keepEnd(box) {
  let near = true;
  const follow = () => near && toEnd(box);
  box.addEventListener("scroll", () => (near = isNearEnd(box)));
  box.addEventListener("load", follow, true); // a picture has its size now
  new ResizeObserver(follow).observe(box);
  new MutationObserver((changes) => changes.some(isOfLog) && follow())
    .observe(box, { childList: true, subtree: true, characterData: true });
}

export function toEnd(box) {
  box.scrollTop = box.scrollHeight;
}

const isNearEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
const isOfLog = ({ target }) => !(target.parentElement ?? target).closest("details");
