// Requests and answers of JSON.

export class RequestError extends Error {
  /** @param {string} [hint] what to do about it */
  constructor(message, code, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  /** Whether this server has no such resource, as opposed to no such world, store or key. */
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

/** What a page adds to every request. */
export const identity = { fields: () => ({}) };

/** How long the whole answer of a request without a signal of its own may take. */
const answerSeconds = 20;

/** The reason why there is no answer. */
function withoutAnswer(method, error) {
  return error.name !== 'TimeoutError' ? new RequestError('No answer; is the daemon running and reachable?', 'unreachable')
    : new RequestError(`No answer within ${answerSeconds} s${method === 'GET' ? '' : '; it may have been done all the same'}.`, 'timeout');
}

/** Sends a request and returns its answer. Throws without one, and for a problem document. */
export async function request(method, path, { headers, body, signal = AbortSignal.timeout(answerSeconds * 1_000) } = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, headers: { ...headers, ...identity.fields() }, body, signal, cache: 'no-store' });
  } catch (error) {
    throw withoutAnswer(method, error);
  }
  if (answer.ok || answer.status === 304) return answer;
  const { title, detail, code, hint } = await answer.json().catch(() => ({}));
  throw new RequestError([title ?? `Status ${answer.status}`, detail].filter(Boolean).join(': '), code, hint);
}

/**
 * Sends a request and returns the document of its answer; undefined without one. `type` is that of both documents, `fields` are further
 * fields of the request.
 */
export async function send(method, path, body, type = 'application/json', fields = {}) {
  const answer = await request(method, path, body === undefined ? { headers: { Accept: type, ...fields } } : {
    headers: { Accept: type, 'Content-Type': type, ...fields }, body: typeof body === 'string' ? body : formatJSON(body),
  });
  let text;
  try {
    text = await answer.text();
  } catch (error) {
    throw withoutAnswer(method, error);
  }
  try {
    return text === '' ? undefined : parseJSON(text);
  } catch {
    throw new RequestError(`The answer ${answer.status} is not JSON.`);
  }
}

export const get = (path) => send('GET', path);
