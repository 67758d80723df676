// The HTTP interface of projects, apart from the rest: it loads with their view.

import { at, query } from "../http.js";

/** Returns one function per call; `call` makes each as the user who signed in. */
export const projectCalls = (call) => ({
  projects: (cursor) => call("GET", `/v2/projects?${query({ cursor })}`),
  addProject: (name) => call("POST", "/v2/projects", { body: { name } }),
  renameProject: (id, name) => call("PATCH", at`/v2/projects/${id}`, { body: { name } }),
  deleteProject: (id) => call("DELETE", at`/v2/projects/${id}`),
  projectFiles: (id) => call("GET", at`/v2/projects/${id}/files`),
  addProjectFile: (id, file) => call("PUT", at`/v2/projects/${id}/files/${file}`),
  takeOutFile: (id, file) => call("DELETE", at`/v2/projects/${id}/files/${file}`),
  files: () => call("GET", "/v2/files?limit=100"),
});
