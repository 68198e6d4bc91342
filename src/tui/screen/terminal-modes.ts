/**
 * Alternate screen, no wrapping at its right (a row that the terminal takes for wider than we do cannot break the screen), bracketed paste,
 * mouse (buttons, drag, SGR coordinates), focus, kitty's keyboard, and questions to the terminal.
 */
export const enterSequence =
  '\x1b[?1049h\x1b[?7l\x1b[2J\x1b[H\x1b[?2004h\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?1004h\x1b[>5u\x1b[?2004$p\x1b[?u\x1b]11;?\x07\x1b[c';

/** Xterm's way to tell keys with modifiers, such as Shift-Enter, for terminals without kitty's. */
export const modifyOtherKeys = '\x1b[>4;1m';

/** `CSI 22 t` and `CSI 23 t` save and restore the title. */
export const saveTitle = '\x1b[22;2t';
export const restoreTitle = '\x1b[23;2t';
