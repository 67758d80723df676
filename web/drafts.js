// Drafts: what is written in a field and not sent yet stands there again after a reload of this tab.

const MAX_CHARS = 500_000; // a browser stores little more in a tab

/** Restores the draft of `field`, and keeps what stands in it when the page goes, unless `isSecret()`. */
export function keepDraft(field, isSecret = () => false) {
  const name = `keepsake.draft.${field.id}`;
  field.value ||= sessionStorage.getItem(name) ?? "";
  addEventListener("pagehide", () => {
    if (field.value && !isSecret() && field.value.length <= MAX_CHARS) sessionStorage.setItem(name, field.value);
    else sessionStorage.removeItem(name);
  });
}
