// The console: sign-in, the shown view, and the views connected to each other.

import { connect } from "./api.js";
import { find } from "./dom.js";
import { t, translatePage } from "./i18n.js";
import { installServiceWorker } from "./install.js";
import { takeKeyFromAddress } from "./local_key.js";
import { followAddress, recordAddress, setTitle } from "./router.js";
import { withSealedChats } from "./sealed/calls.js";
import { restoreSession, signOut, takeFarewell } from "./session.js";
import { startChat } from "./views/chat.js";
import { startChatAbout } from "./views/chat_about.js";
import { startChatGuides } from "./views/chat_guides.js";
import { startChatSearch } from "./views/chat_search.js";
import { startChatSharing } from "./views/chat_sharing.js";
import { startChats } from "./views/chats.js";
import { startDividers } from "./views/divider.js";
import { startInbox } from "./views/inbox.js";
import { startLanguageChoice } from "./views/language.js";
import { startLibrary } from "./views/library.js";
import { startPreferences } from "./views/preferences.js";
import { startRecordings } from "./views/recordings.js";
import { reader } from "./views/reader.js";
import { startSearch } from "./views/search.js";
import { startShortcuts } from "./views/shortcuts.js";
import { startSignIn } from "./views/sign_in.js";

const HOME = "library";

function start() {
  const farewell = takeFarewell();
  takeKeyFromAddress();
  translatePage();
  startLanguageChoice();
  find("#sign-out").addEventListener("click", () => signOut());
  const session = restoreSession();
  if (session) open(session);
  else {
    startSignIn((signedIn) => {
      open(signedIn);
      find("#question").focus();
    }, { farewell });
  }
}

function open({ uid, name, getToken }) {
  const api = withSealedChats(connect(getToken, () => signOut(t("Your session has ended. Please sign in again."))), uid);
  const { read, close } = reader(api, {
    onChange: (id, conversation) => library.update(id, conversation),
    onRestored: (id) => library.showAdded([id]),
    onMerged: (merge) => library.showMerged(merge),
    onClose: () => enter(shownView(), shownId),
  });
  // Dates follow the browser's time zone; a zone the server does not know changes nothing.
  api.setTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone).catch(() => {});
  find("#welcome").hidden = true;
  find("#console").hidden = false;
  find("#account-button").textContent = name;
  const library = startLibrary({ api, read, open: (folder) => show("library", folder), onSettled: () => chat.suggest() });
  startRecordings({ api, onDone: (id) => library.showAdded([id]) });
  startSearch({ api, read });
  startPreferences({ api });
  startShortcuts();
  startDividers();
  const views = { inbox: startInbox({ api }).look, library: library.show };
  const apps = once(async () => (await import("./views/apps.js")).startApps({ api, develop: async (id) => {
    await show("developer", id);
    find("#own-app").focus();
  } }).reload);
  const later = {
    apps,
    tasks: once(async () => (await import("./views/tasks.js")).startTasks({ api, read, onChange: library.refresh }).reload),
    folders: once(async () => (await import("./views/folders.js")).startFolders({ api, open: (folder) => show("library", folder) }).reload),
    account: once(async () => (await import("./views/account.js")).startAccount({ api, uid, signOut }).show),
    connect: once(async () => (await import("./views/connect.js")).startConnect({ api, user: name }).show),
    agents: once(async () => (await import("./views/agents.js")).startAgents({ api, open: openChat }).show),
    bin: once(async () => (await import("./views/bin.js")).startBin({ api, onRestored: (kind, id) => kind === "conversations" && library.showAdded([id]) }).reload),
    memories: once(async () => (await import("./views/memories.js")).startMemories({ api, read, openChat }).reload),
    timeline: once(async () => (await import("./views/timeline.js")).startTimeline({ api, read, openChat: (id) => openChat(id) }).reload),
    goals: once(async () => (await import("./views/goals.js")).startGoals({ api }).reload),
    summaries: once(async () =>
      (await import("./views/summaries.js")).startSummaries({ api, read, open: (day) => show("summaries", day) }).show),
    people: once(async () => {
      const people = (await import("./views/people.js")).startPeople({ api, read });
      const ownNames = (await import("./views/own_names.js")).startOwnNames({ api });
      return () => Promise.all([people.reload(), ownNames.reload()]);
    }),
    developer: once(async () => {
      const reloadApps = await apps();
      const openApp = (await import("./views/developer.js")).startDeveloper({ api, onChange: reloadApps });
      return (id) => {
        reloadApps();
        openApp(id);
      };
    }),
  };
  let shownId;
  const enter = (view, id) => {
    shownId = id;
    recordAddress(view, id);
    setTitle(titleOf(view));
  };
  let wanted;
  // A view that is loaded later is shown once its buttons work, unless another was chosen meanwhile.
  const present = async (view, id) => {
    wanted = view;
    const open = later[view] ? await later[view]() : views[view];
    if (wanted !== view) return;
    display(view);
    open?.(id);
  };
  const show = (view, id) => {
    close();
    enter(view, id);
    return present(view, id);
  };
  const openChat = (id, message) => {
    if (!find("#chat").checkVisibility()) show("chat", id);
    enter("chat", id);
    return chat.open(id, message);
  };
  const projects = once(async () => (await import("./views/projects.js")).startProjects({ api, open: openChat }));
  const showProjects = async () => (await projects()).reload();
  const about = startChatAbout({ api });
  const guides = startChatGuides({ api });
  const chats = startChats({ api, uid, open: openChat, showProjects, onShown: (shown) => {
    about.follow(shown);
    guides.follow(shown);
  } });
  startChatSearch({ api, open: openChat });
  const sharing = startChatSharing({ api });
  const chat = startChat({ api, read, onNoted: about.follow, onChange: (session) => {
    chats.refresh(session);
    sharing.follow(session);
  } });
  for (const button of document.querySelectorAll("#views button, #menu button")) {
    button.addEventListener("click", () => show(button.dataset.to));
  }
  find("#show-chats").addEventListener("click", () => show("chats"));
  find("#account-button").addEventListener("click", () => show("account"));
  find("#skip").addEventListener("click", (event) => {
    event.preventDefault();
    if (!find("#chat").checkVisibility()) show("chat");
    find("#question").focus();
  });
  followAddress(({ view, id }) => {
    if (view === "conversations" && id) return read(id);
    close();
    shownId = id;
    const known = titleOf(view) ? view : HOME;
    present(known, id);
    setTitle(titleOf(known));
    if (known === "chat" && id) return chat.open(id);
  }, HOME);
}

// Without a connection a module does not load: a reload then says so.
function once(load) {
  let loading;
  return () => (loading ??= load().catch(() => location.reload()));
}

const shownView = () => find("#console").dataset.view;
const titleOf = (view) => find(`#${CSS.escape(view)}-title`)?.textContent;

function display(view) {
  find("#console").dataset.view = view;
  const isInMenu = [...document.querySelectorAll("#menu button")].some((button) => button.dataset.to === view);
  for (const button of document.querySelectorAll("#views button")) {
    const { to } = button.dataset;
    button.setAttribute("aria-pressed", String(to === view || (to === "menu" && isInMenu)));
  }
}

start();
installServiceWorker();
