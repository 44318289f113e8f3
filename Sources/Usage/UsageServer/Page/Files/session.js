// The page's half of the session. The other is a cookie, which no script can read, but which the browser sends to every server of this
// host; what an origin stores belongs to its port too.

import { identity } from './http.js';

const key = 'session';

export const session = {
  get exists() { return localStorage.getItem(key) !== null; },
  begin(secret) { localStorage.setItem(key, secret); },
  /** Ends it in all windows, of which the others hear the reason. */
  end(reason) {
    if (!this.exists) return;
    localStorage.setItem('reason', reason);
    localStorage.removeItem('reason');
    localStorage.removeItem(key);
  },
  /** Why a window has ended it, perhaps this one, by an event of the storage; undefined if none has. */
  endReason(event) {
    if (event.key === 'reason') return event.newValue || undefined;
    return this.isChanged(event) && !this.exists ? 'this or another window has signed out' : undefined;
  },
  /** Whether an event of the storage, perhaps of another window, is about the session. */
  isChanged(event) { return event.key === null || event.key === key; },
};

identity.fields = () => session.exists ? { 'Ubiquity-Session': localStorage.getItem(key) } : {};
