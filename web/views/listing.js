// A panel whose list grows page by page.

import { attempting, find, moveTo } from "../dom.js";

/**
 * Fills the panel `view` with `row(item)` for each item of `page(cursor)`, which returns `{items, next}`.
 * Returns `reload()` and `attempt(act)`, which runs a change and shows its error.
 */
export function listing(view, { page, row }) {
  const list = find(".rows", view);
  const more = find(".more", view);
  const attempt = attempting(find(".problem", view));
  let cursor;

  async function load(from) {
    const { items, next } = await page(from);
    cursor = next;
    more.hidden = !next;
    return items.map(row);
  }

  const reload = () => attempt(async () => {
    list.ariaBusy = "true";
    try {
      list.replaceChildren(...(await load()));
      find(".empty", view).hidden = list.childElementCount > 0;
    } finally {
      list.ariaBusy = "false";
    }
  });
  more.addEventListener("click", () => attempt(async () => {
    const added = await load(cursor);
    list.append(...added);
    moveTo(added[0]);
  }));
  return { reload, attempt };
}
