import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';
import { bypasses, isAllowed, sensibleRules } from './shell-tables.js';

const patienceMs = 5_000;

function runInBash(command: string, cwd: string): void {
  spawnSync('bash', ['-c', command], {
    cwd,
    env: { PATH: '/usr/bin:/bin', HOME: cwd, LC_ALL: 'C.UTF-8' },
    timeout: patienceMs,
    stdio: 'ignore',
  });
}

function wasFired(dir: TempDir): boolean {
  const fired = existsSync(dir.file('pwn'));
  rmSync(dir.file('pwn'), { recursive: true, force: true });
  return fired;
}

describe('against a real bash', () => {
  test('the bypasses of the table are real: most of them leave their mark', () => {
    using dir = makeTempDir();
    writeFileSync(dir.file('a'), 'a\nb\n');
    const shell = bypasses.filter(
      ({ rules, command }) => /touch pwn|> pwn|w pwn/.test(command) && /^(ls|test|find|sed|awk|sort)\b/.test(rules[0] ?? ''),
    );
    const own = shell.filter(
      ({ command }) =>
        !/sudo|doas|\bsu\b|ssh|crontab|\bat\b|batch|docker|podman|npm|npx|pnpm|tmux|script|parallel|gdb|setsid|exec \w|kill|while true|\0/.test(
          command,
        ),
    );
    const fired = own.filter(({ command }) => {
      runInBash(command, dir.path);
      return wasFired(dir);
    });
    expect(own.length).toBeGreaterThan(200);
    expect(fired.length / own.length).toBeGreaterThan(0.7);
  });

  const texts = [
    'echo "touch pwn"',
    "echo 'touch pwn'",
    'echo a # touch pwn\necho b',
    "cat <<'EOF'\ntouch pwn\nEOF\necho a",
    'cat <<EOF\ntouch pwn\nEOF',
    'cat <<-EOF\n\ttouch pwn\n\tEOF\necho',
    'echo \\; touch pwn',
    'echo a\\\n touch pwn',
    '[[ "touch pwn" == a ]] && echo b',
    'for f in touch pwn; do echo a; done',
    'case "touch pwn" in a) echo a;; *) echo b;; esac',
    "echo $'touch pwn'",
    'echo "a\\" touch pwn"',
    'if true; then echo touch pwn; fi',
    'echo {touch,pwn}',
    'cat <<< "touch pwn"',
    'echo "$?; touch pwn"',
    "cat <<'E' <<F\ntouch pwn\nE\ntouch pwn\nF\necho a",
    'echo a | # touch pwn\ncat',
    '[[ a =~ (touch pwn) ]] && echo a',
    'echo a;# touch pwn\n',
  ];
  const pieces = [
    ...[
      '\ntouch pwn\n',
      ';touch pwn;',
      'echo',
      'cat',
      ' ',
      '\n',
      ';',
      '&&',
      '||',
      '|',
      '&',
      '(',
      ')',
      '{',
      '}',
      '"',
      "'",
      '`',
      '$(',
      '${x:-',
      '$((',
      '))',
    ],
    ...[
      '<<EOF',
      "<<'EOF'",
      '<<-EOF',
      '\nEOF\n',
      '#',
      ' #',
      '\\',
      '\\\n',
      '\\\\',
      "$'",
      '$"',
      '$',
      '!',
      '[[',
      ']]',
      'if ',
      'then ',
      'fi',
      'do ',
      'done',
    ],
    ...[
      'case a in ',
      'a)',
      ';;',
      'esac',
      '<(',
      '>(',
      '>',
      '<',
      '2>&1',
      '<<<',
      '=',
      '*',
      ',',
      '..',
      '~',
      '\t',
      '$[',
      '$x',
      '@(',
      '!(',
      '$\\\n(',
      '{fd}',
    ],
  ];
  const edit = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), piece: fc.constantFrom('', ...pieces) });

  test('what is allowed leaves no mark, however its text is bent', () => {
    using dir = makeTempDir();
    let ran = 0;
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
        const bent = edits.reduce((now, { at, cut, piece }) => {
          const from = at % (now.length + 1);
          return now.slice(0, from) + piece + now.slice(from + cut);
        }, text);
        if (!bent.includes('touch pwn') || !isAllowed(bent, [...sensibleRules, 'cat', 'echo'])) return;
        ran++;
        runInBash(bent, dir.path);
        expect(readdirSync(dir.path), bent).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
    expect(ran).toBeGreaterThan(20);
  });
});
