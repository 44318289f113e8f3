// A live stream of events. EventSource would read it, but cannot send the fields that other requests have.

import { request, RequestError } from './http.js';

/** Calls `handle(type, data)` for each event until `signal` aborts. Throws when the stream ends or there is none. */
export async function follow(path, signal, handle) {
  const { body } = await request('GET', path, { headers: { Accept: 'text/event-stream' }, signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new RequestError('The stream has ended.', 'unreachable');
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
