import { marks } from '../rows/marks.js';

const tuning = { wrappersMax: 4 } as const;

const quoted = String.raw`(?:"[^"]*"|'[^']*'|[^\s;&|"']+)`;
const changeDirectory = new RegExp(String.raw`^cd\s+${quoted}\s*(?:&&|;)\s*`);
const innerShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh\s+-l?c\s+/;

/** A command without what agents put around most of their commands: `cd DIR &&`, `bash -c '…'`. */
export function stripWrappers(command: string): string {
  let inner = command.trim();
  for (let depth = 0; depth < tuning.wrappersMax; depth++) {
    const next = unquote(inner.replace(changeDirectory, ''));
    if (next === inner || next === '') break;
    inner = next;
  }
  return inner;
}

/** What `sh -c` is told, if that is one quoted word; a headline may have been cut before its end. */
function unquote(command: string): string {
  const script = command.replace(innerShell, '');
  if (script === command) return command;
  const quote = script.charAt(0);
  if (quote !== '"' && quote !== "'") return command;
  const end = script.indexOf(quote, 1);
  if (end === -1) return script.endsWith(marks.ellipsis) ? script.slice(1) : command;
  return end === script.length - 1 && !script.includes('\\') ? script.slice(1, -1) : command;
}
