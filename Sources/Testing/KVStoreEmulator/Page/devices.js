// Devices side by side: their state, account and faults.

import { path } from './api.js';
import { send } from './http.js';
import { $, count, h, options, perform, reconcile, setText } from './dom.js';
import { defaultAccount } from './history.js';
import { durationText, showError, timeText } from './texts.js';

const reasons = ['unreachable', 'unauthorized', 'forbidden', 'throttled', 'unavailable', 'full'];

/** Effects in the order of their switches, with the parameters of each: name, label, default. */
const effects = [
  ['offline', 'Offline', 'Requests and events are lost', []],
  ['hold', 'Hold', 'Messages wait until the fault ends', []],
  ['delay', 'Delay', 'Messages arrive later', [['milliseconds', 'ms', 250]]],
  ['reorder', 'Reorder', 'Messages overtake each other', [['milliseconds', 'ms', 100]]],
  ['drop', 'Drop', 'Messages are lost', [['probability', 'of messages', 1]]],
  ['duplicate', 'Duplicate', 'Messages arrive twice', [['probability', 'of messages', 1]]],
  ['throttle', 'Throttle', 'Requests beyond the limit are refused', [['requestCount', 'per', 15], ['window', 's', 90]]],
  ['fail', 'Fail next', 'Requests fail', [['count', '', 1], ['reason', '', reasons]]],
];

export function createDevices(app) {
  const devicePath = (device, ...rest) => path('worlds', app.world, 'devices', device, ...rest);
  let view;

  function createSwitch(card, [effect, label, title, parameters]) {
    const fields = parameters.map(([name, unit, value]) => {
      const field = Array.isArray(value)
        ? h('select', { 'aria-label': `${label}: ${name}` }, ...value.map((value) => h('option', { text: value })))
        : h('input', {
          type: 'number', min: '0', step: name === 'probability' ? '0.05' : '1', value,
          max: name === 'probability' ? '1' : undefined, 'aria-label': `${label}: ${name}`,
        });
      field.dataset.parameter = name;
      // A new parameter replaces the fault that is on.
      field.addEventListener('change', () => button.ariaChecked === 'true' && toggle(true, true));
      return [field, unit];
    });
    const button = h('button', { type: 'button', role: 'switch', 'aria-checked': 'false', class: 'switch', title, text: label });
    button.dataset.effect = effect;
    const note = h('span', { class: 'remaining' });
    button.addEventListener('click', () => toggle(button.ariaChecked !== 'true', false));

    const present = () => (card.faults ?? []).filter((fault) => fault.effect === effect);

    function fault() {
      const fault = { effect };
      const [messages, timeToLive] = [card.messages.value, Number(card.timeToLive.value)];
      if (messages !== 'all') fault.messages = [messages];
      if (timeToLive > 0) fault.timeToLive = timeToLive;
      for (const [field] of fields) {
        const { parameter } = field.dataset;
        fault[parameter] = parameter === 'reason' ? field.value
          : parameter === 'window' ? Number(field.value) * 1000 : Number(field.value);
      }
      return fault;
    }

    async function toggle(isOn, isReplacement) {
      const { device } = card;
      await perform(async () => {
        if (!isOn || isReplacement) {
          await Promise.all(present().map(({ id }) => send('DELETE', devicePath(device, 'faults', String(id)))));
        }
        if (isOn) await send('POST', devicePath(device, 'faults'), fault());
      }, `${device}: ${label.toLowerCase()} ${isOn ? 'on' : 'off'}.`);
      app.refresh();
    }

    function update() {
      const [first] = present();
      button.ariaChecked = String(Boolean(first));
      button.disabled = !view.isLive;
      for (const [field] of fields) {
        const value = first?.[field.dataset.parameter];
        if (value !== undefined && document.activeElement !== field) {
          field.value = field.dataset.parameter === 'window' ? value / 1000 : value;
        }
      }
      setText(note, first ? remainingText(first) : '');
    }
    const row = h('li', {}, button,
      h('span', { class: 'parameters' }, ...fields.flatMap(([field, unit]) => [field, h('span', { class: 'unit', text: unit })]), note));
    return { row, update };
  }

  function remainingText(fault) {
    const parts = [];
    if (fault.messages && fault.messages.length < 3) parts.push(`${fault.messages.join(', ')} only`);
    if (fault.effect !== 'fail' && fault.count !== undefined) parts.push(`next ${fault.count}`);
    if (fault.remaining !== undefined) {
      const remaining = fault.remaining - (app.live.clock?.following === false ? 0 : app.live.age());
      parts.push(`${durationText(Math.max(0, Math.ceil(remaining / 1000) * 1000))} left`);
    }
    return parts.join(', ');
  }

  function createCard({ device }) {
    const element = h('article', { class: 'card', 'aria-label': `Device ${device}` });
    const card = { device, element };
    const id = `device-${encodeURIComponent(device)}`;
    card.state = h('span', { class: 'state' });
    card.facts = h('dl', { class: 'facts' });
    card.account = h('select', { id: `${id}-account` });
    card.account.addEventListener('change', async () => {
      const account = card.account.value === '' ? null : card.account.value;
      await perform(() => send('PUT', devicePath(device, 'account'), { account }),
        account === null ? `${device} is signed out.` : `${device} uses the account ${account}.`);
      app.refresh();
    });
    card.messages = h('select', { id: `${id}-messages` },
      ...[['all', 'all'], ['request', 'requests'], ['answer', 'answers'], ['event', 'events']]
        .map(([value, text]) => h('option', { value, text })));
    card.timeToLive = h('select', { id: `${id}-ttl` },
      ...[[0, 'until switched off'], [5000, 'for 5 s'], [30000, 'for 30 s'], [60000, 'for 1 min'], [600000, 'for 10 min']]
        .map(([value, text]) => h('option', { value, text })));
    card.clear = h('button', {
      type: 'button', class: 'small', text: 'Clear faults', onclick: async () => {
        await perform(() => send('DELETE', devicePath(device, 'faults')), `${device}: no faults.`);
        app.refresh();
      },
    });
    card.switches = effects.map((effect) => createSwitch(card, effect));
    card.faultControls = h('fieldset', { class: 'faults' }, h('legend', { text: 'Faults' }),
      h('div', { class: 'fields' },
        h('label', { for: `${id}-messages`, text: 'New ones affect' }), card.messages,
        h('label', { for: `${id}-ttl`, text: 'and last' }), card.timeToLive),
      h('ul', { class: 'switches' }, ...card.switches.map(({ row }) => row)), card.clear);
    element.append(
      h('header', {}, h('h3', { text: device, title: device }), card.state),
      card.facts,
      h('div', { class: 'row' }, h('label', { for: `${id}-account`, text: 'Account' }), card.account),
      card.faultControls);
    element.card = card;
    return element;
  }

  function update({ card }, device) {
    const isConnected = view.isLive ? device.connected : device.streams.size > 0;
    setText(card.state, isConnected ? 'connected' : 'idle');
    card.state.classList.toggle('on', isConnected);
    const folded = view.state.devices.get(device.device);
    const facts = [['last seen', device.lastSeen ? timeText(device.lastSeen) : 'never']];
    if (device.waiting !== undefined) facts.push(['waiting', count(device.waiting, 'message')]);
    if (folded) facts.push(['unread', count(folded.unread.size, 'key')]);
    reconcile(card.facts, facts.flat().map((text, index) => ({ text, index })), ({ index }) => index,
      ({ index }) => h(index % 2 ? 'dd' : 'dt'), (element, { text }) => setText(element, text));

    const isSignedOut = device.account === null;
    const account = device.account === undefined ? defaultAccount : device.account ?? '';
    const names = new Set([defaultAccount, 'A', 'B', ...isSignedOut ? [] : [account]]);
    options(card.account, [['', 'none (signed out)'], ...[...names].map((name) => [name, name])], account);
    card.account.disabled = !view.isLive;
    card.faultControls.hidden = !view.isLive;
    card.faults = view.isLive ? device.faults ?? [] : [];
    card.clear.disabled = card.faults.length === 0;
    for (const { update } of card.switches) update();
  }

  function render(next) {
    view = next;
    const devices = view.isLive ? app.live.report?.devices ?? [] : [...view.state.devices.values()]
      .sort((a, b) => (a.device < b.device ? -1 : 1));
    reconcile($('devices'), devices, ({ device }) => device, createCard, update);
    $('devices-empty').hidden = devices.length > 0;
    setText($('devices-count'), devices.length ? String(devices.length) : '');
    showError('devices-error', view.isLive ? app.live.reportError : null);
  }

  return { render };
}
