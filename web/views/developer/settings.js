// The settings form of an app, new or existing.

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

/** Reads the form as the body of a POST or, for an `app`, of a PATCH. */
export function readForm(form, app) {
  const values = new FormData(form);
  const addresses = Object.entries(INTEGRATION).map(([field, name]) => [name, values.get(field) || null]);
  return {
    name: values.get("name"),
    description: values.get("description"),
    private: values.has("private"),
    external_integration: {
      ...Object.fromEntries(addresses),
      triggers_on: values.get("webhook") ? app?.external_integration.triggers_on ?? ON_CONVERSATION : null,
      actions: values.getAll("action").map((action) => ({ action })),
    },
  };
}
