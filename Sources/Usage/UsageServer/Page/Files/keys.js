// The keys of the store, as they are: found, shown and changed.

import { confirm } from './dialog.js';
import { $, count, h, options, reconcile, setText, visible } from './dom.js';
import { formatJSON, joinPath, parseJSON, request, send } from './http.js';
import { store } from './live.js';
import { routeHash, route } from './state.js';
import { editableText, hints, parseValue, types } from './values.js';

const typedJSON = 'application/vnd.ubiquity.value+json';
const rowLimit = 500;

const path = (key) => joinPath(`${store}/keys`, key);
const mayWrite = ({ me }) => me?.scopes.includes('write');
/** Milliseconds since 1970 of a stamp: its first 12 hexadecimal digits. */
const timeOf = ({ stamp }) => parseInt(stamp.slice(0, 12), 16);
const writerOf = ({ stamp }) => stamp.slice(22);
/** The device that pushes with the writer's id. What is set over HTTP has the daemon's, which may have pushed for several. */
const deviceOf = (entry, { usage, keys }) => {
  const found = (usage?.devices ?? []).filter(({ id }) => {
    const pushed = keys.get(`com.codexbar.usage.snapshot.${id}`);
    return pushed && writerOf(pushed) === writerOf(entry);
  });
  return found.length === 1 ? found[0].name : undefined;
};
const nameOfWriter = (entry, live) => deviceOf(entry, live) ?? writerOf(entry).slice(0, 8);
const sizeOf = ({ byteCount }) => `${byteCount.toLocaleString('en')} ${byteCount === 1 ? 'byte' : 'bytes'}`;
/** Quoted where it begins or ends with a space. */
const nameOf = (key) => /^\s|\s$/.test(key) ? `“${visible(key)}”` : visible(key);
const button = (text, onclick) => h('button', { type: 'button', text, onclick });

const used = ({ keys }) => {
  const byteCount = [...keys.values()].reduce((sum, entry) => sum + entry.byteCount, 0);
  return `${count(keys.size, 'key')} with ${sizeOf({ byteCount })}`;
};

// MARK: The list

export function renderKeys(list, live, times, selected) {
  if (list.childElementCount === 0) {
    list.append(createTools(live), h('p', { class: 'muted', role: 'status' }), h('div', { class: 'rows' }));
  }
  const [, note, rows] = list.children;
  const text = (sessionStorage.getItem('search') ?? '').toLowerCase();
  const keys = [...live.keys.values()].sort((a, b) => a.key < b.key ? -1 : 1);
  const found = keys.filter(({ key }) => `${key}\n${nameOf(key)}`.toLowerCase().includes(text));
  setText(note, keys.length === 0 && live.connection.state !== 'live' ? 'Not known until the daemon answers.' : [
    found.length < keys.length ? `${found.length} of ` : '', used(live),
    found.length > rowLimit ? `, the first ${rowLimit} shown` : '',
  ].join(''));
  reconcile(rows, found.slice(0, rowLimit), ({ key }) => key, createItem, (element, entry) => {
    const [, size, time] = element.firstElementChild.children;
    setText(size, sizeOf(entry));
    setText(time, `set ${times.past(timeOf(entry))} by ${nameOfWriter(entry, live)}`);
    element.classList.toggle('selected', entry.key === selected);
  });
}

const createItem = ({ key }) => h('article', { class: 'item' },
  h('a', { href: routeHash('keys', key) },
    h('strong', { class: 'key', text: nameOf(key) }), h('span', { class: 'muted' }), h('span', { class: 'muted' })));

function createTools(live) {
  const field = h('input', {
    id: 'search', type: 'search', placeholder: 'Search', 'aria-label': 'Search keys', 'aria-keyshortcuts': '/',
    value: sessionStorage.getItem('search'), autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      sessionStorage.setItem('search', field.value);
      live.changed();
    },
  });
  return h('div', { class: 'row' }, field, ...(mayWrite(live) ? [button('Add…', () => edit(live))] : []));
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || route().section !== 'keys' || event.target.closest('input, textarea, select, dialog')) return;
  event.preventDefault();
  $('search')?.focus();
});

// MARK: One key

/** A key with its value, asked for again when it has changed. */
export class KeyDetail {
  /** By how they are shown: text, or bytes. */
  views = {};
  limit = 1;
  shown = {};

  constructor(element, live, key) {
    Object.assign(this, { live, key });
    element.append(
      h('h2', { class: 'key', text: nameOf(key) }),
      h('table', {}, this.facts = h('tbody', { class: 'facts' })),
      this.note = h('p', { class: 'note' }),
      this.tabs = h('div', { class: 'row', role: 'group', 'aria-label': 'Show the value as' }),
      h('div', { class: 'row' }, this.copy = button('Copy', () => this.copyValue()), this.copied = h('span', { role: 'status' }),
        this.actions = h('span', { class: 'row' })),
      this.value = h('pre'),
      this.more = button('More', () => this.show(this.tab, 4 * this.limit)),
      h('div', {}, h('h3', { text: 'Changes seen since this page was opened' }), this.changes = h('ul', { class: 'muted' })));
  }

  async load({ stamp }) {
    const { live, key } = this;
    Object.assign(this, { stamp, connection: live.connection, isLoading: true, error: undefined });
    try {
      const found = await send('GET', path(key), undefined, typedJSON).catch((error) => {
        if (error.code === 'too-complex') this.error = error;
        else throw error;
      });
      this.found = found;
      this.views = await views(found, key);
    } catch (error) {
      this.error = error;
    }
    this.isLoading = false;
    live.changed();
  }

  show(tab, limit = 1) {
    sessionStorage.setItem(`tab ${this.key}`, tab);
    this.limit = limit;
    this.live.changed();
  }

  render(times) {
    const { live, key, found, error } = this;
    const isPresent = live.keys.has(key);
    const entry = this.entry = live.keys.get(key) ?? this.entry;
    const isOutdated = entry?.stamp !== this.stamp || error?.code === 'unreachable' && this.connection !== live.connection;
    if (isPresent && isOutdated && !this.isLoading) this.load(entry);
    reconcile(this.facts, entry ? [
      ['Value', `${found ? `${found.type}, ` : ''}${sizeOf(entry)}`], ['Set', times.past(timeOf(entry))],
      ['Writer', [deviceOf(entry, live), writerOf(entry)].filter(Boolean).join(' · ')], ['Sequence', String(entry.seq)], ['Stamp', entry.stamp],
    ] : [], ([name]) => name, ([name]) => h('tr', {}, h('th', { scope: 'row', text: name }), h('td')),
    (row, [, text]) => setText(row.lastElementChild, text));
    const note = !isPresent ? `The store has no such key${entry ? ' any more' : ''}.`
      : error?.message ?? (found?.type === 'bytes' ? 'Not a property list: these are the bytes.' : '');
    setText(this.note, note);
    this.note.hidden = !note;
    const names = Object.keys(this.views);
    const chosen = sessionStorage.getItem(`tab ${key}`);
    this.tab = names.includes(chosen) ? chosen : names[0];
    reconcile(this.tabs, names, (name) => name, (name) => button(name, () => this.show(name)),
      (tab, name) => tab.setAttribute('aria-pressed', name === this.tab));
    this.renderValue(this.views[this.tab]);
    const actions = mayWrite(live) && isPresent ? [
      ...(found ? [[sessionStorage.getItem(draftName(key)) ? 'Edit the draft…' : 'Edit…', () => edit(live, this.found)]] : []),
      ['Delete…', () => remove(live, key, this.stamp)],
    ] : [];
    reconcile(this.actions, actions, ([name]) => name, ([name, action]) => button(name, action));
    const changes = live.changes.filter((change) => change.key === key).slice(0, 20);
    this.changes.parentElement.hidden = changes.length === 0;
    reconcile(this.changes, changes, ({ stamp }) => stamp, () => h('li'), (item, change) => setText(item,
        `${change.deleted ? 'deleted' : sizeOf(change)}, ${times.past(change.seen)}, by ${nameOfWriter(change, live)}`));
  }

  renderValue(view) {
    if (this.shown.view === view && this.shown.limit === this.limit) return;
    this.shown = { view, limit: this.limit };
    const limit = this.limit * (view instanceof Uint8Array ? 4_096 : 16_384);
    this.value.hidden = this.copy.hidden = view === undefined;
    this.more.hidden = !(view?.length > limit);
    setText(this.copied, '');
    setText(this.value, textOf(view ?? '', limit).split(/\r?\n/).map(visible).join('\n') || '(empty)');
  }

  async copyValue() {
    setText(this.copied, '');
    try {
      await navigator.clipboard.writeText(textOf(this.shown.view));
    } catch {
      // Not a secure context, or not permitted.
      getSelection().selectAllChildren(this.value);
      if (!document.execCommand('copy')) return;
    }
    setText(this.copied, 'Copied');
  }
}

// MARK: Values as text

/** The ways to show a value, that which suits it best first. */
async function views(found, key) {
  const list = found && { 'Property list': formatJSON({ type: found.type, value: found.value }, 2) };
  const { type, value } = found ?? {};
  if (!['string', 'data', 'bytes'].includes(type)) {
    const answer = await request('GET', path(key), { headers: { Accept: 'application/octet-stream' } });
    return { ...(found ? { JSON: editableText(found) } : {}), ...list, Hex: new Uint8Array(await answer.arrayBuffer()) };
  }
  const bytes = type === 'string' ? new TextEncoder().encode(value) : Uint8Array.from(atob(value), (byte) => byte.charCodeAt(0));
  const text = type === 'string' ? value : attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  const json = /^\s*[[{]/.test(text) && attempt(() => formatJSON(parseJSON(text), 2));
  const isText = type === 'string' || text !== undefined && !/[\0-\x08\x0E-\x1F]/.test(text);
  return {
    ...(json ? { JSON: json } : {}), ...(isText ? { Text: text } : {}), Hex: bytes, ...(type === 'bytes' ? {} : list),
  };
}

function attempt(body) {
  try { return body(); } catch { return undefined; }
}

/** The beginning of a text, or of bytes in hexadecimal. */
function textOf(view, limit = Infinity) {
  const part = view.slice(0, limit);
  if (typeof part === 'string') return part;
  const lines = [];
  for (let offset = 0; offset < part.length; offset += 8) {
    const line = [...part.subarray(offset, offset + 8)];
    const digits = line.map((byte) => byte.toString(16).padStart(2, '0')).join('').replace(/.{4}(?=.)/g, '$& ');
    const text = String.fromCharCode(...line.map((byte) => byte > 31 && byte < 127 ? byte : 46));
    lines.push(`${offset.toString(16).padStart(4, '0')} ${digits.padEnd(19)} ${text}`);
  }
  return lines.join('\n');
}

// MARK: Changes

/** The fields of a request that changes this value, or none without a stamp, and nothing that another device has set meanwhile. */
const expecting = (stamp) => stamp ? { 'If-Match': `"${stamp}"` } : { 'If-None-Match': '*' };

const draftName = (key) => `draft ${key ?? ''}`;

/** Runs `change`. If the value has changed meanwhile, shows what it is now in `note`, and throws with that as `present`. */
async function guarded(live, key, note, change, outcome) {
  try {
    await change();
  } catch (error) {
    if (error.code !== 'changed-meanwhile') throw error;
    const present = await send('GET', path(key), undefined, typedJSON).catch((problem) => {
      if (problem.code !== 'unknown-key') throw problem;
    });
    note.hidden = false;
    note.replaceChildren(...(present ? [
      h('p', { text: `It was set meanwhile, by ${nameOfWriter(present, live)}:` }),
      h('pre', { text: textOf(editableText(present), 4_096).split('\n').map(visible).join('\n') || '(empty)' }),
    ] : [h('p', { text: 'It was deleted meanwhile.' })]));
    throw Object.assign(new Error(outcome), { present });
  }
}

/** Changes a key; adds one without an entry. What is typed stays in the window until it is saved or discarded. */
async function edit(live, entry) {
  const key = h('input', { id: 'key', maxlength: 128, required: true, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
  const type = h('select', { id: 'type' });
  const value = h('textarea', { id: 'value', rows: 8, spellcheck: 'false', 'aria-describedby': 'hint', autofocus: Boolean(entry) });
  const [hint, note] = [h('p', { id: 'hint', class: 'muted' }), h('div', { class: 'note', hidden: true })];
  options(type, types.map((name) => [name, name]), 'string');
  const draft = draftName(entry?.key);
  /** What saving replaces: the value of a key with a stamp, unless it has none, and the fields that show it. */
  let base = {};

  const isChanged = () => type.value !== base.type || value.value !== base.text;
  const show = (fields) => {
    [type.value, value.value] = [fields.type, fields.text];
    setText(hint, hints[type.value]);
  };
  const begin = (present) => {
    sessionStorage.removeItem(draft);
    note.hidden = true;
    show(present ? { type: present.type === 'bytes' ? 'data' : present.type, text: editableText(present) } : { type: 'string', text: '' });
    // What a field makes of line ends is no change.
    base = present ? { key: present.key, stamp: present.stamp, type: present.type, text: value.value } : {};
  };
  const keep = () => {
    setText(hint, hints[type.value]);
    const fields = { key: key.value, type: type.value, text: value.value, base: { key: base.key, stamp: base.stamp } };
    // One that the storage has no room for is lost with the dialog.
    if (isChanged()) attempt(() => sessionStorage.setItem(draft, JSON.stringify(fields)));
    else sessionStorage.removeItem(draft);
  };
  const save = async () => {
    if (entry && !isChanged()) return undefined;
    const name = entry?.key ?? key.value;
    const document = parseValue(type.value, value.value);
    try {
      await guarded(live, name, note, () => send('PUT', path(name), document, typedJSON, expecting(base.key === name && base.stamp)),
        'Nothing was saved. Saving again replaces that by yours.');
    } catch (error) {
      if ('present' in error) {
        base = { key: name, stamp: error.present?.stamp };
        if (error.present) note.append(button('Take that value', () => begin(error.present)));
        keep();
      }
      if (error.code === 'quota') error.message += `; the store has ${used(live)}`;
      throw error;
    }
    sessionStorage.removeItem(draft);
    location.hash = routeHash('keys', name);
    return `Set ${nameOf(name)}.`;
  };

  const kept = attempt(() => JSON.parse(sessionStorage.getItem(draft)));
  begin(entry);
  if (kept) {
    key.value = kept.key;
    show(kept);
    ({ base } = kept);
    note.hidden = false;
    note.replaceChildren(h('p', { text: 'This is your draft; it has not been saved.' }), button('Discard it', () => begin(entry)));
    keep();
  }
  for (const field of [key, type, value]) field.addEventListener('input', keep);
  await confirm(entry ? `Edit ${nameOf(entry.key)}` : 'Add a key', 'Save', [
    ...[...(entry ? [] : [['Key', key]]), ['Type', type], ['Value', value]]
      .flatMap(([text, field]) => [h('label', { for: field.id, text }), field]), hint, note], save);
  // Whether there is a draft is shown.
  live.changed();
}

async function remove(live, key, stamp) {
  const note = h('div', { class: 'note', hidden: true });
  const body = [h('p', {}, h('strong', { class: 'key', text: nameOf(key) }), ' will be deleted on all devices.'), note];
  const isDone = await confirm('Delete the key?', 'Delete', body, async () => {
    try {
      await guarded(live, key, note, () => send('DELETE', path(key), undefined, undefined, expecting(stamp)),
        'Nothing was deleted. Deleting again deletes that.');
    } catch (error) {
      if (error.present) ({ stamp } = error.present);
      throw error;
    }
    return `Deleted ${nameOf(key)}.`;
  });
  if (isDone) $('detail').focus();
}
