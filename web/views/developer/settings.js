// What a developer says about an app: the form of a new one, and of one that changes.

const INTEGRATION = { home: "app_home_url", manifest: "chat_tools_manifest_url", webhook: "webhook_url" };
const ON_CONVERSATION = "memory_creation"; // the wire's name for a processed conversation

/** Fills the form with an app; without one it is empty, for a private app. */
export function fill(form, app) {
  form.reset();
  if (!app) return;
  const { external_integration: integration } = app;
  const { elements } = form;
  elements.name.value = app.name;
  elements.description.value = app.description;
  elements.private.checked = app.private;
  for (const [field, name] of Object.entries(INTEGRATION)) elements[field].value = integration[name] ?? "";
  const allowed = integration.actions.map(({ action }) => action);
  for (const box of elements.action) box.checked = allowed.includes(box.value);
}

/** What the form says, as POST and, of an `app`, PATCH take it. */
export function written(form, app) {
  const given = new FormData(form);
  const addresses = Object.entries(INTEGRATION).map(([field, name]) => [name, given.get(field) || null]);
  return {
    name: given.get("name"),
    description: given.get("description"),
    private: given.has("private"),
    external_integration: {
      ...Object.fromEntries(addresses),
      triggers_on: given.get("webhook") ? app?.external_integration.triggers_on ?? ON_CONVERSATION : null,
      actions: given.getAll("action").map((action) => ({ action })),
    },
  };
}
