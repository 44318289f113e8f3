// The list of events and the time line with its scrubber.

import { $, count, h, reconcile, setText } from './dom.js';
import { clockText, durationText, summary, timeText } from './texts.js';

const rowLimit = 1000;

const offsetText = (milliseconds) => `${durationText(Math.abs(milliseconds))} ${milliseconds > 0 ? 'ahead' : 'behind'}`;

const list = (keys) => (keys.length > 8 ? `${keys.slice(0, 8).join(', ')} … (${keys.length})` : keys.join(', '));

const reasons = ['server change', 'initial sync', 'quota violation', 'account change'];

const ends = { quit: 'an orderly exit', kill: 'a kill', powerFailure: 'a power failure' };

/** One sentence about an event; empty for one of a later version. */
export function describe(event) {
  switch (event.event) {
    case 'change': return event.deleted
      ? `${event.store}: deleted ${event.key}` : `${event.store}: ${event.key} = ${summary(event.value)}`;
    case 'sync': {
      const parts = [['sent', event.sent], ['received', event.received], ['rejected', event.rejected]]
        .filter(([, keys]) => keys?.length).map(([verb, keys]) => `${verb} ${list(keys)}`);
      return `${event.store}: ${parts.join('; ') || 'nothing to exchange'}`;
    }
    case 'connected': return `${event.store}: opened a live stream`;
    case 'disconnected': return `${event.store}: closed its live stream`;
    case 'import': return `${count(event.storeCount, 'store')}, ${count(event.keyCount, 'key')}`;
    case 'reset': return 'all stores removed';
    case 'fault': return `${event.message} ${event.outcome}`
      + (event.milliseconds === undefined ? '' : ` by ${durationText(event.milliseconds)}`);
    case 'faults': return event.detail ?? 'faults changed';
    case 'account': return event.account === null ? 'signed out' : `account ${event.account}`;
    case 'write': return event.deleted
      ? `${event.store}: removed ${event.key} locally` : `${event.store}: set ${event.key} = ${summary(event.value)} locally`;
    case 'notification': return `${event.store}: reason ${event.reason} (${reasons[event.reason]}) for ${list(event.keys ?? [])}`;
    case 'decision': return event.decision?.text ?? '';
    case 'started': return `process started ${event.account === null ? 'without an account' : `with account ${event.account}`}`
      + (event.milliseconds ? `, its clock ${offsetText(event.milliseconds)}` : '');
    case 'ended': return `process ended by ${ends[event.end] ?? event.end}`;
    case 'reinstalled': return 'app reinstalled';
    case 'clockError': return event.milliseconds ? `clock ${offsetText(event.milliseconds)}` : 'clock exact';
    case 'restarted': return `the cloud restarted after ${ends[event.end] ?? event.end}`;
    case 'backup': return 'the cloud was backed up';
    case 'restored': return 'the cloud was restored from its backup';
    case 'settled': return 'nothing is under way';
    case 'conditionMet': return 'the condition of run is met';
    case 'clock': return event.following ? 'follows the real time' : `stands at ${timeText(event.time)}`;
    case 'settings': return 'settings changed';
    case 'violation': return `${event.store}: ${event.call}: ${event.detail}`;
    case 'request': return `${event.method} ${event.target}`
      + (event.status ? ` → ${event.status}` : ' → no answer');
    default: return '';
  }
}

const kindClass = (kind) => ({
  change: 'change', violation: 'bad', fault: 'fault', faults: 'fault', sync: 'sync', connected: 'sync',
  disconnected: 'sync', request: 'quiet', write: 'change', decision: 'quiet', settled: 'quiet',
}[kind] ?? 'control');

let nextRow = 1;

function createRow(event) {
  const kind = h('span', { class: `kind ${kindClass(event.event)}`, text: event.event });
  return h('li', { role: 'option', id: `event-${nextRow++}` },
    h('time', { text: clockText(event.time), title: timeText(event.time) }), kind,
    h('span', { class: 'device', text: event.device ?? '' }), h('span', { class: 'what', text: describe(event) }));
}

/** A mark per event, as one path for each kind. */
function drawMarks(events) {
  const paths = new Map();
  events.forEach(({ event }, index) => {
    const kind = kindClass(event);
    const x = ((index + 1) / events.length * 1000).toFixed(1);
    paths.set(kind, `${paths.get(kind) ?? ''}M${x} 0V10`);
  });
  reconcile($('marks'), [...paths], ([kind]) => kind, ([kind]) => {
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('class', kind);
    return path;
  }, (path, [, data]) => {
    if (path.getAttribute('d') !== data) path.setAttribute('d', data);
  });
}

export function createEvents(app) {
  const [rows, slider] = [$('events'), $('scrubber')];

  slider.addEventListener('input', () => app.scrub(Number(slider.value)));
  $('previous').addEventListener('click', () => app.step(-1));
  $('next').addEventListener('click', () => app.step(1));
  $('live').addEventListener('click', () => app.scrub(Infinity));
  rows.addEventListener('click', ({ target }) => {
    const row = target.closest('li');
    if (row) app.scrub(app.history.events.indexOf(row.reconcileKey) + 1);
  });
  rows.addEventListener('keydown', (event) => {
    const moves = { ArrowDown: -1, ArrowUp: 1, PageDown: -20, PageUp: 20, Home: Infinity, End: -Infinity };
    if (!(event.key in moves)) return;
    event.preventDefault();
    // Going down from live begins at the newest event, which is the first row.
    if (event.key === 'ArrowDown' && app.position === null && !app.record) app.scrub(app.history.events.length, true);
    else app.step(moves[event.key]);
  });

  function render({ position, isLive }) {
    const { events, isPartial } = app.history;
    const end = Math.min(events.length, Math.max(position + rowLimit / 2, rowLimit));
    const shown = events.slice(Math.max(0, end - rowLimit), end).reverse();
    reconcile(rows, shown, (event) => event, createRow, (row, event) => {
      const isSelected = !isLive && event === events[position - 1];
      if (row.ariaSelected !== String(isSelected)) row.ariaSelected = String(isSelected);
      if (event.event === 'request') setText(row.lastElementChild, describe(event));
    });
    const selected = isLive ? null : rows.querySelector('[aria-selected=true]');
    if (selected) {
      rows.setAttribute('aria-activedescendant', selected.id);
      const [top, bottom] = [selected.offsetTop, selected.offsetTop + selected.offsetHeight];
      if (top < rows.scrollTop) rows.scrollTop = top;
      else if (bottom > rows.scrollTop + rows.clientHeight) rows.scrollTop = bottom - rows.clientHeight;
    } else rows.removeAttribute('aria-activedescendant');
    $('events-empty').hidden = events.length > 0;
    setText($('events-count'), events.length ? String(events.length) : '');

    slider.max = events.length;
    slider.value = position;
    slider.disabled = events.length === 0;
    const event = events[position - 1];
    const text = event ? `${event.event}${event.device ? ` by ${event.device}` : ''}: ${describe(event)}`
      : isPartial ? 'before the events that are kept' : 'before the first event';
    slider.setAttribute('aria-valuetext', `${position} of ${events.length}, ${text}`);
    setText($('position'), `${position} / ${events.length}`);
    setText($('position-time'), event ? timeText(event.time) : '');
    setText($('position-text'), events.length === 0 ? 'No events yet' : text);
    $('previous').disabled = position <= 0;
    $('next').disabled = isLive || position >= events.length;
    $('live').setAttribute('aria-pressed', String(isLive));
    $('live').hidden = Boolean(app.record);
    drawMarks(events);
  }
  return { render };
}
