// A recorded session: JSON lines, of which the first describes the record.

import { parseJSON } from './http.js';
import { defaultAccount, History, snapshotOf } from './history.js';

const text = (value, limit = 80) => String(value ?? '').slice(0, limit);

/** The world that a request administers, and the resource in it. */
function administered(target) {
  const match = /^\/emulator\/v1\/worlds\/([^/?]+)\/?([^?]*)/.exec(target ?? '');
  try {
    return match ? { world: decodeURIComponent(match[1]), resource: match[2] } : {};
  } catch { return {}; }
}

function imported(body) {
  try { return snapshotOf(parseJSON(body)); } catch { return undefined; }
}

/** The account whose stores are shown first. Only emulators leave out the one that devices begin with. */
export const firstAccount = ({ header, worlds }, world) => (header.source === undefined ? undefined
  : worlds.get(world).events.find(({ account }) => typeof account === 'string')?.account) ?? defaultAccount;

/** The history of each world in a record. Throws a sentence that names the line. */
export function parseRecord(content, name) {
  const lines = content.split('\n');
  const worlds = new Map();
  const [requests, imports] = [new Map(), new Map()];
  let header;

  const append = (world, event) => {
    if (!worlds.has(world)) worlds.set(world, new History());
    worlds.get(world).append(event);
  };

  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    let entry;
    try { entry = parseJSON(line); } catch { throw new Error(`${name}, line ${index + 1}: not JSON`); }
    if (entry === null || typeof entry !== 'object') throw new Error(`${name}, line ${index + 1}: not an object`);
    if (!header) {
      const { version } = entry.record ?? {};
      if (version === undefined) throw new Error(`${name} is not a record: its first line has no “record”.`);
      if (version !== 1) throw new Error(`${name} has version ${text(version)}; this page reads version 1.`);
      header = entry.record;
    } else if (entry.arrives) {
      const { time, device, method, target, body } = entry.arrives;
      // Another account of a world follows its name.
      const { world = entry.arrives.world?.split('/')[0], resource } = administered(target);
      const request = { event: 'request', time, world, device, method: text(method), target: text(target, 400) };
      requests.set(entry.n, request);
      if (world !== undefined) append(world, request);
      if (method === 'PUT' && resource === 'export') imports.set(world, body);
    } else if (entry.answers) {
      const request = requests.get(entry.n);
      if (request) request.status = text(entry.answers.status);
    } else if (entry.event) {
      const event = { ...entry.event };
      if (event.event === 'import') event.snapshot = imported(imports.get(event.world));
      append(event.world ?? '', event);
    }
  });
  if (!header) throw new Error(`${name} is empty.`);
  return { name, header, worlds };
}
