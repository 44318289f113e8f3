// A live stream of events. EventSource would read it, but cannot send the fields that other requests have.

import { formatJSON, request, RequestError } from './http.js';

const ended = () => new RequestError('The stream has ended.', 'unreachable');

/**
 * Calls `handle(type, data)` for each event until `signal` aborts. Throws when the stream ends or there is none.
 *
 * All windows of a browser share one stream, which the first of them reads and the others hear of: over HTTP/1.1 a browser has six
 * connections to a host, and a stream keeps one of them. `changes()` are those that a window that comes later has missed.
 */
export async function share(path, signal, handle, changes) {
  const channel = new BroadcastChannel(path);
  const self = Math.random();
  const wait = new AbortController();
  signal.addEventListener('abort', () => wait.abort(signal.reason));
  let [isReader, isOpened] = [false, false];
  channel.onmessage = ({ data: { type, data, from, to } }) => {
    if (isReader) {
      if (type !== 'join' || !isOpened) return;
      channel.postMessage({ type: 'opened', to: from });
      for (const change of changes()) channel.postMessage({ type: 'change', data: formatJSON(change), to: from });
    } else if (type === 'ended') wait.abort(ended());
    else if (type !== 'join' && (to ?? self) === self) handle(type, data);
  };
  channel.postMessage({ type: 'join', from: self });
  try {
    await navigator.locks.request(path, { signal: wait.signal }, () => {
      isReader = true;
      return follow(path, signal, (type, data) => {
        isOpened ||= type === 'opened';
        channel.postMessage({ type, data });
        handle(type, data);
      });
    });
  } finally {
    if (isReader && !signal.aborted) channel.postMessage({ type: 'ended' });
    channel.close();
  }
}

async function follow(path, signal, handle) {
  const { body } = await request('GET', path, { headers: { Accept: 'text/event-stream' }, signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw ended();
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      if (signal.aborted) return;
      const [type, data] = ['event: ', 'data: '].map((field) =>
        event.split('\n').find((line) => line.startsWith(field))?.slice(field.length));
      if (type) handle(type, data);
    }
  }
}
