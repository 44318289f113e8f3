// Times as text, by the rules of the terminal (TimeFormatter and DurationFormatter). Texts of the daemon contain times as times, so that
// they can be shown later.

import { options } from './state.js';

const minute = 60_000;
export const [hour, day] = [3_600_000, 86_400_000];
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const hasTwelveHours = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12;

/** Formats relative to one time, and knows when a text that it gave changes. */
export class TimeFormatter {
  /** @param {number} now milliseconds since 1970, by the daemon's clock */
  constructor(now) {
    this.now = now;
    this.nextChange = Infinity;
  }

  #changesAt(time) {
    if (time > this.now && time < this.nextChange) this.nextChange = time;
  }

  /** The text of an array of strings and times. */
  text(parts) {
    return (parts ?? []).map((part) => {
      if (typeof part === 'string') return part;
      if ('ago' in part) return this.past(part.ago);
      if ('reset' in part) return this.reset(part.reset);
      if ('at' in part) return this.brief(part.at);
      if ('runsOut' in part) return this.runsOut(part.runsOut);
      return this.runsOut(part.runsOutAt, part.basis);
    }).join('');
  }

  /** The present one of the values that follow each other in time. */
  value(timed) {
    let value;
    for (const change of timed) {
      if (change.from === undefined || change.from <= this.now) ({ value } = change);
      else {
        this.#changesAt(change.from);
        break;
      }
    }
    return value ?? null;
  }

  past(time) { return options.isAbsolute ? this.clock(time) : this.age(time); }

  age(time) {
    const minutes = Math.floor(Math.max(0, this.now - time) / minute);
    const unit = minutes < 60 ? 1 : minutes < 2_880 ? 60 : 1_440;
    this.#changesAt(time + (Math.floor(minutes / unit) + 1) * unit * minute);
    if (minutes < 1) return 'just now';
    return minutes < 60 ? `${minutes} min ago`
      : minutes < 2_880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} d ago`;
  }

  /** The time until then, rounded up to the minute, in at most two units. */
  countdown(time) {
    if (time <= this.now) return 'now';
    const all = Math.ceil((time - this.now) / minute);
    const shown = all < 1_440 ? all : Math.floor(all / 60) * 60;
    this.#changesAt(time - (shown - 1) * minute);
    const [days, hours, minutes] = [Math.floor(all / 1_440), Math.floor(all / 60) % 24, all % 60];
    if (days > 0) return hours > 0 ? `${days}d ${hours}h` : `${days}d`;
    if (hours > 0) return minutes > 0 ? `${hours}h ${minutes}m` : `${hours}h`;
    return `${minutes}m`;
  }

  reset(time) {
    if (time > this.now) {
      this.#changesAt(time);
      return `resets ${options.isAbsolute ? this.clock(time) : `in ${this.countdown(time)}`}`;
    }
    return `${options.isAbsolute ? 'reset at' : 'reset'} ${this.past(time)}`;
  }

  runsOut(time, basis) {
    if (time <= this.now) return 'may have run out';
    this.#changesAt(time);
    return `runs out ${basis === undefined ? `in ${this.countdown(time)}` : this.clock(time)}${basis ?? ''}`;
  }

  /** "13:30" today, "Mon 21 Sep 17:00" within half a year, else "21 Sep 2027". */
  clock(time) {
    const [date, today] = [new Date(time), new Date(this.now)];
    if (Number.isNaN(date.getTime())) return '—';
    this.#changesAt(new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1).getTime());
    if (date.toDateString() === today.toDateString()) return clockTime(date);
    const month = `${date.getDate()} ${months[date.getMonth()]}`;
    if (Math.abs(time - this.now) > 182 * day) return `${month} ${date.getFullYear()}`;
    return `${weekdays[date.getDay()]} ${month} ${clockTime(date)}`;
  }

  /** "13:30" today, "Mon 13:30" within six days, else "21 Sep", with another year "21 Sep 2027". */
  brief(time) {
    const [date, today] = [new Date(time), new Date(this.now)];
    if (Number.isNaN(date.getTime())) return '—';
    const midnight = (date, days = 0) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
    this.#changesAt(midnight(today, 1));
    const days = Math.round((midnight(date) - midnight(today)) / day);
    if (days === 0) return clockTime(date);
    if (Math.abs(days) <= 6) return `${weekdays[date.getDay()]} ${clockTime(date)}`;
    const text = `${date.getDate()} ${months[date.getMonth()]}`;
    return date.getFullYear() === today.getFullYear() ? text : `${text} ${date.getFullYear()}`;
  }
}

function clockTime(date) {
  const minutes = String(date.getMinutes()).padStart(2, '0');
  const hours = date.getHours();
  if (!hasTwelveHours) return `${String(hours).padStart(2, '0')}:${minutes}`;
  return `${(hours + 11) % 12 + 1}:${minutes} ${hours < 12 ? 'AM' : 'PM'}`;
}

export const weekday = (time) => weekdays[new Date(time).getDay()];
/** Minutes east of UTC. */
export const utcOffset = () => -new Date().getTimezoneOffset();
