// The page of the emulator: its model, and what keeps it current.

import { EventReader, path } from './api.js';
import { get } from './http.js';
import { createControls } from './controls.js';
import { createDevices } from './devices.js';
import { $, announce, count, options, setText } from './dom.js';
import { createEvents } from './events.js';
import { defaultAccount, History } from './history.js';
import { createKeys } from './keys.js';
import { firstAccount, parseRecord } from './record.js';
import { showError } from './texts.js';

const eventLimit = 1000;

/** The latest answers about the world. */
function emptyLive() {
  return {
    /** Milliseconds since the answer. */
    age() { return performance.now() - (this.received ?? performance.now()); },
    /** The present time of the world. */
    time() { return this.clock ? Math.round(this.clock.time + (this.clock.following ? this.age() : 0)) : Date.now(); },
  };
}

const app = {
  world: null,
  store: null,
  account: defaultAccount,
  key: null,
  /** The number of events before the scrubber; null for the present. */
  position: null,
  record: null,
  history: new History(eventLimit),
  live: emptyLive(),
  worlds: [],

  select(change) {
    Object.assign(app, change);
    if ('store' in change || 'account' in change) app.refresh();
    app.changed();
  },

  scrub(position, staysInPast = false) {
    const { length } = app.history.events;
    const isPresent = position >= length && !staysInPast;
    app.position = isPresent && !app.record ? null : Math.max(0, Math.min(position, length));
    if (app.position === null) app.refresh();
    app.changed();
  },

  step(offset) {
    const present = app.position ?? app.history.events.length;
    app.scrub(Math.max(1, present + offset));
  },

  changed() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      render();
    });
  },

  /** Reads the world again, once more if this is called meanwhile. */
  async refresh() {
    if (app.record) return;
    if (isRefreshing) {
      isStale = true;
      return;
    }
    isRefreshing = true;
    do {
      isStale = false;
      await read();
    } while (isStale);
    isRefreshing = false;
  },
};

let [isScheduled, isRefreshing, isStale, reader] = [false, false, false, null];

const panels = [createKeys(app), createDevices(app), createEvents(app), createControls(app)];

// Reading the world

async function readWorlds() {
  app.worlds = (await get(path('worlds'))).worlds;
  if (app.world === null && app.worlds.length > 0) {
    const names = app.worlds.map(({ world }) => world);
    const wanted = new URLSearchParams(location.hash.slice(1)).get('world');
    choose(names.includes(wanted) ? wanted : names.includes('default') ? 'default' : names[0]);
  }
}

/** What this emulator does not have, so that it is not asked again. */
const unsupported = new Map();

async function attempt(request, name) {
  if (unsupported.has(name)) return [undefined, unsupported.get(name)];
  try { return [await request(), null]; } catch (error) {
    if (name && error.isUnsupported) unsupported.set(name, error);
    return [undefined, error];
  }
}

async function read() {
  const [, error] = await attempt(readWorlds);
  showError('worlds-error', error);
  const { world, store, account, history } = app;
  if (error || world === null) return app.changed();
  const storePath = () => path('worlds', world, 'stores', store)
    + (account === defaultAccount ? '' : `?account=${encodeURIComponent(account)}`);
  const [report, entries, clock, settings, violations] = await Promise.all([
    attempt(() => get(path('worlds', world))),
    store === null ? [undefined, null] : attempt(() => get(storePath()), 'stores'),
    ...['clock', 'settings', 'violations'].map((name) => attempt(() => get(path('worlds', world, name)), name)),
  ]);
  if (app.world !== world || app.record) return;
  const isUnknown = entries[1] && ['unknown-store', 'unknown-world'].includes(entries[1].code);
  Object.assign(app.live, {
    received: performance.now(),
    report: report[0], reportError: report[1],
    entries: isUnknown ? [] : entries[0]?.keys, entriesOf: `${account}\n${store}`,
    entriesError: isUnknown ? null : entries[1],
    clock: clock[0], clockError: clock[1],
    settings: settings[0], settingsError: settings[1],
    violations: violations[0]?.violations,
  });
  if (entries[0]) history.anchor(store, account, entries[0].keys);
  app.changed();
}

function choose(world) {
  Object.assign(app, {
    world, store: null, account: app.record ? firstAccount(app.record, world) : defaultAccount, key: null, position: null, live: emptyLive(),
    history: app.record ? app.record.worlds.get(world) : new History(eventLimit),
  });
  if (app.record) app.position = app.history.events.length;
  else {
    history.replaceState(null, '', `#world=${encodeURIComponent(world)}`);
    listen();
    app.refresh();
  }
  app.changed();
}

function listen() {
  reader?.close();
  reader = new EventReader({
    event(event) {
      if (event.world === app.world) {
        app.history.append(event);
        if (app.position !== null && app.history.events.length === eventLimit) app.position = Math.max(0, app.position - 1);
        app.changed();
      }
      app.refresh();
    },
    lost() {
      app.history = new History(eventLimit);
      app.history.isPartial = true;
      app.position = null;
      app.refresh();
    },
    state(isOpen) {
      $('connection').classList.toggle('on', isOpen);
      setText($('connection'), isOpen ? 'live' : 'reconnecting');
      // What has changed, or that nothing answers.
      app.refresh();
    },
  });
}

// Records

$('open-record').addEventListener('click', () => $('record-file').click());
$('record-file').addEventListener('change', () => {
  const [file] = $('record-file').files;
  $('record-file').value = '';
  openRecord(file);
});
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  openRecord(event.dataTransfer.files[0]);
});

async function openRecord(file) {
  if (!file) return;
  try {
    const record = parseRecord(await file.text(), file.name);
    reader?.close();
    app.record = record;
    app.worlds = [...record.worlds.keys()].map((world) => ({ world }));
    if (app.worlds.length === 0) app.record.worlds.set('', new History());
    choose(app.worlds[0]?.world ?? '');
    announce(`Opened ${file.name}.`);
  } catch (error) {
    announce(error.message, true);
  }
}

$('close-record').addEventListener('click', () => {
  Object.assign(app, { record: null, world: null, history: new History(eventLimit), position: null, live: emptyLive() });
  listen();
  app.refresh();
  app.changed();
  $('open-record').focus();
});

// Rendering

function render() {
  const { events } = app.history;
  const position = app.position ?? events.length;
  const isLive = app.position === null && !app.record;
  const view = { position, isLive, state: app.history.at(position) };
  options($('world'), app.worlds.map(({ world, deviceCount, keyCount }) => [world,
    deviceCount === undefined ? world : `${world} (${count(deviceCount, 'device')}, ${count(keyCount, 'key')})`]), app.world);
  $('world').disabled = app.worlds.length === 0;
  const isEmpty = app.world === null && !app.record;
  $('welcome').hidden = !isEmpty;
  $('panels').hidden = $('timeline').hidden = isEmpty;
  document.body.dataset.mode = app.record ? 'record' : isLive ? 'live' : 'past';
  const { seed, source } = app.record?.header ?? {};
  setText($('mode'), app.record ? `${app.record.name}, read only${seed === undefined ? '' : `, seed ${seed}`}${source === undefined ? '' : `, ${source}`}`
    : 'Read only: the world as of the event under the scrubber.');
  $('mode-bar').hidden = isLive;
  $('connection').hidden = Boolean(app.record);
  $('close-record').hidden = !app.record;
  $('return-live').hidden = Boolean(app.record);
  for (const panel of panels) panel.render(view);
}

$('world').addEventListener('change', () => choose($('world').value));
$('return-live').addEventListener('click', () => {
  app.scrub(Infinity);
  $('scrubber').focus();
});
$('address').textContent = location.origin;

// Shortcuts

const shortcuts = {
  '?': () => $('help-dialog').showModal(),
  w: () => $('world').focus(),
  k: () => $('keys').querySelector('button')?.focus(),
  d: () => $('devices').querySelector('button, select')?.focus(),
  e: () => $('events').focus(),
  t: () => $('scrubber').focus(),
  n: () => $('add-key').click(),
  s: () => $('settle').click(),
  l: () => app.scrub(Infinity),
  '[': () => app.step(-1),
  ']': () => app.step(1),
};

$('help').addEventListener('click', shortcuts['?']);
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input:not([type=range], [type=checkbox]), textarea, select');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')
    || !$('shortcuts-on').checked || !Object.hasOwn(shortcuts, event.key)) return;
  event.preventDefault();
  shortcuts[event.key]();
});

// The clock runs; what its reader sees changes once a second.
setInterval(() => app.position === null && !app.record && app.changed(), 1000);
// A world or a device appears with a request, which need not cause an event.
setInterval(() => document.visibilityState === 'visible' && app.refresh(), 5000);

listen();
app.refresh();
app.changed();
