import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginsWith, cdTarget, exactWords, parseCommand, ruleWords, type CommandPart } from '../../src/policy/shell/command.js';
import { limits } from '../../src/protocol/limits.js';
import { benignCommands, bypasses, isAllowed, isDenied, sensibleRules } from './shell-tables.js';

function partsOf(command: string, directory?: string): CommandPart[] {
  const parsed = parseCommand(command, directory);
  if ('unclear' in parsed) throw new Error(`${command}: ${parsed.unclear}`);
  return parsed.parts;
}

function isCovered(command: string, rule: string): boolean {
  return partsOf(command).every((part) => beginsWith(part, ruleWords(rule)!));
}

const writesOf = (command: string): (string | null)[] => partsOf(command).flatMap(({ writes }) => writes);
const readsOf = (command: string): string[] => partsOf(command).flatMap(({ reads }) => reads);
const placesOf = (command: string): (string | undefined)[] => partsOf(command).map(({ cwd }) => cwd);
const isUnsure = (command: string): boolean => partsOf(command).some(({ doubts }) => doubts.includes('the directory is not known'));

describe('rules that allow', () => {
  test('every rule of the tables is one', () => {
    const all = [...sensibleRules, ...bypasses.flatMap(({ rules }) => rules)];
    expect(all.filter((rule) => ruleWords(rule) === undefined)).toEqual([]);
  });

  test('no bypass slips through, neither with its own rules nor with all of them', () => {
    expect(new Set(bypasses.map(({ command }) => command)).size).toBeGreaterThanOrEqual(320);
    const through = bypasses.filter(({ rules, command }) => isAllowed(command, rules) || isAllowed(command, [...rules, ...sensibleRules]));
    expect(through.map(({ command }) => command)).toEqual([]);
  });

  test('what agents run all day is allowed', () => {
    expect(new Set(benignCommands).size).toBeGreaterThanOrEqual(120);
    const asked = benignCommands.filter((command) => !isAllowed(command, sensibleRules));
    expect(asked).toEqual([]);
  });

  test('a bypass is never allowed for the company that it is in', () => {
    const whole = bypasses.filter(({ command }) => 'parts' in parseCommand(command));
    const separators = [' && ', ' || ', '; ', '\n', ' | ', ' & ', '\n\n', ' |& ', ' ;'];
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.constantFrom(...benignCommands),
        fc.constantFrom(...separators),
        fc.boolean(),
        ({ rules, command }, benign, separator, first) => {
          const text = first ? `${command}${separator}${benign}` : `${benign}${separator}${command}`;
          // A pipe has a directory of its own.
          if (/[|&]/.test(separator) && /\b(cd|pushd|popd)\b/.test(command)) return;
          // Behind a comment, or in a here-document, it is only text.
          if (/#|<</.test(first ? command : benign)) return;
          expect(isAllowed(text, [...rules, ...sensibleRules])).toBe(false);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('a bypass stays one inside of groups, conditions, loops and substitutions', () => {
    const around = [
      (text: string) => `( ${text}\n)`,
      (text: string) => `{ ${text}\n}`,
      (text: string) => `if true\nthen ${text}\nfi`,
      (text: string) => `for i in 1 2\ndo ${text}\ndone`,
      (text: string) => `while ${text}\ndo true\ndone`,
      (text: string) => `case a in a) ${text}\n;; esac`,
      (text: string) => `echo "$(${text}\n)"`,
      (text: string) => `cat <(${text}\n)`,
      (text: string) => `! { ${text}\n}`,
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...bypasses),
        fc.array(fc.constantFrom(...around), { minLength: 1, maxLength: 3 }),
        ({ rules, command }, layers) => {
          const text = layers.reduce((inside, wrap) => wrap(inside), command);
          expect(isAllowed(text, [...rules, ...sensibleRules])).toBe(false);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('quotes do not change what a word is', () => {
    const quoted = (word: string) =>
      fc.constantFrom(
        word,
        `'${word}'`,
        `"${word}"`,
        `\\${word}`,
        `${word.slice(0, 1)}""${word.slice(1)}`,
        `${word.slice(0, 1)}'${word.slice(1)}'`,
        `$'${word}'`,
      );
    const dangerous = [
      ['find', '.', '-delete'],
      ['sort', '--output=pwn', 'a'],
      ['git', 'log', '--output=pwn'],
      ['git', '-c', 'core.pager=pwn', 'log'],
      ['rg', '--pre=./pwn', 'a'],
      ['sed', '-n', '-i', 'p', 'a'],
      ['touch', 'pwn'],
      ['uniq', 'a', 'pwn'],
    ];
    for (const words of dangerous) {
      fc.assert(
        fc.property(fc.tuple(...words.map(quoted)), (spelled) => {
          expect(partsOf(spelled.join(' '))[0]?.words).toEqual(words);
          expect(isAllowed(spelled.join(' '), [...sensibleRules, 'git'])).toBe(false);
        }),
        { numRuns: 200 },
      );
    }
  });

  test('any text is read or refused, never thrown at the caller', () => {
    const piece = fc.constantFrom(
      'echo',
      ' ',
      '\n',
      ';',
      '|',
      '"',
      "'",
      '`',
      '$(',
      ')',
      '${',
      '}',
      '<<E',
      '\nE\n',
      '\\',
      '#',
      '{',
      '[[',
      '((',
      'for ',
      'case ',
      '!',
      '\0',
      'é',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
        ),
        (text) => {
          const parsed = parseCommand(text);
          expect('unclear' in parsed || Array.isArray(parsed.parts)).toBe(true);
          ruleWords(text);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('a dangerous flag is covered by the rule that names it', () => {
    expect(isCovered('sed -i s/a/b/ f', 'sed -i')).toBe(true);
    expect(isCovered('sed -i s/a/b/e f', 'sed -i')).toBe(false);
    expect(isCovered('sed -i s/a/b/ f', 'sed')).toBe(false);
    expect(isCovered('git -c x=y status', 'git -c x=y')).toBe(true);
    expect(isCovered('git -c x=z status', 'git -c x=y')).toBe(false);
    expect(isCovered('git -c x=y status', 'git')).toBe(false);
    expect(isCovered('find . -delete', 'find . -delete')).toBe(true);
    expect(isCovered('find . -delete', 'find .')).toBe(false);
    expect(isCovered('git commit -m x', 'git commit')).toBe(true);
    expect(isCovered('git commit -m x', 'git')).toBe(false);
    expect(isCovered('git log', 'git')).toBe(true);
    expect(isCovered('npx eslint src', 'npx eslint')).toBe(true);
    expect(isCovered('npx eslint src', 'npx')).toBe(false);
    expect(isCovered('bash scripts/check.sh --all', 'bash scripts/check.sh')).toBe(true);
  });

  test('neither a rule for a wrapper nor one for what it runs is enough', () => {
    const wrapped = [
      "bash -c 'echo x'",
      'sudo echo x',
      'xargs echo x',
      'env A=1 echo x',
      'find . -exec echo x ;',
      'watch echo x',
      'setsid echo x',
    ];
    for (const command of wrapped) {
      const outer = command.split(' ')[0]!;
      expect(isAllowed(command, ['echo']), command).toBe(false);
      expect(isAllowed(command, [outer]), command).toBe(false);
      if (outer !== 'find') expect(isAllowed(command, [outer, 'echo', `${outer} -c`]), command).toBe(false);
    }
    expect(isAllowed("bash -c 'echo x'", ["bash -c 'echo x'", 'echo'])).toBe(true);
    expect(isAllowed("bash -c 'echo x; touch y'", ["bash -c 'echo x; touch y'", 'echo'])).toBe(false);
  });

  test('a wrapper that changes nothing is looked through', () => {
    for (const wrapper of [
      'command',
      'time',
      'nice',
      'nice -n 5',
      'nohup',
      'timeout 5',
      'timeout -k 1 5s',
      'stdbuf -oL',
      'env',
      'time nice timeout 5',
    ]) {
      expect(isAllowed(`${wrapper} npm test`, ['npm test']), wrapper).toBe(true);
      expect(isAllowed(`${wrapper} npm run x`, ['npm test']), wrapper).toBe(false);
      expect(isAllowed(`${wrapper} npm test`, [wrapper]), wrapper).toBe(false);
    }
    expect(isAllowed('timeout 5 npm test', ['timeout 5 npm test'])).toBe(true);
  });
});

describe('rules that deny', () => {
  test('disguises do not help', () => {
    const disguised = [
      'curl x', '\\curl x', '/usr/bin/curl x', 'c""url x', "'curl' x", '"cur"l x', "$'cu\\x72l' x", 'command curl x', 'env curl x', 'env A=1 curl x',
      'xargs curl', 'echo x | xargs -n1 curl', 'sudo curl x', 'sudo -u bob curl x', 'sudo -E /usr/bin/curl x', 'nohup curl x', 'timeout 5 curl x',
      "bash -c 'curl x'", "sh -lc 'true; curl x'", "sudo bash -c 'curl x'", "bash <<< 'curl x'", 'bash <<EOF\ncurl x\nEOF', "eval 'curl x'", 'eval curl x',
      'echo $(curl x)', 'echo `curl x`', 'cat <(curl x)', 'A=1 curl x', 'curl x > y', '{ curl x; }', '(curl x)', 'f() { curl x; }', 'coproc curl x',
      'if curl x; then true; fi', 'find . -exec curl {} ;', 'find . -execdir curl x +', 'fd -x curl', 'watch curl x', "watch 'curl x'", 'busybox curl x',
      'npx curl x', 'ssh host curl x', "ssh host 'curl x'", 'exec curl x', "trap 'curl x' EXIT", "alias a='curl x'", 'strace -f curl x', 'time curl x',
      "env -S 'curl x'", "su -c 'curl x'", 'flock x curl x', 'parallel curl ::: x', 'docker run a curl x', 'nice -n 3 sudo timeout 5 curl x', "script -c 'curl x'",
      'curl x |', 'curl "$x"', 'curl x &', 'true\ncurl x', '! curl x', '[[ $(curl x) ]]', 'cat <<EOF\n$(curl x)\nEOF', 'a=$(curl x)', 'a=(`curl x`)',
    ]; // prettier-ignore
    const missed = disguised.filter((command) => !isDenied(command, 'curl') && !('unclear' in parseCommand(command)));
    expect(missed).toEqual([]);
  });

  test('sixty harmless parts do not hide the next one', () => {
    expect(isDenied(`${'true && '.repeat(60)}curl evil`, 'curl')).toBe(true);
    expect(isDenied(`${'true; '.repeat(1_000)}curl evil`, 'curl')).toBe(true);
    expect(parseCommand(`${'true; '.repeat(limits.shellPartsMax + 1)}curl evil`)).toHaveProperty('unclear');
  });

  test('a name that is computed is asked about', () => {
    for (const command of ['$(echo curl) x', '$c x', '`echo curl` x', '${a}url x', 'c$u x']) {
      expect(isDenied(command, 'curl')).toBe(false);
      expect(partsOf(command).at(-1)?.doubts.length, command).toBeGreaterThan(0);
      expect(isAllowed(command, ['curl', 'echo', ...sensibleRules])).toBe(false);
    }
  });

  test('flags before a subcommand are looked through', () => {
    for (const command of [
      'git push',
      'git -C x push',
      'git -c a=b push',
      'git --no-pager push -f',
      'git --git-dir=x push',
      '/usr/bin/git push',
    ])
      expect(isDenied(command, 'git push'), command).toBe(true);
    expect(isDenied('git log', 'git push')).toBe(false);
  });

  test('a rule for a subcommand of git that looks does not cover flags that write or run', () => {
    const looking =
      `log diff show shortlog whatchanged range-diff diff-tree diff-index diff-files rev-list show-branch cherry status rev-parse ls-files
      ls-tree describe name-rev for-each-ref show-ref merge-base count-objects check-ignore check-attr check-ref-format check-mailmap var version
      annotate blame cat-file grep branch tag remote reflog config notes worktree submodule symbolic-ref stash`.split(/\s+/);
    const flags = ['--output=pwn', '--output pwn', '--outp=pwn', '--ext-diff', '--textconv', '--help', '--exec-path=.', '--show-signature'];
    const through = looking.flatMap((sub) =>
      flags.flatMap((flag) =>
        [`git ${sub} ${flag}`, `git ${sub} a ${flag}`, `git --no-pager ${sub} ${flag} a`].filter((command) =>
          isAllowed(command, [`git ${sub}`]),
        ),
      ),
    );
    expect(through).toEqual([]);
  });

  test('an argument is no command', () => {
    expect(isDenied('echo curl', 'curl')).toBe(false);
    expect(isDenied('grep curl README.md', 'curl')).toBe(false);
    expect(isDenied('curly x', 'curl')).toBe(false);
    expect(isDenied('Curl x', 'curl')).toBe(false);
  });
});

describe('what is written', () => {
  test.each([
    ['echo a > b', ['b']], ['echo a >> b', ['b']], ['echo a >| b', ['b']], ['echo a &> b', ['b']], ['echo a &>> b', ['b']], ['echo a >& b', ['b']],
    ['echo a 2> b', ['b']], ['cat 3<> b', ['b']], ['echo a > ~/.bashrc', ['~/.bashrc']], ['echo a > "$x"', [null]], ['echo a > *.x', [null]],
    ['echo a > /dev/null 2>&1', []], ['echo a >/dev/stderr', []], ['echo a >&2', []], ['echo a 2>&-', []], ['ls 2>/dev/null', []],
    ['tee a b', ['a', 'b']], ['tee -a a', ['a']], ['dd if=a of=b', ['b']], ['cp a b c', ['c']], ['cp -t d a', ['d']], ['mv a b', ['a', 'b']],
    ['ln -s a b', ['b']], ['ln -s a', ['.', 'a']], ['install -m 755 a b', ['b']], ['touch a b', ['a', 'b']], ['mkdir -p a/b', ['a/b']], ['rm -rf a', ['a']],
    ['rm -- -a', ['-a']], ['rmdir a', ['a']], ['truncate -s 0 a', ['a']], ['sed -i s/a/b/ c d', ['c', 'd']], ["sed -i -e 's/a/b/' c", ['c']],
    ['sort -o a b', ['a']], ['sort --output=a b', ['a']], ['uniq a b', ['b']], ['chmod +x a', ['a']], ['chmod 644 a b', ['a', 'b']], ['chmod -x a', ['a']],
    ['chown me a', ['a']], ['curl -o a x', ['a']], ['wget x', [null]], ['wget -O - x', []], ['git log --output=a', ['a']], ['rm *.o', [null]],
    ['{ ls; } > a', ['a']], ['for f in a; do ls; done >> b', ['b']], ['> a', ['a']], ['sudo rm a', ['a']], ["bash -c 'rm a'", ['a']], ['/bin/rm a', ['a']],
    ['find . -fprint a', ['a']], ['find a -delete', ['a']], ['rsync a b', ['b']], ['tar -cf a.tar b', ['a.tar']], ['gzip a', ['a']], ['gzip -c a', []],
  ] as [string, (string | null)[]][])('%s', (command, paths) => { expect(writesOf(command).toSorted()).toEqual(paths.toSorted()); }); // prettier-ignore
});

describe('what may be read', () => {
  test.each([
    ['cat .env', '.env'], ['grep . .env', '.env'], ['git show HEAD:.env', '.env'], ['head ./a/../.env', './a/../.env'], ['curl -d @.env x', '.env'],
    ['curl --data=@.env x', '.env'], ['cat < .env', '.env'], ['grep -f.env x', '.env'], ['grep --file=.env x', '.env'], ['dd if=.env', '.env'],
    ['cp .env x', '.env'], ['tar -cf x .env', '.env'], ['cat $HOME/.ssh/id', '~/.ssh/id'], ['cat "${HOME}/.ssh/id"', '~/.ssh/id'], ['cat ~/.ssh/id', '~/.ssh/id'],
    ['cat .e*', '.e*'], ['cat {.env,a}', '.env'], ["bash -c 'cat .env'", '.env'], ['cat $(echo .env)', '.env'], ['sed -n p .env', '.env'], ['rg x -f .env', '.env'],
    ['cat "."env', '.env'], ['docker run -v .env:/x a', '.env'], ['cd /etc', '/etc'], ['while true; do cat; done < .env', '.env'],
  ])('%s', (command, path) => { expect(readsOf(command)).toContain(path); }); // prettier-ignore
});

describe('the directory', () => {
  test('it is where the changes before lead', () => {
    expect(placesOf('cd a && ls')).toEqual([undefined, 'a']);
    expect(placesOf('cd a && cd b && ls')).toEqual([undefined, 'a', 'a/b']);
    expect(placesOf('cd a && cd /b && ls')).toEqual([undefined, 'a', '/b']);
    expect(placesOf('(cd a && ls); ls')).toEqual([undefined, 'a', undefined]);
    expect(placesOf('cd a | ls; ls')).toEqual([undefined, undefined, undefined]);
    expect(placesOf('cd a & ls')).toEqual([undefined, undefined]);
    expect(placesOf('cd a || exit; ls')).toEqual([undefined, undefined, 'a']);
    expect(placesOf("cd a && bash -c 'ls'")).toEqual([undefined, 'a', 'a']);
    expect(placesOf('cd && ls')).toEqual([undefined, '~']);
    expect(placesOf('pushd a && ls')).toEqual([undefined, 'a']);
  });

  test('what is not certain is doubted', () => {
    for (const command of [
      'cd a; ls',
      'cd a\nls',
      'cd $x && ls',
      'cd - && ls',
      'popd && ls',
      'if cd a; then ls; fi',
      'cd a || cd b && ls',
      'for i in 1 2; do ls && cd ..; done',
      '! cd a && ls',
      '{ cd a; } && ls',
      'cd a/.. && ls',
      'cd a && cd .. && ls',
      'cd a && ls; ls',
    ])
      expect(isUnsure(command), command).toBe(true);
    for (const command of ['cd a && ls', 'ls; cd a', '(cd a); ls', 'cd a && echo b; echo c'])
      expect(isUnsure(command), command).toBe(false);
  });

  test('the own directory is no other', () => {
    expect(isCovered('git status', 'git status')).toBe(true);
    expect(partsOf('cd /w/a && git status', '/w/a')[1]).toMatchObject({ words: ['git', 'status'], doubts: [] });
    expect(partsOf('cd /w/b && git status', '/w/a')[1]?.doubts).not.toEqual([]);
  });

  test('where a cd goes', () => {
    const target = (command: string): string | null | undefined => cdTarget(partsOf(command)[0]!);
    expect(target('cd a')).toBe('a');
    expect(target('cd -P -- a')).toBe('a');
    expect(target('command cd a')).toBe('a');
    expect(target('cd')).toBe('~');
    expect(target('cd "$x"')).toBe(null);
    expect(target('cd -')).toBe(null);
    expect(target('popd')).toBe(null);
    expect(target('ls a')).toBe(undefined);
    expect(partsOf('cd a')[0]?.doubts).toEqual([]);
  });
});

describe('what is remembered', () => {
  const remembered = (command: string): (string[] | undefined)[] => partsOf(command).map(exactWords);

  test('words that say all', () => {
    expect(remembered("npm run 'dev'")).toEqual([['npm', 'run', 'dev']]);
    expect(remembered('ls -la && git push origin main')).toEqual([
      ['ls', '-la'],
      ['git', 'push', 'origin', 'main'],
    ]);
    expect(remembered('timeout 5 npm test')).toEqual([['npm', 'test']]);
    expect(remembered("bash -c 'ls'")).toEqual([['bash', '-c', 'ls'], ['ls']]);
  });

  test('and nothing else', () => {
    for (const command of [
      'A=1 ls',
      'ls $x',
      'ls *.ts',
      'cd a && ls',
      'find . -delete',
      'git log --output=x',
      'sudo ls',
      'python3 -c 1',
      'eval ls',
      'export A=1',
      'xargs ls',
      'bash',
      'f() { ls; }',
      "cat '~/a'",
    ])
      expect(remembered(command).at(command.startsWith('cd') ? 1 : 0), command).toBe(undefined);
  });
});

describe('a rule that a person types', () => {
  test('is one plain simple command', () => {
    expect(ruleWords('git status')).toEqual(['git', 'status']);
    expect(ruleWords('  git   status ')).toEqual(['git', 'status']);
    expect(ruleWords('grep \'a b\' "c"')).toEqual(['grep', 'a b', 'c']);
    expect(ruleWords("cat '~/a'")).toEqual(['cat', '~/a']);
    expect(ruleWords('git --no-pager log')).toEqual(['git', 'log']);
    for (const text of [
      '',
      ' ',
      'a; b',
      'a | b',
      'a && b',
      'a > b',
      'A=1 b',
      '$a',
      'a $b',
      'a *',
      '(a)',
      'a &',
      'a;',
      '[[ a ]]',
      'a #b',
      'if',
      'a "',
      'a\0',
      'export A=1',
      'a {b,c} $d',
      'f() { a; }',
    ])
      expect(ruleWords(text), JSON.stringify(text)).toBe(undefined);
  });
});

describe('bounds', () => {
  test('what is too long, too deep or too much is unclear', () => {
    const deep = (depth: number): string => (depth === 0 ? 'ls' : `echo $(${deep(depth - 1)})`);
    expect(parseCommand(deep(5))).toHaveProperty('parts');
    expect(parseCommand(deep(limits.shellDepthMax + 2))).toHaveProperty('unclear');
    expect(parseCommand(`echo ${'a'.repeat(limits.shellTextCharsMax)}`)).toHaveProperty('unclear');
    expect(parseCommand('sudo '.repeat(500) + 'ls')).toHaveProperty('unclear');
    expect(parseCommand('('.repeat(1_000) + 'ls' + ')'.repeat(1_000))).toHaveProperty('unclear');
    expect(parseCommand('for i in a; do cd b && '.repeat(60) + 'ls' + '; done'.repeat(60))).toHaveProperty('parts');
    // Each of these would keep the parser busy for seconds.
    for (const piece of ['{', '{,', '{\\\n', '$[']) expect(parseCommand(`echo ${piece.repeat(20_000)}`), piece).toHaveProperty('unclear');
    expect(partsOf(`echo ${'{a,b}'.repeat(20)}`)[0]?.doubts).not.toEqual([]);
  });
});
