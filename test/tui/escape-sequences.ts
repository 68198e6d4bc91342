/* eslint-disable no-control-regex -- What a terminal is sent are control characters. */

/** One thing that a program wrote to its terminal: text, an escape sequence or a control character. */
export interface Written {
  kind: 'text' | 'csi' | 'osc' | 'escape' | 'control';
  bytes: string;
}

const pieces: [Written['kind'], RegExp][] = [
  ['csi', /\x1b\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]/y],
  // Ends with BEL or ST; one that does not end takes everything that follows.
  ['osc', /\x1b[\]PX^_][^]*?(?:\x07|\x1b\\|$)/y],
  ['escape', /\x1b[^]?/y],
  ['control', /[\x00-\x1a\x1c-\x1f\x7f-\x9f]/y],
  ['text', /[^\x00-\x1f\x7f-\x9f]+/y],
];

export function splitWritten(bytes: string): Written[] {
  const written: Written[] = [];
  for (let at = 0; at < bytes.length;) {
    for (const [kind, pattern] of pieces) {
      pattern.lastIndex = at;
      const [found] = pattern.exec(bytes) ?? [];
      if (found === undefined || found === '') continue;
      written.push({ kind, bytes: found });
      at += found.length;
      break;
    }
  }
  return written;
}

/** Everything that the frontend may write beside text; nothing in a text of others can make it write more. */
const allowed: Partial<Record<Written['kind'], readonly RegExp[]>> = {
  text: [/^/],
  csi: [
    // Cursor, erase a row, erase the screen.
    /^\x1b\[(\d+;\d+)?H$/,
    /^\x1b\[2[JK]$/,
    // Attributes and the 16 colours of ANSI.
    /^\x1b\[((0|1|2|3|4|7|9|3[0-7]|9[0-7])(;(1|2|3|4|7|9|3[0-7]|9[0-7]))*)?m$/,
    // Modes: synchronized output, cursor, alternate screen, bracketed paste, mouse, focus, application keys.
    /^\x1b\[\?(7|2026|25|1049|2004|1000|1002|1003|1006|1004)[hl]$/,
    /^\x1b\[\?1l$/,
    // Keyboards of kitty and xterm.
    /^\x1b\[(>5|<)u$/,
    /^\x1b\[>4;[01]m$/,
    // Questions to the terminal.
    /^\x1b\[(\?2004\$p|\?u|c)$/,
    // The title is saved and restored.
    /^\x1b\[2[23];2t$/,
  ],
  osc: [
    /^\x1b\]0;[^\x00-\x1f\x7f-\x9f]*\x07$/,
    /^\x1b\]9;4;[034];\d+\x07$/,
    /^\x1b\](9|777;notify;berth);[^\x00-\x1f\x7f-\x9f;]*\x07$/,
    /^\x1b\]11;\?\x07$/,
    /^\x1b\]52;c;[A-Za-z\d+/]*=*\x07$/,
  ],
  escape: [/^\x1b>$/],
  // After a notification.
  control: [/^\x07$/],
};

const leavesScreen = '\x1b[?1049l';

/** What was written while the alternate screen was shown and is on no list of what may be; nothing of a text of others is to be found here. */
export function foreignSequences(bytes: string): string[] {
  const end = bytes.lastIndexOf(leavesScreen);
  return splitWritten(end < 0 ? bytes : bytes.slice(0, end + leavesScreen.length))
    .filter(({ kind, bytes: one }) => !allowed[kind]?.some((pattern) => pattern.test(one)))
    .map(({ bytes: one }) => JSON.stringify(one));
}

/** The modes that were set and not reset, in the words of the sequences that set them. */
export function modesLeft(bytes: string): string[] {
  const set = new Set<string>();
  let keyboards = 0;
  for (const { kind, bytes: one } of splitWritten(bytes)) {
    if (kind !== 'csi') continue;
    const [, mode, how] = /^\x1b\[\?(\d+)([hl])$/.exec(one) ?? [];
    // Lines wrap and the cursor is shown unless told otherwise.
    const isSet = mode === '25' || mode === '7' ? how === 'l' : how === 'h';
    if (mode !== undefined && isSet) set.add(`?${mode}`);
    else if (mode !== undefined) set.delete(`?${mode}`);
    if (/^\x1b\[>\d+u$/.test(one)) keyboards++;
    if (one === '\x1b[<u') keyboards--;
    if (/^\x1b\[>4;[12]m$/.test(one)) set.add('>4');
    if (one === '\x1b[>4;0m') set.delete('>4');
    if (/^\x1b\[[\d;]+m$/.test(one)) set.add('m');
    if (one === '\x1b[m' || one === '\x1b[0m') set.delete('m');
  }
  return [...set, ...(keyboards === 0 ? [] : [`${keyboards} keyboards`])];
}
