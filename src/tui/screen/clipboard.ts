/** Terminals drop a longer OSC 52 sequence, and say nothing of it. */
const layout = { osc52BytesMax: 74_000 } as const;

export interface Copied {
  /** What is written to the terminal; empty when the text is too long for it. */
  sequence: string;
  /** What a person is told: a terminal does not say whether it took the text. */
  note: string;
}

/** Asks the terminal to put a text on its clipboard (OSC 52). Inside tmux the sequence goes to tmux, which passes it on when it may. */
export function copySequence(text: string, env: Readonly<Record<string, string | undefined>>): Copied {
  const data = Buffer.from(text).toString('base64');
  if (data.length > layout.osc52BytesMax)
    return { sequence: '', note: 'too long for the clipboard of a terminal: /export writes it to a file' };
  const osc = `\x1b]52;c;${data}\x07`;
  const size = `${text.length} characters`;
  if (env.TMUX !== undefined) {
    return { sequence: osc, note: `${size} sent to tmux (OSC 52); with "set -g set-clipboard on" it passes them on to your terminal` };
  }
  return { sequence: osc, note: `${size} sent to your terminal (OSC 52)` };
}
