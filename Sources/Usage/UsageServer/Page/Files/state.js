// The user's choices, shared by all windows, and the route of each window.

const defaults = { measure: 'used', isAbsolute: false, sort: 'least', layout: 'auto' };

function stored() {
  try {
    return JSON.parse(localStorage.getItem('options')) ?? {};
  } catch {
    return {};
  }
}

export const options = { ...defaults };
const listeners = [];

function load() {
  const values = stored();
  for (const [name, value] of Object.entries(defaults)) {
    options[name] = typeof values[name] === typeof value ? values[name] : value;
  }
}

export function choose(name, value) {
  options[name] = value;
  localStorage.setItem('options', JSON.stringify(options));
  for (const listener of listeners) listener();
}

/** Calls `listener` when this or another window has changed an option. */
export function onChoice(listener) { listeners.push(listener); }

load();
// Before the page is drawn again: not every browser tells a hidden window of all that others store.
document.addEventListener('visibilitychange', load);
addEventListener('storage', ({ key }) => {
  if (key !== 'options') return;
  load();
  for (const listener of listeners) listener();
});

export const sections = ['usage', 'history', 'spending', 'devices', 'keys', 'settings'];

/** Section and item of the window. They are in its URL, so that reloading and going back keep them. */
export function route(hash = location.hash) {
  const [, section, item] = hash.split('/');
  let id;
  try { id = item && decodeURIComponent(item); } catch { /* Edited by hand. */ }
  return { section: sections.includes(section) ? section : sections[0], item: id || undefined };
}

export const routeHash = (section, item) =>
  `#/${section}${item === undefined ? '' : `/${encodeURIComponent(item)}`}`;
