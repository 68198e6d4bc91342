import { expect, test } from 'vitest';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { chooseTheme } from '../../../src/tui/rows/theme.js';

test.each([
  [{ LANG: 'en_US.UTF-8' }, false],
  [{ LANG: 'C.utf8' }, false],
  [{}, false],
  [{ LANG: 'C' }, true],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'POSIX' }, true],
  [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'de_DE.UTF-8' }, false],
  [{ LANG: 'en_US.UTF-8', TERM: 'linux' }, true],
])('the locale and the terminal say whether there is only ASCII: %j', (env, isAscii) => {
  expect(chooseLook({ env, background: 'dark' }).isAscii).toBe(isAscii);
});

test.each([
  [{}, true],
  [{ NO_COLOR: '' }, true],
  [{ NO_COLOR: '1' }, false],
  [{ TERM: 'vt100' }, false],
])('whether there are colours: %j', (env, colours) => {
  expect(chooseLook({ env, background: 'light' }).theme).toBe(chooseTheme({ colours, background: 'light' }));
});
