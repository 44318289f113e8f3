// Pictures of the sections, drawn for this page.

import { s } from './dom.js';

const lines = {
  usage: 'M4 7h16M4 12h10M4 17h13', history: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  spending: 'M4 5h5v5H4zM4 14h5v5H4zM13 5h7v5h-7zM13 14h7v5h-7z', devices: 'M4 5h16v10H4zM9 19h6M12 15v4',
  keys: 'M14 10a4 4 0 1 1-1.2-2.8M12 12h8v4M16 12v3',
  settings: 'M4 8h9M17 8h3M15 6v4M4 16h3M11 16h9M9 14v4',
};

/** Beside the name of a section, which says the same. */
export const icon = (section) => s('svg', { viewBox: '0 0 24 24', 'aria-hidden': true }, s('path', { d: lines[section] }));
