// What the person has chosen, for all windows, and where each window is.

const defaults = { measure: 'used', isAbsolute: false, sort: 'name', layout: 'auto' };

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
addEventListener('storage', ({ key }) => {
  if (key !== 'options') return;
  load();
  for (const listener of listeners) listener();
});

export const sections = ['usage', 'devices', 'keys', 'settings'];

/** Section and item of the window, which its address has: reloading and going back keep them. */
export function place(hash = location.hash) {
  const [, section, item] = hash.split('/');
  let id;
  try { id = item && decodeURIComponent(item); } catch { /* Someone has edited it. */ }
  return { section: sections.includes(section) ? section : sections[0], item: id || undefined };
}

export const address = (section, item) =>
  `#/${section}${item === undefined ? '' : `/${encodeURIComponent(item)}`}`;

/** What a window keeps until it is closed, by name. */
export const memory = {
  get(name) { return sessionStorage.getItem(name); },
  set(name, value) { sessionStorage.setItem(name, value); },
};
