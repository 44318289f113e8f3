// The clock and the settings of a world, and what acts on it as a whole.

import { path } from './api.js';
import { formatJSON, send } from './http.js';
import { $, announce, ask, count, h, perform, reconcile, setText } from './dom.js';
import { durationText, showError, timeText } from './texts.js';

const limitNames = ['valueByteCount', 'totalByteCount', 'keyCount'];

export function createControls(app) {
  const worldPath = (...rest) => path('worlds', app.world, ...rest);
  let shownSettings;

  // Clock

  async function setClock(change, outcome) {
    const clock = await perform(() => send('PUT', worldPath('clock'), change), outcome);
    if (clock) app.refresh();
  }

  $('clock-follow').addEventListener('click', () => setClock({ follow: true }, 'The clock follows the real time.'));
  $('clock-stop').addEventListener('click', () => setClock({ time: app.live.time() }, 'The clock stands still.'));
  $('clock-set').addEventListener('submit', (event) => {
    event.preventDefault();
    const time = Date.parse($('clock-time').value);
    if (Number.isNaN(time)) announce('A time is ISO 8601, such as 2026-09-18T12:00:00Z.', true);
    else setClock({ time }, (clock) => `The clock stands at ${timeText(clock.time)}.`);
  });
  $('clock-advance').addEventListener('submit', (event) => {
    event.preventDefault();
    const advance = Number($('advance-count').value) * Number($('advance-unit').value);
    setClock({ advance }, `Advanced by ${durationText(advance)}.`);
  });

  function renderClock({ isLive, state, position }) {
    const clock = isLive ? app.live.clock : state.clock;
    const event = app.history.events[position - 1];
    showError('clock-error', isLive ? app.live.clockError : null);
    setText($('clock'), isLive && clock ? timeText(app.live.time()) : timeText(event?.time));
    const offset = clock?.offset ? `, ${durationText(Math.abs(clock.offset))} ${clock.offset > 0 ? 'ahead of' : 'behind'} real time` : '';
    setText($('clock-state'), !isLive ? 'time of the event' : !clock ? ''
      : clock.following ? `following${offset || ' real time'}` : 'stands still');
    $('clock-controls').hidden = !isLive;
  }

  // Settings

  const quotaOf = ({ profile, ...numbers }) =>
    ({ profile, ...Object.fromEntries(limitNames.map((name) => [name, numbers[name]])) });

  $('settings-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const shown = shownSettings?.quota ?? {};
    const quota = { profile: $('profile').value };
    for (const name of limitNames) {
      const { value } = $(`limit-${name}`);
      // A new profile has its own numbers, except those that were typed.
      if (value !== '' && (quota.profile === shown.profile || value !== String(shown[name]))) quota[name] = Number(value);
    }
    const change = { strict: $('strict').checked };
    if (formatJSON(quota) !== formatJSON(quotaOf(shown))) change.quota = quota;
    const seed = $('seed').value;
    if (seed !== '' && seed !== String(shownSettings?.seed)) change.seed = BigInt(seed);
    await perform(() => send('PUT', worldPath('settings'), change), 'Settings applied.');
    shownSettings = undefined;
    app.refresh();
  });

  function renderSettings({ isLive }) {
    const { settings, settingsError, violations } = app.live;
    $('settings-panel').hidden = !isLive;
    showError('settings-error', settingsError);
    // What the user is editing stays.
    if (settings && formatJSON(settings) !== formatJSON(shownSettings)) {
      shownSettings = settings;
      $('strict').checked = settings.strict;
      $('seed').value = settings.seed ?? '';
      const profile = settings.quota?.profile;
      if ([...$('profile').options].every(({ value }) => value !== profile)) {
        $('profile').append(h('option', { value: profile, text: profile }));
      }
      $('profile').value = profile;
      for (const name of ['keyLength', ...limitNames]) $(`limit-${name}`).value = settings.quota?.[name] ?? '';
    }
    const shown = [...violations ?? []].reverse();
    reconcile($('violations'), shown, (violation) => formatJSON(violation), (violation) => h('li', {},
      h('strong', { text: violation.device ?? '' }), h('code', { text: ` ${violation.call} ` }), h('span', { text: violation.detail ?? '' })));
    $('violations-section').hidden = shown.length === 0;
  }

  // The world as a whole

  $('settle').addEventListener('click', async () => {
    $('settle').disabled = true;
    announce('Waiting until nothing is under way …');
    const answer = await perform(() => send('POST', `${worldPath('settle')}?timeout=10000`),
      ({ settled, elapsed, waiting }) => (settled ? `Settled after ${elapsed} ms.`
        : `Not settled after ${durationText(elapsed)}: ${waiting.join('; ')}.`));
    if (answer && !answer.settled) $('status').classList.add('error');
    app.changed();
  });

  $('reset').addEventListener('click', async () => {
    setText($('reset-world'), app.world);
    const scope = await ask($('reset-dialog'));
    if (scope === 'world') await perform(() => send('DELETE', worldPath()), `Reset ${app.world}.`);
    if (scope === 'all') await perform(() => send('DELETE', path('worlds')), 'Reset all worlds.');
    app.refresh();
  });

  $('import').addEventListener('click', () => $('import-file').click());
  $('import-file').addEventListener('change', async () => {
    const [file] = $('import-file').files;
    $('import-file').value = '';
    if (!file) return;
    await perform(async () => send('PUT', worldPath('export'), await file.text()),
      ({ keyCount, storeCount }) => `Imported ${count(keyCount, 'key')} in ${count(storeCount, 'store')} from ${file.name}.`);
    app.refresh();
  });

  function render(view) {
    renderClock(view);
    renderSettings(view);
    const canAct = view.isLive && app.world !== null;
    for (const id of ['settle', 'reset', 'import']) $(id).disabled = !canAct;
    const link = $('export');
    if (canAct) {
      link.href = worldPath('export');
      link.download = `${app.world}.json`;
    } else link.removeAttribute('href');
    link.ariaDisabled = String(!canAct);
  }

  return { render, renderClock };
}
