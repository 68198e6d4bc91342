/**
 * Undoes every mode that a full-screen program may have set: synchronized output, kitty's keyboard and xterm's modified keys, focus, mouse and
 * bracketed paste, colours, application keys, the hidden cursor, wrapping at the right, and the alternate screen, which comes last.
 */
export const restoreSequence =
  '\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?1004l\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[m\x1b[?1l\x1b>\x1b[?25h\x1b[?7h\x1b[?1049l';
