import type { Subcommand } from '../subcommand.js';

export interface ArgumentWord {
  name: string;
  isRequired: boolean;
  isVariadic: boolean;
}

export interface OptionWord {
  /** `-n` and `--lines`. */
  flags: string[];
  /** The name of its value, if it takes one. */
  value: string | undefined;
  text: string;
}

/** The words of a command line, as completions and the man page need them. */
export interface CommandWords {
  /** The name, with its group: `auth set`. */
  name: string;
  args: ArgumentWord[];
  options: OptionWord[];
  summary: string;
}

/** The words of a subcommand, from its usage and options in commander's syntax. */
export function toCommandWords({ usage, summary, options = {} }: Subcommand): CommandWords {
  const words = usage.split(' ');
  const names = words.filter((word) => /^\w/.test(word));
  const args = words.slice(names.length).map((word) => ({
    name: word.replaceAll(/[<>[\].]/g, ''),
    isRequired: word.startsWith('<'),
    isVariadic: word.includes('...'),
  }));
  return { name: names.join(' '), args, options: toOptionWords(options), summary };
}

/** The words of options. */
export function toOptionWords(options: Record<string, string>): OptionWord[] {
  return Object.entries(options).map(([declared, text]) => {
    const [, flags = '', value] = /^([^<]+?)(?: <(.+)>)?$/.exec(declared) ?? [];
    return { flags: flags.split(', '), value, text };
  });
}
