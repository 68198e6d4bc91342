import { isatty } from 'node:tty';
import { authPath, isProviderName, readAuthFile, setKey } from '../../../machine/auth-file.js';
import { configNames } from '../../../machine/config-text.js';
import { limits } from '../../../protocol/limits.js';
import { nearest } from '../../../protocol/nearest.js';
import { printable } from '../../../view/printable.js';
import { exit, Refused, WrongUsage } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { writeErr } from '../../terminal/standard-streams.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  provider: string;
}

const tuning = { sequenceUnitsMax: 64 } as const;
const escape = '\u001b';
const pasteOn = `${escape}[?2004h`;
const pasteOff = `${escape}[?2004l`;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

const builtIn = ['anthropic', 'openai'];

export const authSet: Subcommand = {
  usage: 'auth set <provider>',
  hosts: 'refused',
  summary: 'Keep the API key of a provider. It is typed unseen, or comes from standard input.',
  unwanted:
    'a key is not taken from the command line, where the history of the shell and every program could see it; ' +
    'give only the provider, and the key when asked, or from standard input: pass show KEY | berth auth set PROVIDER',
  notes:
    'PROVIDER is anthropic or openai, or any provider that config.json names.\n' +
    'Without a terminal: pass show KEY | head -n 1 | berth auth set anthropic, or berth auth set anthropic < FILE\n' +
    'The key is kept in auth.json beside config.json, readable by you alone. A running daemon uses it from its next\n' +
    'request on, with no restart.',
  examples: {
    'berth auth set anthropic': 'typed unseen',
    'pass show openai | head -n 1 | berth auth set openai': 'from a password store',
  },
  async run({ provider }: Args, { paths: { configDir }, print }) {
    checkProvider(provider);
    refuseMisspelled(provider, configDir);
    // Fails before the prompt if the auth file is not usable.
    readAuthFile(configDir);
    const typed = isatty(0) ? await readHidden(`API key for ${provider} (not shown): `) : await readPiped();
    if (typed === undefined) throw new Refused('no key was entered; nothing was written');
    await setKey(configDir, provider, typed);
    print(`kept a key for ${provider} in ${printable(shortenHome(authPath(configDir)))}`);
    if (!builtIn.includes(provider))
      print(`${builtIn.join(' and ')} are built in; ${provider} needs an entry under providers in config.json, too`);
    return exit.ok;
  },
};

/** Refuses an invalid provider name without echoing it: it may be a key. */
export function checkProvider(typed: string): void {
  if (/^(sk|gsk|xai|pplx|nvapi|hf|r8|key)[-_]\S{16}/i.test(typed)) {
    throw new WrongUsage('that looks like a key and not like the name of a provider, such as anthropic or openai');
  }
  if (!isProviderName(typed) || typed.startsWith('-')) {
    throw new WrongUsage('the name of a provider is 1 to 64 letters, digits, dots, dashes and underscores, such as anthropic or openai');
  }
}

/** Refuses a likely typo of a built-in provider, whose key would never be used. */
function refuseMisspelled(provider: string, configDir: string): void {
  if (builtIn.includes(provider) || configNames(configDir, provider) || readAuthFile(configDir).providers.includes(provider)) return;
  const near = nearest(provider, builtIn);
  if (near === undefined) return;
  throw new Refused(
    `there is no provider ${provider}; did you mean ${near}? One of your own is named under providers in config.json first`,
  );
}

async function readPiped(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) {
    text += String(piece);
    if (text.length > limits.typedKeyUnitsMax) break;
  }
  return text;
}

interface TypedLine {
  /** Takes a character; returns whether the line goes on, is done, or was cancelled. */
  take(character: string): 'more' | 'done' | 'left';
  text(): string;
}

/** Line editing without echo. A bracketed paste is taken with its line endings, so that nothing of it reaches the shell. */
function createTypedLine(): TypedLine {
  let text = '';
  let pasting = false;
  /** The escape sequence that is being read. */
  let sequence: string | undefined;

  function takeEscaped(started: string): void {
    sequence = /^(\[[0-?]*[ -/]*|O?)$/.test(started) && started.length < tuning.sequenceUnitsMax ? started : undefined;
    if (started === '[200~') pasting = true;
    if (started === '[201~') pasting = false;
  }

  const controls: Record<string, () => 'more' | 'done'> = {
    '\r': () => 'done',
    '\n': () => 'done',
    '\u0004': () => 'done',
    '\u007f': () => edit(text.replace(/[^]$/u, '')),
    '\b': () => edit(text.replace(/[^]$/u, '')),
    '\u0015': () => edit(''),
    '\u0017': () => edit(''),
  };

  function edit(edited: string): 'more' {
    text = edited;
    return 'more';
  }

  return {
    take(character) {
      if (character === '\u0003') return 'left';
      const control = Object.hasOwn(controls, character) ? controls[character] : undefined;
      if (character === escape) sequence = '';
      else if (sequence !== undefined) takeEscaped(sequence + character);
      else if (control && !pasting) return control();
      else if ((pasting || character >= ' ') && text.length <= limits.typedKeyUnitsMax) text += character;
      return 'more';
    },
    text: () => text,
  };
}

/** Reads a line from the terminal without echo. Undefined when the person cancels. */
function readHidden(prompt: string): Promise<string | undefined> {
  const { stdin } = process;
  const isShown = isatty(2);
  const line = createTypedLine();
  return new Promise((resolve, reject) => {
    function restore(): void {
      stdin.off('data', onData).off('end', leave).pause().setRawMode(false);
      stdin.off('error', fail);
      for (const signal of signals) process.off(signal, onSignal);
      writeErr(`${isShown ? pasteOff : ''}\n`);
    }
    function leave(): void {
      restore();
      resolve(undefined);
    }
    function fail(error: Error): void {
      restore();
      reject(error);
    }
    function onSignal(signal: NodeJS.Signals): void {
      restore();
      process.kill(process.pid, signal);
    }
    function onData(typed: string): void {
      for (const character of typed) {
        const now = line.take(character);
        if (now === 'more') continue;
        if (now === 'left') return leave();
        restore();
        return resolve(line.text());
      }
    }
    for (const signal of signals) process.on(signal, onSignal);
    stdin.setEncoding('utf8').setRawMode(true);
    stdin.on('data', onData).on('end', leave).on('error', fail);
    writeErr(`${isShown ? pasteOn : ''}${prompt}`);
  });
}
