// Times, values and errors as the panels show them.

import { $, setText } from './dom.js';
import { formatJSON } from './http.js';
import { plain } from './values.js';

/** UTC with milliseconds. */
export const timeText = (time) => validDate(time)?.toISOString().replace('T', ' ') ?? '—';

export const clockText = (time) => validDate(time)?.toISOString().slice(11, 23) ?? '—';

function validDate(time) {
  const date = new Date(Number(time));
  return time === undefined || time === null || Number.isNaN(date.getTime()) ? null : date;
}

export function durationText(milliseconds) {
  const sign = milliseconds < 0 ? '−' : '';
  const value = Math.abs(milliseconds);
  const units = [[86400000, 'd'], [3600000, 'h'], [60000, 'min'], [1000, 's'], [1, 'ms']];
  const [unit, name] = units.find(([unit]) => value >= unit) ?? [1, 'ms'];
  return `${sign}${Number((value / unit).toFixed(unit === 1 ? 0 : 1))} ${name}`;
}

/** One line for tables, cut at `limit` characters. */
export function summary(entry, limit = 200) {
  if (!entry) return '—';
  if (entry.deleted) return 'deleted';
  const text = entry.type === 'string' ? formatJSON(entry.value)
    : entry.type === 'array' || entry.type === 'dictionary' ? formatJSON(plain(entry))
    : String(entry.value ?? '');
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Shows an error of a panel beside its content; null removes it. */
export function showError(id, error) {
  const element = $(id);
  element.hidden = !error;
  setText(element, error ? error.message : '');
}
