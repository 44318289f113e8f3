// The daemon's data, followed while the page is visible.

import { parseJSON, request } from './http.js';
import { session } from './session.js';
import { share } from './stream.js';
import { utcOffset } from './times.js';

export const store = '/v1/stores/default';
const isUsage = (key) => key.startsWith('com.codexbar.usage.snapshot');
const year = 'com.codexbar.usage.year';
/** Presence is not an event: it is asked for as often as the terminal does. */
const presenceInterval = 60_000;
/** Milliseconds between two questions what there is to say, at least: a tool may write many lines a second. */
const shortestInterval = 500;
/** Milliseconds between attempts to reach a daemon that does not answer, at most. */
const longestRetry = 5_000;

/** `me`, `usage` and `keys` as the daemon states them, and `connection`: how and since when they are known. */
export class Live {
  me;
  usage;
  /** By name. */
  keys = new Map();
  /** The latest changes of keys, newest first. */
  changes = [];
  connection = { state: 'connecting', since: Date.now() };
  /** The time of the daemon's last answer, by its clock. */
  #lastAnswer = Date.now();
  /** Milliseconds that the daemon's clock is ahead of this one. */
  #ahead = 0;
  #stream;
  #timer;
  #retry = 1_000;
  #tag;
  #loading;
  #isStale = false;
  #isReplayed = false;
  #unconfirmed;

  /**
   * @param {() => void} changed called after any change
   * @param {(former, present) => void} replaced called when there is newer usage
   * @param {() => void} opened called when the daemon can be reached again
   */
  constructor(changed, replaced, opened) {
    Object.assign(this, { changed, replaced, opened });
    // As of a version whose sessions were cookies alone.
    if (!session.exists) localStorage.removeItem('last');
    const { me, usage, time } = saved();
    this.me = session.exists ? me ?? { deviceID: null, scopes: [] } : undefined;
    this.usage = usage;
    // Until the daemon answers, it is not known what has happened since.
    if (time) this.connection = { state: 'connecting', since: this.#lastAnswer = time };
    document.addEventListener('visibilitychange', () => this.#follow());
    addEventListener('online', () => this.retry());
    addEventListener('focus', () => this.connection.state === 'offline' && this.retry());
    // A daemon on this machine answers without a network.
    addEventListener('offline', () => {
      this.#setOffline();
      this.#reconnect(0);
    });
    // Restored from the back/forward cache.
    addEventListener('pageshow', ({ persisted }) => persisted && this.#follow());
    addEventListener('pagehide', () => this.#suspend());
  }

  get now() { return Date.now() + this.#ahead; }

  /** Whether this browser is signed in. */
  get isSignedIn() { return this.me !== undefined; }

  /** Asks for the identity of this device, also after signing in. */
  async start() {
    // Both at once: a phone may be far away.
    const identified = this.#identify();
    if (this.isSignedIn) this.#load();
    if (await identified) await this.#follow();
  }

  /** Asks for everything about devices again, after one has been changed here. */
  async refresh() {
    if (await this.#identify()) await this.#load();
  }

  /** Whether this browser is signed in, as far as is known. */
  async #identify() {
    try {
      this.me = await this.#get('/v1/me').then((answer) => answer.json());
    } catch (error) {
      if (error.code in signedOut) {
        this.signOut(signedOut[error.code]);
        return false;
      }
      this.#setOffline();
    }
    return true;
  }

  /** Forgets everything. `reason` is why, unless the user has signed out here. */
  signOut(reason = '') {
    this.reason = reason;
    this.#suspend();
    this.me = this.usage = this.#tag = undefined;
    this.keys.clear();
    this.changes = [];
    this.#isReplayed = false;
    localStorage.removeItem('last');
    session.end(reason);
    this.changed();
  }

  #save() {
    try {
      localStorage.setItem('last', JSON.stringify({ me: this.me, usage: this.usage, time: this.now }));
    } catch { /* Out of quota: the next visit begins without data. */ }
  }

  /** Asks at once, whatever is waited for. */
  retry() {
    this.#retry = 1_000;
    this.#suspend();
    return this.#follow();
  }

  async #follow() {
    if (document.hidden || !this.isSignedIn) return this.#suspend();
    if (this.#stream) return;
    if (this.now - this.#lastAnswer > presenceInterval) {
      this.connection = { state: 'connecting', since: this.#lastAnswer };
      this.changed();
    }
    // A removed device opens no stream. A stream begins with all keys, so nothing is missed in between.
    await this.#load();
    if (!document.hidden && this.isSignedIn && !this.#stream) this.#open();
  }

  /** Holds no connection and no timer until the page is visible again. */
  #suspend() {
    clearTimeout(this.#timer);
    clearTimeout(this.#replayTimer);
    clearInterval(this.#presenceTimer);
    clearTimeout(this.#pauseTimer);
    this.#endPause?.();
    this.#stream?.abort();
    this.#stream = undefined;
  }

  #presenceTimer;
  #replayTimer;
  #pauseTimer;
  #endPause;
  #asked = -Infinity;

  #open() {
    this.#suspend();
    const stream = new AbortController();
    this.#stream = stream;
    const handle = (type, data) => {
      if (type === 'change') this.#apply(parseJSON(data));
      else if (type === 'reset') this.#reconnect(0);
      else if (type === 'opened') {
        this.#retry = 1_000;
        // The keys follow, and then what has happened meanwhile.
        this.#beginReplay();
        this.#setLive();
        // From now on the daemon sees that this device is there.
        this.#load();
        this.opened();
      }
    };
    share(`${store}/changes?values=false`, stream.signal, handle, () => this.keys.values()).catch(() => {
      if (stream.signal.aborted) return;
      this.#reconnect(this.#retry);
      // A store begins with its first key.
      this.#retry = Math.min(this.#retry * 2, this.usage?.empty ? 2_000 : longestRetry);
      // The daemon may be out of reach, or the device have been removed.
      this.#load();
    });
    let tick = Date.now();
    this.#presenceTimer = setInterval(() => {
      const hasSlept = Date.now() - tick > 2 * presenceInterval;
      tick = Date.now();
      // The stream may be dead without an error.
      if (hasSlept) this.#reconnect(0);
      else this.#load();
    }, presenceInterval);
  }

  #reconnect(delay) {
    this.#suspend();
    this.#timer = setTimeout(() => this.#follow(), delay);
  }

  /** A stream begins with all keys; those that it leaves out have been deleted. */
  #beginReplay() {
    this.#unconfirmed = new Set(this.keys.keys());
    this.#replayTimer = setTimeout(() => {
      this.#isReplayed = true;
      for (const key of this.#unconfirmed) this.keys.delete(key);
      this.changed();
    }, 500);
  }

  #apply(change) {
    const known = this.keys.get(change.key);
    this.#unconfirmed.delete(change.key);
    if (change.deleted) this.keys.delete(change.key);
    else this.keys.set(change.key, change);
    // A replayed key has not changed.
    if (known ? known.stamp !== change.stamp : this.#isReplayed && !change.deleted) {
      this.changes.unshift({ ...change, seen: this.now });
      this.changes.length = Math.min(this.changes.length, 200);
    }
    if (isUsage(change.key)) this.#load();
    this.changed();
  }

  /** Asks what there is to say; once more if this is called meanwhile. */
  #load() {
    this.#isStale = true;
    return this.#loading ??= this.#ask().finally(() => {
      this.#loading = undefined;
      return this.#isStale && this.isSignedIn ? this.#load() : undefined;
    });
  }

  async #ask() {
    try {
      do {
        await this.#pause();
        this.#isStale = false;
        // It is asked for when the page is visible again.
        if (document.hidden) return;
        this.#asked = performance.now();
        const answer = await this.#get(
          `/v1/usage?format=cards&${zone()}`,
          this.#tag ? { 'If-None-Match': this.#tag } : {});
        if (answer.status !== 304) {
          const usage = await answer.json();
          if (!this.isSignedIn) return;
          this.replaced(this.usage, usage);
          this.usage = usage;
          this.#tag = answer.headers.get('ETag');
          this.#save();
        }
        this.#setLive();
      } while (this.#isStale);
    } catch (error) {
      if (error.code in signedOut) this.signOut(signedOut[error.code]);
      else if (error.code === 'busy') setTimeout(() => this.#load(), 1_000 + Math.random() * 2_000);
      else this.#setOffline();
    }
  }

  /** Waits until the next question is due, or the page is hidden. */
  async #pause() {
    const time = this.#asked + shortestInterval - performance.now();
    if (time > 0) {
      await new Promise((resolve) => {
        this.#endPause = resolve;
        this.#pauseTimer = setTimeout(resolve, time);
      });
    }
  }

  /** What is known of one account. */
  async details(card) {
    const [provider, account] = card.id.split('\t');
    // The daemon takes a plus sign for one, and not for a space.
    const query = [['provider', provider], ...(account ? [['account', account]] : [])]
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    const found = await this.#get(`/v1/usage?format=details&${query}&${zone()}`).then((answer) => answer.json());
    return found.find(({ id }) => id === card.id);
  }

  /** Changes with what `spending` depends on besides `usage`. */
  get year() { return this.keys.get(year)?.stamp; }

  /** What all accounts cost; null without costs. */
  async spending() {
    const { spending } = await this.#get(`/v1/usage?format=spending&${zone()}`).then((answer) => answer.json());
    return spending ?? null;
  }

  async #get(path, headers) {
    const answer = await request('GET', path, { headers });
    const date = Date.parse(answer.headers.get('Date'));
    // It has whole seconds: a difference below two is none.
    if (!Number.isNaN(date)) this.#ahead = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now();
    return answer;
  }

  #setLive() {
    this.#lastAnswer = this.now;
    if (this.connection.state !== 'live') this.connection = { state: 'live', since: Date.now() };
    this.changed();
  }

  #setOffline() {
    if (this.connection.state !== 'offline') this.connection = { state: 'offline', since: this.#lastAnswer };
    this.changed();
  }
}

/** Why the daemon does not know the page any more, by the codes of its answers. */
const signedOut = {
  unauthorized: 'this device has been removed from the account, by another window or device or by kvsd device remove',
  'no-cookie': 'the browser does not send its cookie any more, which was deleted, is blocked, or is older than 400 days',
};

/** The data of the last visit. */
function saved() {
  try {
    const { me, usage, time } = JSON.parse(localStorage.getItem('last'));
    // Another version of the page has saved something else.
    return usage === undefined || usage.schemaVersion === 1 ? { me, usage, time } : { me };
  } catch {
    return {};
  }
}

/** The user's offset from UTC, by which the days of costs end. */
function zone() {
  const two = (number) => String(Math.floor(Math.abs(number))).padStart(2, '0');
  const minutes = utcOffset();
  return `zone=${encodeURIComponent(`${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`)}`;
}
