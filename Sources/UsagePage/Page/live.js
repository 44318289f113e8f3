// The daemon's data, followed as long as somebody looks.

import { RequestError, parseJSON } from './http.js';

export const store = '/v1/stores/default';
const isUsage = (key) => key.startsWith('com.codexbar.usage.snapshot');
/** Presence is not an event: it is asked for as often as the terminal does. */
const presenceInterval = 60_000;

/** `me`, `usage` and `keys` as the daemon states them, and `link`: how and since when they are known. */
export class Live {
  me;
  usage;
  /** By name. */
  keys = new Map();
  /** The latest changes of keys, newest first. */
  changes = [];
  link = { state: 'connecting', since: Date.now() };
  /** Called with the former and the present usage. */
  replaced;
  /** When the daemon was last heard, by its clock. */
  #seen = Date.now();
  /** Milliseconds that the daemon's clock is ahead of this one. */
  #ahead = 0;
  #source;
  #timer;
  #retry = 1_000;
  #tag;
  #isLoading = false;
  #isDue = false;
  #wasOpened = false;
  #missing;

  /** @param {() => void} changed called after any change */
  constructor(changed) {
    this.changed = changed;
    const { me, usage, time } = saved();
    [this.me, this.usage] = [me, usage];
    // Until the daemon answers, it is not known what has happened since.
    if (time) this.link = { state: 'connecting', since: this.#seen = time };
    document.addEventListener('visibilitychange', () => this.#follow());
    addEventListener('online', () => this.#follow());
    addEventListener('offline', () => {
      this.#rest();
      this.#lose();
    });
    // A page that the browser has kept in memory goes on where it was.
    addEventListener('pageshow', ({ persisted }) => persisted && this.#follow());
    addEventListener('pagehide', () => this.#rest());
  }

  get now() { return Date.now() + this.#ahead; }

  /** Whether somebody has signed in here, and not out. */
  get isSignedIn() { return this.me !== undefined; }

  /** Asks who this is, also after signing in. */
  async start() {
    try {
      this.me = await this.#fetch('/v1/me').then((answer) => answer.json());
    } catch (error) {
      if (error.code === 'unauthorized') return this.signOut();
      this.#lose();
    }
    await this.#follow();
  }

  /** Forgets everything. */
  signOut() {
    this.#rest();
    this.me = this.usage = this.#tag = undefined;
    this.keys.clear();
    this.changes = [];
    this.#wasOpened = false;
    localStorage.removeItem('last');
    this.changed();
  }

  #save() {
    try {
      localStorage.setItem('last', JSON.stringify({ me: this.me, usage: this.usage, time: this.now }));
    } catch { /* Without room it is not there the next time. */ }
  }

  async #follow() {
    if (document.hidden || !this.isSignedIn) return this.#rest();
    if (this.#source) return;
    if (this.now - this.#seen > presenceInterval) {
      this.link = { state: 'connecting', since: this.#seen };
      this.changed();
    }
    // Who has been removed opens no stream. It begins with all keys, so nothing is missed in between.
    await this.#load();
    if (!document.hidden && this.isSignedIn && !this.#source) this.#open();
  }

  /** Costs nothing until it is looked at again. */
  #rest() {
    clearTimeout(this.#timer);
    clearTimeout(this.#opening);
    clearInterval(this.#presence);
    this.#source?.close();
    this.#source = undefined;
  }

  #presence;
  #opening;

  #open() {
    this.#rest();
    const source = new EventSource(`${store}/changes?values=false`);
    this.#source = source;
    let isFirst = true;
    source.addEventListener('opened', () => {
      this.#retry = 1_000;
      // The keys follow, and then what has happened meanwhile.
      if (isFirst) this.#begin();
      isFirst = false;
      this.#connect();
    });
    source.addEventListener('change', ({ data }) => this.#note(parseJSON(data)));
    source.addEventListener('reset', () => this.#again(0));
    source.addEventListener('error', () => {
      this.#again(this.#retry);
      // A store begins with its first key.
      this.#retry = Math.min(this.#retry * 2, this.usage?.empty ? 2_000 : 30_000);
      // The daemon may be out of reach, or the device have been removed.
      this.#load();
    });
    let tick = Date.now();
    this.#presence = setInterval(() => {
      const hasSlept = Date.now() - tick > 2 * presenceInterval;
      tick = Date.now();
      // The stream may have ended without a word.
      if (hasSlept) this.#again(0);
      else this.#load();
    }, presenceInterval);
  }

  #again(delay) {
    this.#rest();
    this.#timer = setTimeout(() => this.#follow(), delay);
  }

  /** All keys follow; those that do not have been deleted. */
  #begin() {
    this.#missing = new Set(this.keys.keys());
    this.#opening = setTimeout(() => {
      this.#wasOpened = true;
      for (const key of this.#missing) this.keys.delete(key);
      this.changed();
    }, 500);
  }

  #note(change) {
    const known = this.keys.get(change.key);
    this.#missing.delete(change.key);
    if (change.deleted) this.keys.delete(change.key);
    else this.keys.set(change.key, change);
    // What there was before is no change.
    if (known ? known.stamp !== change.stamp : this.#wasOpened && !change.deleted) {
      this.changes.unshift({ ...change, seen: this.now });
      this.changes.length = Math.min(this.changes.length, 200);
    }
    if (isUsage(change.key)) this.#load();
    this.changed();
  }

  async #load() {
    if (this.#isLoading) {
      this.#isDue = true;
      return;
    }
    this.#isLoading = true;
    try {
      do {
        this.#isDue = false;
        const answer = await this.#fetch(
          `/v1/usage?format=cards&${zone()}`,
          this.#tag ? { 'If-None-Match': this.#tag } : {});
        if (answer.status !== 304) {
          const usage = await answer.json();
          if (!this.isSignedIn) return;
          this.replaced?.(this.usage, usage);
          this.usage = usage;
          this.#tag = answer.headers.get('ETag');
          this.#save();
        }
        this.#connect();
      } while (this.#isDue);
    } catch (error) {
      if (error.code === 'unauthorized') this.signOut();
      else if (error.code === 'busy') setTimeout(() => this.#load(), 1_000 + Math.random() * 2_000);
      else this.#lose();
    } finally {
      this.#isLoading = false;
    }
  }

  /** What is known of one account. */
  async details(card) {
    const [provider, account] = card.id.split('\t');
    const query = new URLSearchParams({ format: 'details', provider });
    if (account) query.set('account', account);
    const found = await this.#fetch(`/v1/usage?${query}&${zone()}`).then((answer) => answer.json());
    return found.find(({ id }) => id === card.id);
  }

  async #fetch(path, headers = {}) {
    let answer;
    try {
      answer = await fetch(path, { headers, cache: 'no-store' });
    } catch {
      throw new RequestError('The daemon does not answer.', 'unreachable');
    }
    const date = Date.parse(answer.headers.get('Date'));
    // Whole seconds: within one, the clocks are taken for equal.
    if (!Number.isNaN(date)) this.#ahead = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now();
    if (answer.ok || answer.status === 304) return answer;
    const problem = await answer.json().catch(() => ({}));
    throw new RequestError(problem.detail ?? `Status ${answer.status}`, problem.code);
  }

  #connect() {
    this.#seen = this.now;
    if (this.link.state !== 'live') this.link = { state: 'live', since: Date.now() };
    this.changed();
  }

  #lose() {
    if (this.link.state !== 'offline') this.link = { state: 'offline', since: this.#seen };
    this.changed();
  }
}

/** What was known the last time. */
function saved() {
  try {
    return JSON.parse(localStorage.getItem('last')) ?? {};
  } catch {
    return {};
  }
}

/** The offset of the person's clock, by which days of costs end. */
function zone() {
  const minutes = -new Date().getTimezoneOffset();
  const two = (number) => String(Math.floor(Math.abs(number))).padStart(2, '0');
  return `zone=${encodeURIComponent(`${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`)}`;
}
