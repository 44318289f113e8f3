// Typed values as text and back. Elements of collections are shown as plain JSON where that keeps their types.

import { formatJSON, parseJSON } from './http.js';

export const types = ['string', 'integer', 'double', 'bool', 'date', 'data', 'array', 'dictionary'];

const elements = 'JSON; {"type": "date", "value": "…"} for elements without a JSON type.';
export const hints = {
  string: 'Text, as it is.', integer: 'Digits, 64 bits.', double: 'A number, nan, inf or -inf.',
  bool: 'true or false.', date: 'ISO 8601, or seconds since 2001.', data: 'Base64.', array: elements, dictionary: elements,
};

const isTyped = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  && Object.keys(value).length === 2 && types.includes(value.type) && 'value' in value;

/** An element as plain JSON; as `{type, value}` if the plain form would be read as another type. */
export function plain({ type, value }) {
  switch (type) {
    case 'string': case 'bool': case 'integer': return value;
    case 'double': return Number.isInteger(value) || typeof value === 'string' ? { type, value } : value;
    case 'array': return value.map(plain);
    case 'dictionary': {
      const members = Object.fromEntries(Object.entries(value).map(([key, element]) => [key, plain(element)]));
      return isTyped(members) ? { type, value: members } : members;
    }
    default: return { type, value };
  }
}

function typed(value) {
  if (isTyped(value)) {
    if (value.type === 'array') return { type: 'array', value: value.value.map(typed) };
    if (value.type === 'dictionary') return { type: 'dictionary', value: mapMembers(value.value) };
    return value;
  }
  if (Array.isArray(value)) return { type: 'array', value: value.map(typed) };
  switch (typeof value) {
    case 'string': return { type: 'string', value };
    case 'boolean': return { type: 'bool', value };
    case 'bigint': return { type: 'integer', value };
    case 'number': return { type: Number.isInteger(value) ? 'integer' : 'double', value };
    default:
      if (value === null) throw new Error('A property list has no null.');
      return { type: 'dictionary', value: mapMembers(value) };
  }
}

const mapMembers = (object) =>
  Object.fromEntries(Object.entries(object).map(([key, element]) => [key, typed(element)]));

/** The text that an editor shows. */
export function editableText({ type, value }) {
  return type === 'array' || type === 'dictionary'
    ? formatJSON(plain({ type, value }), 2) : String(value ?? '');
}

/** The value that the text of an editor means. Throws a sentence for the user. */
export function parseValue(type, text) {
  const trimmed = text.trim();
  switch (type) {
    case 'string': return { type, value: text };
    case 'bool':
      if (!['true', 'false'].includes(trimmed)) throw new Error('A bool is true or false.');
      return { type, value: trimmed === 'true' };
    case 'integer': {
      if (!/^[+-]?\d+$/.test(trimmed)) throw new Error('An integer has digits only.');
      const number = BigInt(trimmed.replace('+', ''));
      if (BigInt.asIntN(64, number) !== number) throw new Error('An integer has 64 bits.');
      const value = Number(number);
      return { type, value: Number.isSafeInteger(value) ? value : number };
    }
    case 'double': {
      if (['nan', 'inf', '-inf'].includes(trimmed)) return { type, value: trimmed };
      const number = Number(trimmed);
      if (trimmed === '' || !Number.isFinite(number)) throw new Error('A double is a number, nan, inf or -inf.');
      return { type, value: number };
    }
    case 'date':
      if (/^-?\d+(\.\d+)?$/.test(trimmed)) return { type, value: Number(trimmed) };
      if (Number.isNaN(Date.parse(trimmed))) {
        throw new Error('A date is ISO 8601, such as 2026-09-18T12:00:00Z, or seconds since 2001.');
      }
      return { type, value: trimmed };
    case 'data':
      try { atob(trimmed); } catch { throw new Error('Data is base64.'); }
      return { type, value: trimmed };
    default: {
      let document;
      try { document = parseJSON(trimmed); } catch (error) { throw new Error(`Not JSON: ${error.message}.`); }
      const value = typed(document);
      if (value.type !== type) throw new Error(`This JSON is not ${type === 'array' ? 'an array' : 'a dictionary'}.`);
      return value;
    }
  }
}
