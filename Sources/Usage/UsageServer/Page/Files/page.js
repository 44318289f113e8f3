// Signing in, the sections, and what is drawn when.

import { Alerts, warn } from './alerts.js';
import { nameOf, renderAnswer, renderCards, renderEmpty } from './cards.js';
import { Details } from './details.js';
import { renderDevice, renderDevices } from './devices.js';
import { confirm } from './dialog.js';
import { $, announce, dismiss, h, perform, reconcile, setText } from './dom.js';
import { send } from './http.js';
import { History } from './history.js';
import { icon } from './icons.js';
import { KeyDetail, renderKeys } from './keys.js';
import { Live } from './live.js';
import { session } from './session.js';
import { renderSettings } from './settings.js';
import { Spending } from './spending.js';
import { routeHash, onChoice, options, route, sections } from './state.js';
import { TimeFormatter } from './times.js';
import { checkVersion, forgetWorker, installWorker } from './worker.js';

const titles = { usage: 'Limits', history: 'History', spending: 'Spending', devices: 'Devices', keys: 'Keys', settings: 'Settings' };
const labels = { ...titles, usage: 'Usage' };

let timer;
let frame;
let shown = {};

// Without an answer it is asked again with the next connection.
const live = new Live(draw, warn, () => checkVersion().catch(() => {}));
const details = new Details(live, draw);
const past = new History(live, draw);
const spending = new Spending(live, draw);
const alerts = new Alerts(draw);

// MARK: Drawing

/** Draws once before the next frame, however often it is called. */
function draw() {
  frame ??= requestAnimationFrame(() => {
    frame = undefined;
    render();
  });
}

function render() {
  clearTimeout(timer);
  if (document.hidden) return;
  if (!live.isSignedIn) return renderSignedOut();
  const times = new TimeFormatter(live.now);
  if (shown.section === 'sign in') $('list').replaceChildren();
  wasSignedIn = true;
  $('sections').hidden = false;
  const { section, item } = route();
  renderFrame(section, item, times);
  ({ usage: renderUsage, history: renderHistory, spending: renderSpending, devices: renderDeviceSection, keys: renderKeySection, settings: renderSettingsSection })[section](item, times);
  restoreScroll(section, item);
  if (times.nextChange < Infinity) {
    timer = setTimeout(draw, Math.min(Math.max(times.nextChange - live.now, 50), 2 ** 31 - 1));
  }
}

function renderFrame(section, item, times) {
  $('app').dataset.layout = options.layout;
  $('app').dataset.open = item !== undefined;
  setText($('title'), titles[section]);
  const card = section === 'usage' && item !== undefined ? live.usage?.cards.find(({ id }) => id === item) : undefined;
  const name = card ? nameOf(card) : titles[section];
  document.title = name === 'Limits' ? name : `${name} – Limits`;
  reconcile($('sections'), sections, (name) => name,
    (name) => h('a', { href: routeHash(name) }, icon(name), h('span', { text: labels[name] })),
    (link, name) => {
      if (name === section) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    });
  renderAnswer($('answer'), live.usage, times);
  const { state, since } = live.connection;
  const link = $('link');
  link.classList.toggle('on', state === 'live');
  link.classList.toggle('off', state === 'offline');
  setText(link, state === 'live' ? 'live'
    : state === 'connecting' ? `connecting…${live.usage ? ` as of ${times.clock(since)}` : ''}`
    : `offline since ${times.clock(since)}: newer numbers may exist`);
  $('retry').hidden = state !== 'offline';
}

function panes(section, item, hasDetail) {
  const [list, detail] = [$('list'), $('detail')];
  if (shown.section !== section) {
    list.replaceChildren();
    list.shown = list.order = undefined;
    list.className = section;
  }
  if (shown.section !== section || shown.item !== item) detail.replaceChildren();
  detail.hidden = !hasDetail;
  shown = { section, item };
  return [list, detail];
}

function renderUsage(item, times) {
  const { usage } = live;
  const card = usage?.cards.find(({ id }) => id === item);
  const [list, detail] = panes('usage', item, card !== undefined);
  if (!usage) return renderWaiting(list);
  if (usage.empty) return renderEmpty(list, withCommands(usage), times);
  list.querySelector(':scope > .empty')?.remove();
  renderCards(list, usage.cards, times, item);
  if (card) details.render(content(detail, 'usage'), card, times);
}

/** What to run on the machine where one works, as long as nothing was pushed: `ubq` runs where the daemon does. */
const withCommands = ({ situation, empty }) => situation !== 'waitingForFirstPush' ? empty : { ...empty, steps: [...empty.steps,
  ['If you work on the machine where kvsd runs, there:  ubq up'], ['For another machine, from there over SSH:  ubq add HOST']] };

function renderHistory(_, times) {
  const [list] = panes('history', undefined, false);
  if (!live.usage) return renderWaiting(list);
  past.render(list, live.usage.cards, times);
}

function renderSpending() {
  const [list] = panes('spending', undefined, false);
  if (!live.usage) return renderWaiting(list);
  spending.render(list, live.usage);
}

function renderDeviceSection(item, times) {
  const devices = live.usage?.devices ?? [];
  const device = devices.find(({ id }) => id === item);
  const [list, detail] = panes('devices', item, device !== undefined);
  renderDevices(list, devices, times, item, live.me);
  if (device) renderDevice(content(detail, 'devices'), device, times, live, signOut);
}

function renderKeySection(item, times) {
  const [list, detail] = panes('keys', item, item !== undefined);
  renderKeys(list, live, times, item);
  if (item === undefined) return;
  const element = content(detail, 'keys');
  (element.key ??= new KeyDetail(element, live, item)).render(times);
}

function renderSettingsSection() {
  const [list] = panes('settings', undefined, false);
  renderSettings(list, live, alerts, signOut);
}

/** The part of the pane below the link back. */
function content(detail, section) {
  if (detail.childElementCount === 0) {
    detail.append(h('a', { class: 'back', href: routeHash(section), text: `‹ ${labels[section]}` }), h('div'));
  }
  return detail.lastElementChild;
}

function renderWaiting(list) {
  reconcile(list, ['waiting'], (id) => id, () => h('p', { class: 'empty' }), (element) => setText(
    element, live.connection.state === 'offline'
      ? 'The daemon does not answer, and this page has no data yet. Check the network, and that kvsd is running.' : 'Loading…'));
}

// MARK: Routes

/** Beside the list, the detail scrolls for itself, and the list stays where it is. */
const isBeside = () => getComputedStyle($('detail')).position === 'sticky';
const scrollName = (section, item) => `scroll ${section} ${item !== undefined && isBeside() ? 'beside' : item ?? ''}`;
/** The name of what the window's position is of. */
let restored;
/** The position to restore while the content is still loading. */
let wanted;

/** Restores the scroll position that the route had when it was left. */
function restoreScroll(section, item) {
  // Earlier there may be no styles.
  if (document.readyState !== 'complete') return;
  const name = scrollName(section, item);
  if (restored !== name) wanted = { top: Number(sessionStorage.getItem(name) ?? 0), until: performance.now() + 10_000 };
  restored = name;
  if (!wanted) return;
  scrollTo(0, wanted.top);
  // What is drawn next may still be shorter for a moment.
  if (Math.abs(scrollY - wanted.top) < 2) wanted.until = Math.min(wanted.until, performance.now() + 1_000);
  if (performance.now() > wanted.until) wanted = undefined;
}

addEventListener('scroll', () => {
  const { section, item } = route();
  // In another width, and of another route, it is of something else until that is drawn.
  if (restored !== scrollName(section, item)) return;
  if (wanted && performance.now() < wanted.until && Math.abs(scrollY - wanted.top) >= 2) {
    // Content that is shorter for a moment moves the window to its end; anything else is who looks.
    if (scrollY < wanted.top && scrollY + innerHeight >= document.documentElement.scrollHeight - 1) return;
    wanted = undefined;
  }
  sessionStorage.setItem(restored, Math.round(scrollY));
}, { passive: true });
// In another width the detail may be beside the list, or not any more.
addEventListener('resize', draw);
addEventListener('load', draw);
for (const name of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
  addEventListener(name, () => { wanted = undefined; }, { passive: true });
}

addEventListener('hashchange', ({ oldURL }) => {
  if (codeInAddress()) return begin();
  dismiss();
  render();
  const [former, { section, item }] = [route(new URL(oldURL).hash), route()];
  // The focus moves into what was opened, and back to the link that opened it.
  const opener = section === former.section && former.item !== undefined
    && [...$('list').querySelectorAll('a')].find((link) => link.hash === routeHash(section, former.item));
  (item !== undefined && !$('detail').hidden ? $('detail') : opener || $('main')).focus({ preventScroll: true });
  if (!isBeside()) return;
  $('list').querySelector('.selected')?.scrollIntoView({ block: 'nearest' });
  wanted = undefined;
});

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || route().item === undefined || $('dialog').open) return;
  location.hash = routeHash(route().section);
});

// MARK: Signing in

/** The code of an address that `kvsd pair --page` has printed. */
const codeInAddress = () => location.hash.match(/^#([\w-]{20,64})$/)?.[1];

function deviceName() {
  const agent = navigator.userAgent;
  const system = [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['Mac OS', 'Mac'], ['Windows', 'Windows'],
    ['Linux', 'Linux']].find(([mark]) => agent.includes(mark))?.[1] ?? 'browser';
  const browser = [['Firefox/', 'Firefox'], ['Edg/', 'Edge'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']]
    .find(([mark]) => agent.includes(mark))?.[1];
  return browser ? `${browser} on ${system}` : system;
}

/** Signs in with the code of the URL, if it has one and this browser is not signed in. */
async function begin() {
  const code = codeInAddress();
  // Neither the history nor a bookmark keeps the code.
  if (code) history.replaceState(null, '', location.pathname);
  if (live.isSignedIn) await live.start();
  if (!code) return draw();
  if (live.isSignedIn) {
    return announce(`This browser is signed in as ${live.me.device} already: sign out first to use another address.`, true);
  }
  // Safari and a page on the home screen share no cookies.
  if (/iPhone|iPad/.test(navigator.userAgent) && navigator.standalone === false) return offerHomeScreen(code);
  await signIn(code);
}

async function signIn(code) {
  try {
    const { secret } = await send('POST', '/v1/session', { code, device: deviceName() });
    session.begin(secret);
    await live.start();
    announce('');
  } catch (error) {
    announce(`${error.message}.${error.hint ? ` Next: ${error.hint}.` : ''}`, true);
  }
  draw();
}

let wasSignedIn = live.isSignedIn;

function renderSignedOut() {
  if (wasSignedIn) {
    const time = new TimeFormatter(live.now).clock(live.now);
    announce(`This page has been signed out${live.reason ? ` (${time}): ${live.reason}` : ''}.`);
  }
  if (shown.section === 'sign in' && !wasSignedIn) return;
  wasSignedIn = false;
  const field = h('input', { id: 'code', name: 'code', autocomplete: 'off', spellcheck: 'false', required: true });
  showForm('Sign in', [
    h('p', { text: 'On the machine where kvsd runs, run this, and open the address or scan the code that it prints:' }),
    h('pre', { text: 'kvsd pair --page' }),
    h('p', {}, h('label', { for: 'code', text: 'Or paste the address here' })), field,
  ], [['Sign in', () => signIn(field.value.trim().replace(/^.*#/, ''))]]);
}

function offerHomeScreen(code) {
  const address = `${location.origin}/#${code}`;
  showForm('Home screen or Safari?', [
    h('p', { text: 'To put the limits on the home screen: copy the address, choose Add to Home Screen in the menu Share, open it there, and paste the address.' }),
    h('pre', { text: address }),
  ], [
    ['Copy the address', () => navigator.clipboard.writeText(address), 'The address has been copied.'],
    ['Sign in in Safari', () => signIn(code)],
  ]);
}

function showForm(title, body, actions) {
  shown = { section: 'sign in' };
  $('sections').hidden = true;
  $('detail').hidden = true;
  $('detail').replaceChildren();
  $('answer').hidden = true;
  setText($('link'), '');
  $('retry').hidden = true;
  setText($('title'), 'Limits');
  $('list').className = 'signin';
  $('list').replaceChildren(h('form', { class: 'signin', onsubmit: (event) => {
    event.preventDefault();
    perform(actions[0][1], actions[0][2], event.submitter);
  } },
  h('h2', { text: title }), ...body,
  h('div', { class: 'row' }, ...actions.map(([text, action], index) => index === 0
    ? h('button', { class: 'primary', text })
    : h('button', { type: 'button', text, onclick: ({ currentTarget }) => perform(action, undefined, currentTarget) })))));
}

async function signOut() {
  const text = 'This browser forgets everything of the account. To see it again, it has to be paired again.';
  await confirm('Sign out?', 'Sign out', [h('p', { text })], async () => {
    await send('DELETE', '/v1/me');
    forgetWorker();
    sessionStorage.clear();
    localStorage.clear();
    live.signOut();
  });
}

onChoice(draw);
document.addEventListener('visibilitychange', () => document.hidden ? clearTimeout(timer) : draw());
// Another window has signed in or out.
addEventListener('storage', (event) => {
  const reason = session.endReason(event);
  // A request that removes the device goes on.
  if (live.isSignedIn && reason) live.signOut(reason);
  else if (session.isChanged(event) && session.exists && !live.isSignedIn) location.reload();
});
$('detail').tabIndex = -1;
$('renew').onclick = () => location.reload();
$('retry').onclick = ({ currentTarget }) => perform(() => live.retry(), undefined, currentTarget);
history.scrollRestoration = 'manual';
draw();
// A page that is loaded in advance must not use up a code.
if (document.prerendering) await new Promise((resolve) => document.addEventListener('prerenderingchange', resolve, { once: true }));
await begin();
await installWorker();
