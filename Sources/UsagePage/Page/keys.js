// The keys of the store, as they are.

import { h, reconcile, setText } from './dom.js';
import { address } from './state.js';

/** Milliseconds since 1970 of a stamp: its first 12 hexadecimal digits. */
const timeOf = ({ stamp }) => parseInt(stamp.slice(0, 12), 16);

export function renderKeys(list, live, moment, selected) {
  const keys = [...live.keys.values()].sort((a, b) => a.key < b.key ? -1 : 1);
  reconcile(list, keys, ({ key }) => key, createItem, (element, entry) => {
    const [name, size, time] = element.firstElementChild.children;
    setText(name, entry.key);
    setText(size, `${entry.byteCount.toLocaleString('en')} bytes`);
    setText(time, `set ${moment.past(timeOf(entry))}`);
    element.classList.toggle('selected', entry.key === selected);
  });
}

const createItem = ({ key }) => h('article', { class: 'item' },
  h('a', { href: address('keys', key) },
    h('strong', { class: 'key' }), h('span', { class: 'muted' }), h('span', { class: 'muted' })));
