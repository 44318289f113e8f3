// A recorded session: JSON lines, of which the first describes the record.

import { parseJSON } from './api.js';
import { History, snapshotOf } from './history.js';

const text = (value, limit = 80) => String(value ?? '').slice(0, limit);

function worldOfImport({ method, target }) {
  const match = /^\/emulator\/v1\/worlds\/([^/?]+)\/export$/.exec(target ?? '');
  try {
    return method === 'PUT' && match ? decodeURIComponent(match[1]) : undefined;
  } catch { return undefined; }
}

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
      if (entry.record === undefined) throw new Error(`${name} is not a record: its first line has no “record”.`);
      if (entry.record !== 1) throw new Error(`${name} has version ${text(entry.record)}; this page reads version 1.`);
      header = entry;
    } else if (entry.arrives) {
      const { time, world, device, method, target, body } = entry.arrives;
      const request = { event: 'request', time, world, device, method: text(method), target: text(target, 400), faults: entry.faults };
      requests.set(entry.n, request);
      append(world ?? '', request);
      const imported = worldOfImport(entry.arrives);
      if (imported !== undefined) imports.set(imported, body);
    } else if (entry.answers) {
      const request = requests.get(entry.n);
      if (request) request.status = text(entry.answers.status);
    } else if (entry.event) {
      const event = { ...entry.event };
      if (event.event === 'import') event.snapshot = snapshotOf(imports.get(event.world));
      append(event.world ?? '', event);
    }
  });
  if (!header) throw new Error(`${name} is empty.`);
  return { name, header, worlds };
}
