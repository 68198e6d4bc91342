import { expect, test } from 'vitest';
import { chooseTheme, sgrOf, type Theme } from '../../../src/tui/rows/theme.js';

/** The 16 colours of xterm, and those that it writes with where no colour is named. */
const palette = [
  ...['#000000', '#cd0000', '#00cd00', '#cdcd00', '#0000ee', '#cd00cd', '#00cdcd', '#e5e5e5'],
  ...['#7f7f7f', '#ff0000', '#00ff00', '#ffff00', '#5c5cff', '#ff00ff', '#00ffff', '#ffffff'],
];
const screens = {
  dark: { background: '#000000', text: '#e5e5e5' },
  light: { background: '#ffffff', text: '#000000' },
} as const;

const dark = chooseTheme({ colours: true, background: 'dark' });
const light = chooseTheme({ colours: true, background: 'light' });
const monochrome = chooseTheme({ colours: false, background: 'dark' });

function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** As in WCAG 2. */
function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: readonly number[], other: readonly number[]): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The colour that SGR parameters lead to; faint text is drawn half way to its background. */
function colourOf(sgr: string, { background, text }: (typeof screens)['dark' | 'light']): number[] {
  const codes = sgr.split(';').map(Number);
  const code = codes.find((one) => (one >= 30 && one <= 37) || (one >= 90 && one <= 97));
  const named = code === undefined ? text : palette[code >= 90 ? code - 82 : code - 30]!;
  const behind = channels(background);
  return channels(named).map((value, at) => (codes.includes(2) ? (value + behind[at]!) / 2 : value));
}

function codesOf(theme: Theme): number[] {
  return Object.values(theme).flatMap((sgr) => (sgr === '' ? [] : sgr.split(';').map(Number)));
}

test('themes use the colours of the terminal and its 16 of ANSI, and no background', () => {
  for (const theme of [dark, light]) {
    for (const code of codesOf(theme))
      expect([1, 2, 4].includes(code) || (code >= 30 && code <= 37) || (code >= 90 && code <= 97)).toBe(true);
  }
});

test('without colours there are attributes only', () => {
  for (const code of codesOf(monochrome)) expect([1, 2, 4]).toContain(code);
});

test.each(Object.keys(dark) as (keyof Theme)[])('%s can be read on black and on white', (tone) => {
  expect(contrast(colourOf(dark[tone], screens.dark), channels(screens.dark.background))).toBeGreaterThanOrEqual(3);
  expect(contrast(colourOf(light[tone], screens.light), channels(screens.light.background))).toBeGreaterThanOrEqual(3);
});

test('what was added does not look like what was removed', () => {
  for (const theme of [dark, light]) {
    expect(theme.added).not.toBe(theme.removed);
    expect(theme.good).not.toBe(theme.bad);
  }
});

test('attributes of a span add to its tone, each once', () => {
  expect(sgrOf(dark, { text: '' })).toBe('');
  expect(sgrOf(dark, { text: '', tone: 'heading', bold: true, underline: true })).toBe('1;94;4');
  expect(sgrOf(dark, { text: '', dim: true, italic: true, reverse: true, strike: true })).toBe('2;3;7;9');
});
