import { chooseTheme, type Theme } from './theme.js';

/** How rows are written to a terminal. */
export interface Look {
  readonly theme: Theme;
  /** Every character is written in ASCII. */
  readonly isAscii: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

export function chooseLook({ env, background }: { env: Env; background: 'dark' | 'light' }): Look {
  const colours = (env.NO_COLOR ?? '') === '' && env.TERM !== 'vt100';
  return { theme: chooseTheme({ colours, background }), isAscii: isAsciiTerminal(env) };
}

/** The locale says that the terminal has no UTF-8, or it is the Linux console, whose font lacks most of the signs. */
function isAsciiTerminal(env: Env): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((name) => name !== undefined && name !== '');
  // Containers often set no locale, and are looked at in a terminal that knows UTF-8.
  const isUtf8 = locale === undefined || /utf-?8/i.test(locale);
  return !isUtf8 || env.TERM === 'linux';
}
