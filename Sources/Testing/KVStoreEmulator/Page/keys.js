// Stores and keys, their editor, and why a value won.

import { path } from './api.js';
import { formatJSON, get, send } from './http.js';
import { $, announce, ask, h, options, perform, reconcile, setText } from './dom.js';
import { describe } from './events.js';
import { defaultAccount, entriesIn, storesIn } from './history.js';
import { clockText, showError, summary, timeText } from './texts.js';
import { editableText, hints, parseValue, types } from './values.js';

const rowLimit = 1000;

export function createKeys(app) {
  const editor = $('editor');
  let explained;

  const query = (account = app.account) =>
    (account === defaultAccount ? '' : `?account=${encodeURIComponent(account)}`);
  const keyPath = (store, key, ...rest) =>
    path('worlds', app.world, 'stores', store, 'keys', key, ...rest) + query();

  $('store').addEventListener('change', () => app.select({ store: $('store').value }));
  $('account').addEventListener('change', () => app.select({ account: $('account').value, store: null }));
  $('add-key').addEventListener('click', () => edit(null));
  $('close-why').addEventListener('click', () => {
    const { key } = app;
    app.select({ key: null });
    [...$('keys').children].find((row) => row.reconcileKey === key)?.querySelector('button').focus();
  });
  options($('edit-type'), types.map((type) => [type, type]), 'string');
  $('edit-type').addEventListener('change', showHint);

  function showHint() { setText($('edit-hint'), hints[$('edit-type').value] ?? ''); }

  async function edit(entry) {
    const type = types.includes(entry?.type) ? entry.type : 'string';
    setText($('editor-title'), entry ? 'Edit key' : 'Add key');
    $('edit-store').value = app.store ?? 'default';
    $('edit-key').value = entry?.key ?? '';
    $('edit-store').readOnly = $('edit-key').readOnly = Boolean(entry);
    $('edit-type').value = type;
    $('edit-value').value = entry?.type === type ? editableText(entry) : '';
    showHint();
    showError('edit-error', null);
    editor.showModal();
    (entry ? $('edit-value') : $('edit-key')).focus();
  }

  $('editor-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    if (event.submitter?.value === 'cancel') return editor.close();
    const [store, key] = [$('edit-store').value, $('edit-key').value];
    try {
      const value = parseValue($('edit-type').value, $('edit-value').value);
      await send('PUT', keyPath(store, key), value);
      editor.close();
      announce(`Set ${key} in ${store}.`);
      app.select({ store });
    } catch (error) {
      showError('edit-error', error);
    }
  });

  async function remove({ key }) {
    setText($('remove-key'), key);
    if (await ask($('remove')) !== 'remove') return;
    await perform(() => send('DELETE', keyPath(app.store, key)), `Removed ${key}.`);
    app.refresh();
  }

  function createRow({ key }) {
    const entry = () => entries.find((entry) => entry.key === key);
    return h('tr', {},
      h('th', { scope: 'row' }, h('button', {
        class: 'link key', type: 'button', text: key === '' ? '(empty)' : key, title: `Why this value won: ${key}`,
        onclick: () => app.select({ key: app.key === key ? null : key }),
      })),
      h('td', { class: 'type' }), h('td', { class: 'value' }), h('td', { class: 'number' }),
      h('td', { class: 'when' }), h('td', { class: 'writer' }),
      h('td', { class: 'actions' },
        h('button', { type: 'button', class: 'small', 'aria-label': `Edit ${key}`, text: 'Edit', onclick: () => edit(entry()) }),
        h('button', {
          type: 'button', class: 'small', 'aria-label': `Remove ${key}`, title: 'Remove', text: '✕', onclick: () => remove(entry()),
        })));
  }

  function updateRow(row, entry) {
    const [name, type, value, seq, time, writer, actions] = row.children;
    row.classList.toggle('deleted', Boolean(entry.deleted));
    row.classList.toggle('selected', app.key === entry.key);
    name.firstElementChild.setAttribute('aria-expanded', String(app.key === entry.key));
    setText(type, entry.deleted ? '' : entry.type ?? '');
    setText(value, summary(entry));
    setText(seq, String(entry.seq ?? ''));
    setText(time, entry.time === undefined ? '' : clockText(entry.time));
    time.title = `${timeText(entry.time)}\nstamp ${entry.stamp ?? 'unknown'}`;
    setText(writer, entry.writer ?? '');
    for (const button of actions.children) button.disabled = !isEditable;
    actions.lastElementChild.disabled ||= Boolean(entry.deleted);
  }

  let [entries, isEditable] = [[], false];

  function render({ state, isLive }) {
    const { live } = app;
    const accounts = new Set([defaultAccount, 'A', 'B', app.account]);
    for (const device of [...state.devices.values(), ...live.report?.devices ?? []]) {
      if (device.account) accounts.add(device.account);
    }
    options($('account'), [...accounts].map((name) => [name, name]), app.account);
    const stores = new Set(storesIn(state, app.account));
    if (isLive) {
      for (const { store, account } of live.report?.stores ?? []) {
        if ((account ?? defaultAccount) === app.account) stores.add(store);
      }
    }
    if (app.store !== null) stores.add(app.store);
    const names = [...stores].sort();
    if (app.store === null && names.length > 0) return void app.select({ store: names[0] });
    options($('store'), names.map((name) => [name, name]), app.store);
    $('store').disabled = names.length === 0;

    const isLoaded = isLive && live.entries && live.entriesOf === `${app.account}\n${app.store}`;
    entries = isLoaded ? live.entries : app.store === null ? [] : entriesIn(state, app.store, app.account);
    isEditable = isLive;
    $('add-key').disabled = !isLive || app.world === null;
    showError('keys-error', isLive ? live.entriesError : null);
    const shown = entries.slice(0, rowLimit);
    reconcile($('keys'), shown, ({ key }) => key, createRow, updateRow);
    setText($('keys-limit'), `The first ${rowLimit} of ${entries.length} keys are shown.`);
    $('keys-limit').hidden = shown.length === entries.length;
    $('keys-empty').hidden = entries.length > 0;
    $('keys-table').hidden = entries.length === 0;
    setText($('keys-count'), entries.length ? String(entries.filter(({ deleted }) => !deleted).length) : '');
    renderWhy({ isLive });
  }

  // Why a value won

  function renderWhy({ isLive }) {
    $('why').hidden = app.key === null || app.store === null;
    if ($('why').hidden) return;
    setText($('why-key'), app.key);
    const position = app.position ?? app.history.events.length;
    const past = app.history.events.slice(0, position)
      .filter((event) => event.event === 'change' && event.store === app.store && event.key === app.key).reverse();
    reconcile($('why-history'), past, (event) => event, (event) => h('li', {},
      h('time', { text: clockText(event.time), title: timeText(event.time) }),
      h('span', { text: `${event.device ?? '—'} ${describe(event).slice(event.store.length + 2)}` }),
      h('code', { text: event.stamp ?? '' })));
    $('why-history-empty').hidden = past.length > 0;
    if (app.record) {
      explained = undefined;
      $('why-details').hidden = true;
      showError('why-error', null);
      return showDecisions(app.history.events.slice(0, position)
        .filter((event) => event.event === 'decision' && event.store === app.store && event.key === app.key)
        .map(({ time, decision }) => ({ time, ...decision })));
    }
    const entry = app.live.entries?.find(({ key }) => key === app.key);
    const version = JSON.stringify([app.world, app.account, app.store, app.key, entry?.stamp, past.length]);
    if (isLive && version !== explained) {
      explained = version;
      explain(version);
    }
  }

  async function explain(version) {
    let [document, error] = [];
    try { document = await get(keyPath(app.store, app.key, 'explanation')); } catch (found) { error = found; }
    if (version !== explained) return;
    showError('why-error', error);
    showDecisions(document?.decisions ?? []);
    $('why-details').hidden = !document?.text;
    setText($('why-text'), document?.text ?? '');
  }

  /** Oldest first. */
  function showDecisions(decisions) {
    reconcile($('why-decisions'), [...decisions].reverse(), (decision) => formatJSON([decision.time, decision.text, decision.incoming]),
      (decision) => h('li', {},
        h('p', {}, h('time', { text: clockText(decision.time), title: timeText(decision.time) }),
          h('strong', { text: decision.winner === 'incoming' ? 'accepted' : 'kept' }),
          h('span', { text: ` ${decision.text ?? decision.reason}` })),
        h('dl', {}, ...['incoming', 'present'].flatMap((name) => decision[name] ? [
          h('dt', { text: name }),
          h('dd', { class: decision.winner === name ? 'winner' : '' },
            h('span', { class: 'value', text: summary(decision[name], 80) }),
            h('code', { text: decision[name].stamp ?? '' }),
            h('span', { class: 'muted', text: decision[name].writer ?? '' })),
        ] : []))));
  }

  return { render, edit };
}
