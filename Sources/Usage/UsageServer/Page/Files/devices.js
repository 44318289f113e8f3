// The devices of the account: those that push, and those that look.

import { setTonedText } from './cards.js';
import { confirm } from './dialog.js';
import { h, reconcile, setText } from './dom.js';
import { send } from './http.js';
import { routeHash } from './state.js';

export function renderDevices(list, devices, times, selected, me) {
  reconcile(list, devices, ({ id }) => id, createItem, (element, device) => {
    const state = times.value(device.states);
    const [name, presence, note] = element.firstElementChild.children;
    setText(name, device.name + (isOwn(device, me) ? ' (this page)' : ''));
    setText(presence, state.word);
    presence.dataset.tone = state.tone;
    setText(note, times.text(state.note));
    element.classList.toggle('selected', device.id === selected);
  });
}

const isOwn = (device, me) => me !== undefined && device.daemonID === me.deviceID;

const createItem = (device) => h('article', { class: 'item' },
  h('a', { href: routeHash('devices', device.id) },
    h('strong'), h('span', { class: 'presence' }), h('span', { class: 'muted' })));

export function renderDevice(element, device, times, live, signOut) {
  const { me } = live;
  if (element.dataset.id !== device.id || element.childElementCount === 0) {
    element.dataset.id = device.id;
    element.replaceChildren(h('h2'), h('p'), h('p'), h('p', { class: 'muted' }), h('p', { class: 'muted' }),
      h('div', { class: 'row' }));
  }
  const [name, presence, reason, note, kind, actions] = element.children;
  const state = times.value(device.states);
  setText(name, device.name);
  setTonedText(presence, { text: [state.word], tone: state.tone }, times);
  setText(reason, `${state.reason[0].toUpperCase()}${state.reason.slice(1)}.${state.next ? ` Next: ${state.next}.` : ''}`);
  setText(note, times.text(state.note));
  setText(kind, device.isPage ? 'A web page.' : device.version ? `Pushes with version ${device.version}.` : '');
  const mayChange = me?.scopes.includes('admin') && device.daemonID !== undefined;
  const buttons = [
    ...(mayChange ? [['Rename…', () => rename(device, live)]] : []),
    ...(isOwn(device, me) ? [['Sign out', signOut]] : mayChange ? [['Remove…', () => remove(device, live)]] : []),
  ];
  reconcile(actions, buttons, ([label]) => label,
    ([label, action]) => h('button', { type: 'button', text: label, onclick: action }));
}

async function rename(device, live) {
  const field = h('input', { id: 'name', value: device.name, maxlength: 64, required: true });
  await confirm('Rename the device', 'Rename', [h('label', { for: 'name', text: 'Name' }), field], async () => {
    await send('PATCH', `/v1/devices/${device.daemonID}`, { name: field.value.trim() });
    await live.refresh();
    return 'The device has been renamed.';
  });
}

async function remove(device, live) {
  const text = `${device.name} will no longer see or change anything of the account. To come back it has to be paired again.`;
  await confirm('Remove the device?', 'Remove', [h('p', { text })], async () => {
    await send('DELETE', `/v1/devices/${device.daemonID}`);
    await live.refresh();
    return 'The device has been removed.';
  });
}
