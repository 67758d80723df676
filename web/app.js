// The console: sign-in, the shown view, and the views connected to each other.

import { connect, signIn } from "./api.js";
import { find, onSubmit, say } from "./dom.js";
import { forgetKey, loadKey, storeKey, takeKeyFromAddress } from "./local_key.js";
import { startAccount } from "./views/account.js";
import { startApps } from "./views/apps.js";
import { startChat } from "./views/chat.js";
import { startChats } from "./views/chats.js";
import { startDeveloper } from "./views/developer.js";
import { startInbox } from "./views/inbox.js";
import { startLibrary } from "./views/library.js";
import { startMemories } from "./views/memories.js";
import { startPeople } from "./views/people.js";
import { startPreferences } from "./views/preferences.js";
import { reader } from "./views/reader.js";
import { startSearch } from "./views/search.js";
import { startTasks } from "./views/tasks.js";
import { startTimeline } from "./views/timeline.js";

const SESSION = "keepsake.session";

function start() {
  readAddress();
  window.addEventListener("hashchange", readAddress);
  onSubmit(find("#sign-in"), onSignIn);
  find("#sign-out").addEventListener("click", signOut);
  const saved = sessionStorage.getItem(SESSION);
  if (saved) open(JSON.parse(saved));
  else find("#welcome").hidden = false;
}

// The printed address has the key in its fragment; without a key, the form asks for it.
function readAddress() {
  takeKeyFromAddress();
  showKeyField(!loadKey());
}

function showKeyField(shown) {
  find("#key-field").hidden = !shown;
  find("#local-key").required = shown;
}

async function onSignIn() {
  const problem = find("#sign-in .problem");
  const uid = find("#uid").value.trim();
  const key = find("#local-key").value || loadKey();
  say(problem, "");
  try {
    const session = { uid, token: await signIn(uid, key) };
    storeKey(key);
    find("#local-key").value = "";
    sessionStorage.setItem(SESSION, JSON.stringify(session));
    open(session);
  } catch (error) {
    say(problem, error.message);
    if (error.status !== 401) return;
    forgetKey();
    showKeyField(true);
  }
}

// A reload drops every timer, request and element of the user.
function signOut() {
  sessionStorage.clear();
  location.reload();
}

function open({ uid, token }) {
  const api = connect(token, signOut);
  const read = reader(api, (id, conversation) => library.update(id, conversation));
  // Dates follow the browser's time zone; a zone the server does not know changes nothing.
  api.setTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone).catch(() => {});
  find("#welcome").hidden = true;
  find("#console").hidden = false;
  find("#account-button").textContent = uid;
  const library = startLibrary({ api, read, name: uid });
  startSearch({ api, read });
  startPreferences({ api });
  const apps = startApps({ api, develop: (id) => {
    show("developer", id);
    find("#own-app").focus();
  } });
  const openApp = startDeveloper({ api, onChange: apps.reload });
  const views = {
    apps: apps.reload,
    developer: (id) => {
      apps.reload();
      openApp(id);
    },
    inbox: startInbox({ api }).look,
    timeline: startTimeline({ api, read }).reload,
    memories: startMemories({ api, read }).reload,
    tasks: startTasks({ api, read }).reload,
    people: startPeople({ api }).reload,
    account: startAccount({ api, uid, signOut }).reload,
  };
  const show = (view, id) => {
    display(view);
    views[view]?.(id);
  };
  const chats = startChats({ api, open: (id) => {
    if (!find("#chat").checkVisibility()) show("chat");
    return chat.open(id);
  } });
  const chat = startChat({ api, read, onChange: chats.refresh });
  for (const button of document.querySelectorAll("#views button")) {
    button.addEventListener("click", () => show(button.dataset.to));
  }
  find("#show-chats").addEventListener("click", () => show("chats"));
  find("#account-button").addEventListener("click", () => show("account"));
  show("library");
}

function display(view) {
  find("#console").dataset.view = view;
  for (const button of document.querySelectorAll("#views button")) {
    button.setAttribute("aria-pressed", String(button.dataset.to === view));
  }
}

start();
