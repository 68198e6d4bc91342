import type { Span, Tone } from './row.js';

/** SGR parameters of each tone. Only default colours and the 16 of ANSI: they follow the person's own palette, light or dark. */
export type Theme = Readonly<Record<Tone, string>>;

/** Blue is hard to read on black. Muted text is faint instead of bright black, which some palettes make the colour of the background. */
const dark: Theme = {
  plain: '',
  muted: '2',
  accent: '36',
  user: '36',
  good: '32',
  bad: '31',
  warn: '33',
  heading: '1;94',
  link: '4;94',
  code: '33',
  keyword: '35',
  string: '32',
  number: '33',
  comment: '2',
  name: '94',
  added: '32',
  removed: '31',
  border: '2',
};

/** Green, yellow and cyan are hard to read on white. */
const light: Theme = {
  ...dark,
  accent: '34',
  user: '34',
  good: '34',
  warn: '35',
  heading: '1;34',
  link: '4;34',
  code: '35',
  string: '94',
  number: '31',
  name: '34',
  added: '34',
};

/** Without colours, only what attributes can say. */
const monochrome: Theme = {
  plain: '',
  muted: '2',
  accent: '1',
  user: '1',
  good: '',
  bad: '1',
  warn: '1',
  heading: '1;4',
  link: '4',
  code: '',
  keyword: '',
  string: '',
  number: '',
  comment: '2',
  name: '',
  added: '',
  removed: '',
  border: '2',
};

export function chooseTheme({ colours, background }: { colours: boolean; background: 'dark' | 'light' }): Theme {
  if (!colours) return monochrome;
  return background === 'light' ? light : dark;
}

/** The SGR parameters of a span; empty for the terminal's defaults. */
export function sgrOf(theme: Theme, { tone = 'plain', bold, dim, italic, underline, strike, reverse }: Span): string {
  const codes = [theme[tone], bold && '1', dim && '2', italic && '3', underline && '4', reverse && '7', strike && '9'];
  return [...new Set(codes.flatMap((code) => (typeof code === 'string' && code !== '' ? code.split(';') : [])))].join(';');
}
