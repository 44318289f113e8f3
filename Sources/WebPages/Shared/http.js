// Requests and answers of JSON.

export class RequestError extends Error {
  /** @param {string} [hint] what to do about it */
  constructor(message, code, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  /** Whether this emulator has no such resource, as opposed to no such world, store or key. */
  get isUnsupported() { return this.code === 'unknown-path'; }
}

// Integers have 64 bits, of which a number keeps 53.
const reviveInteger = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context.source) : value;

const replaceInteger = (_, value) =>
  typeof value === 'bigint' ? JSON.rawJSON?.(value.toString()) ?? Number(value) : value;

export const parseJSON = (text) => JSON.parse(text, reviveInteger);
export const formatJSON = (value, indent) => JSON.stringify(value, replaceInteger, indent);

/** A path below another, of which each part is encoded. */
export function joinPath(base, ...parts) {
  // A URL cannot have these as segments, not even encoded.
  const invalid = parts.find((part) => part === '.' || part === '..' || part === '');
  if (invalid !== undefined) {
    throw new RequestError(`A browser cannot address the name “${invalid}”; use another client.`);
  }
  return [base, ...parts.map(encodeURIComponent)].join('/');
}

/** Sends a request and returns the document of its answer; undefined without one. `type` is that of both documents. */
export async function send(method, path, body, type = 'application/json') {
  const options = { method, cache: 'no-store', headers: { Accept: type } };
  if (body !== undefined) {
    options.headers['Content-Type'] = type;
    options.body = typeof body === 'string' ? body : formatJSON(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new RequestError('No answer; is the daemon running and reachable?', 'unreachable');
  }
  const text = await response.text();
  let document;
  try {
    document = text === '' ? undefined : parseJSON(text);
  } catch {
    throw new RequestError(`The answer ${response.status} is not JSON.`);
  }
  if (response.ok) return document;
  const { title, detail, code, hint } = document ?? {};
  throw new RequestError([title ?? `Status ${response.status}`, detail].filter(Boolean).join(': '), code, hint);
}

export const get = (path) => send('GET', path);
