// The state of a world as its events give it: a fold over them, so that any of them can be looked back at.

export const defaultAccount = 'default';

const emptyState = () => ({ stores: new Map(), devices: new Map(), clock: null });

// Events of devices that need not have a network.
const localEvents = new Set([
  'account', 'faults', 'write', 'notification', 'decision', 'started', 'ended', 'reinstalled', 'clockError',
]);

const storeID = (store, account = defaultAccount) => `${account ?? ''}\n${store}`;

function device(state, event) {
  if (!event.device) return undefined;
  let found = state.devices.get(event.device);
  if (!found) {
    // Writes through the administration have this name.
    if (event.device === 'emulator' && event.event === 'change') return undefined;
    found = {
      device: event.device, account: defaultAccount, streams: new Set(), unread: new Set(), stores: new Set(),
    };
    state.devices.set(event.device, found);
  }
  if (!localEvents.has(event.event)) found.lastSeen = event.time;
  return found;
}

function keysOf(state, store, account) {
  const id = storeID(store, account);
  if (!state.stores.has(id)) state.stores.set(id, new Map());
  return state.stores.get(id);
}

function replaceStores(state, event) {
  state.stores.clear();
  for (const found of state.devices.values()) found.unread.clear();
  for (const [id, entries] of event.snapshot ?? []) {
    state.stores.set(id, new Map(entries.map((entry) => [entry.key, entry])));
  }
}

function apply(state, event) {
  const source = device(state, event);
  const account = event.account ?? source?.account ?? defaultAccount;
  const unread = storeID(event.store, account) + '\n';
  switch (event.event) {
    case 'change': {
      const { key, seq, stamp, time, device: writer, value, deleted } = event;
      keysOf(state, event.store, account).set(key, { key, seq, stamp, time, writer, ...value, deleted });
      for (const other of state.devices.values()) {
        if (other !== source && other.account === account && other.stores.has(event.store)
          && !other.streams.has(event.store)) other.unread.add(unread + key);
      }
      break;
    }
    case 'sync':
      source?.stores.add(event.store);
      for (const key of event.received ?? []) source?.unread.delete(unread + key);
      break;
    case 'connected': source?.streams.add(event.store); break;
    case 'disconnected': source?.streams.delete(event.store); break;
    case 'account': case 'started':
      if (source) source.account = event.account;
      break;
    case 'ended': source?.streams.clear(); break;
    case 'notification':
      for (const key of event.keys ?? []) source?.unread.delete(unread + key);
      break;
    case 'backup': state.backup = structuredClone(state.stores); break;
    case 'restored': state.stores = structuredClone(state.backup ?? new Map()); break;
    case 'clock': state.clock = { time: event.time, following: event.following }; break;
    case 'reset': case 'import': replaceStores(state, event); break;
  }
}

/** The events of one world. */
export class History {
  events = [];
  /** Whether earlier events exist that are not kept. */
  isPartial = false;
  #base = emptyState();
  #limit;

  /** Older events than the latest `limit` are folded into the state before them. */
  constructor(limit = Infinity) { this.#limit = limit; }

  append(event) {
    this.events.push(event);
    while (this.events.length > this.#limit) apply(this.#base, this.events.shift());
  }

  /** The state after the first `count` events. */
  at(count) {
    const state = structuredClone(this.#base);
    for (const event of this.events.slice(0, count)) apply(state, event);
    return state;
  }

  /** Entries that exist now and of which no event remains have been there since the import, or the first event, that is kept. */
  anchor(store, account, entries) {
    const isStart = ({ event }) => event === 'import' || event === 'reset';
    const start = this.events.findLastIndex(isStart);
    const id = storeID(store, account);
    const changed = new Set(this.events.slice(start + 1)
      .filter((event) => event.event === 'change' && event.store === store).map(({ key }) => key));
    const old = entries.filter(({ key }) => !changed.has(key));
    if (start < 0) {
      if (this.isPartial) this.#base.stores.set(id, new Map(old.map((entry) => [entry.key, entry])));
    } else if (this.events[start].event === 'import') {
      this.events[start].snapshot = new Map(this.events[start].snapshot).set(id, old);
    }
  }
}

/** The stores of an exported document, as an event of an import keeps them. */
export const snapshotOf = (document) => new Map(
  (document?.stores ?? []).map(({ store, values }) => [storeID(store), values ?? []]));

/** Entries of a store in a folded state, sorted by key. */
export function entriesIn(state, store, account) {
  const entries = [...state.stores.get(storeID(store, account))?.values() ?? []];
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** Names of the stores of an account in a folded state. */
export const storesIn = (state, account) => [...state.stores.keys()]
  .filter((id) => id.startsWith(`${account ?? ''}\n`)).map((id) => id.slice(id.indexOf('\n') + 1));
