// A panel whose list grows page by page.

import { attempting, find, moveTo } from "../dom.js";
import { remains } from "./throwing_away.js";

/**
 * Fills the panel `view` with `row(item)` for each item of `page(cursor)`, which returns `{items, next}`;
 * `place(list, rows, items)` says where they stand, if not in their order. Returns `reload()` and `attempt(act)`, which runs a change and shows its error.
 */
export function listing(view, { page, row, place = (list, rows) => list.append(...rows) }) {
  const list = find(".rows", view);
  const more = find(".more", view);
  const attempt = attempting(find(".problem", view));
  let cursor;

  async function load(from) {
    const { items: stored, next } = await page(from);
    const items = stored.filter(remains);
    cursor = next;
    more.hidden = !next;
    const rows = items.map(row);
    if (!from) list.replaceChildren();
    place(list, rows, items);
    return rows;
  }

  const reload = () => attempt(async () => {
    list.ariaBusy = "true";
    try {
      await load();
      find(".empty", view).hidden = list.childElementCount > 0;
    } finally {
      list.ariaBusy = "false";
    }
  });
  more.addEventListener("click", () => attempt(async () => {
    const added = await load(cursor);
    moveTo(added[0]);
  }));
  return { reload, attempt };
}
