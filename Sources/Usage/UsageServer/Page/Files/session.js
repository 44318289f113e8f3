// The page's half of the session. The other is a cookie, which no script can read, but which the browser sends to every server of this
// host; what an origin stores belongs to its port too.

import { identity } from './http.js';

const key = 'session';

export const session = {
  get exists() { return localStorage.getItem(key) !== null; },
  begin(secret) { localStorage.setItem(key, secret); },
  end() { localStorage.removeItem(key); },
  /** Whether an event of the storage, perhaps of another window, is about the session. */
  isChanged(event) { return event.key === null || event.key === key; },
};

identity.fields = () => session.exists ? { 'Ubiquity-Session': localStorage.getItem(key) } : {};
