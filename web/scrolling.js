// Scrolling of a log that grows at its end: a reader at the end stays there, others are not moved.

const NEAR_PX = 120;
const GAP_PX = 8;

/**
 * Stays at the end of `box` while it grows or its size changes; what a reader opens within it moves nobody.
 * A long answer stops with its question at the top, to be read from its beginning, until a reader goes on to its end.
 */
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
  const end = box.scrollHeight - box.clientHeight;
  const question = [...box.querySelectorAll(".human")].at(-1);
  const top = question ? box.scrollTop + question.getBoundingClientRect().top - box.getBoundingClientRect().top - GAP_PX : end;
  box.scrollTop = box.scrollTop > top + 1 ? end : Math.min(end, top);
}

const isNearEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
const isOfLog = ({ target }) => !(target.parentElement ?? target).closest("details");
