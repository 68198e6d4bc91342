import { flags, scanFlags, type Flags } from '../flags.js';
import { doubtAll, type Analysis } from '../analysis.js';

/** Programs that are read-only with any flag, so that a glob may expand to a flag. */
const harmless = new Set(
  [
    'ls dir vdir cat echo wc head tail cut tr nl pr fmt fold expand unexpand tac rev paste join comm column od hexdump strings stat du df ps',
    'basename dirname realpath readlink pwd true false : seq sleep whoami id uname which type tsort uptime free nproc arch tty logname',
    'groups users who w cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum base64 base32 basenc cmp diff grep egrep',
    'fgrep jq getconf locale numfmt factor expr look pgrep pidof lsblk lscpu printenv cal tput exit return break continue',
  ].flatMap((line) => line.split(' ')),
);

export function isHarmless(name: string): boolean {
  return harmless.has(name);
}

const man = flags('-k -f -w -a -S= -s= --apropos --whatis --where --path --all', true);

/** Flag tables of mostly read-only programs, with the flags that run or write something. */
const readers: Record<string, Flags> = {
  sort: flags(`-o=w --output=w -T=! --temporary-directory=! --compress-program=! --files0-from=r --random-source=r -k= -t= -S= --key=
    --field-separator= --buffer-size= --batch-size= --parallel=`),
  shuf: flags('-o=w --output=w --random-source=r -n= -i= --head-count= --input-range='),
  iconv: flags('-o=w --output=w -f= -t= --from-code= --to-code='),
  tree: flags('-o=w -R! -L= -P= -I='),
  file: flags('-C! --compile! -z! -Z! --uncompress! --uncompress-noreport! -m=r --magic-file=r -f=r --files-from=r -F= -P='),
  rg: flags(`--pre=! --hostname-bin=! -z! --search-zip! -f=r --file=r --ignore-file=r -e= -g= -t= -T= -A= -B= -C= -m= -M= -E= -j= -r=
    --pretty --pcre2 --passthru --path-separator= --regexp= --glob= --type= --replace= --max-count= --sort= --color=`),
  ag: flags('--pager=! -G= -p=r --path-to-ignore=r -z! --search-zip! --parallel --print-all-files --passthrough --path-to-agignore=r'),
  ack: flags('--pager=! --ackrc=! --create-ackrc! --files-from=r --output= --dump --env'),
  bat: flags('--pager=! --generate-config-file! --paging= --plain --config-file --list-themes -l= -r= -H= --language= --line-range= -p'),
  tcpdump: flags('-z=! -w=w -F=r -r=r -V=r -i= -c= -s= -C= -W= -G= -n -e -v -X -A -t -q -l -D -x -S', true),
  yq: flags(
    '-i! --inplace! --in-place! -s=! --split-exp=! --split-exp-file=! --from-file=r -o= --output-format= -p= --input-format= -I= --indent=',
  ),
  exa: flags(''),
  eza: flags(''),
  zgrep: flags(''),
  curl: flags(
    `-o=w --output=w -O! --remote-name! --remote-name-all! -J! --remote-header-name! -K=! --config=! -T=! --upload-file=! -c=w
    --cookie-jar=w -D=w --dump-header=w --trace=w --trace-ascii=w --output-dir=! --create-dirs! --libcurl=w --stderr=w --etag-save=w --hsts=w
    --alt-svc=w --engine=! --unix-socket=! --abstract-unix-socket=! --proto-default=! --netrc-file=r --next! -:! --xattr! -Q=! --quote=!
    --preproxy=! --proxy=! -x=! -d=r --data=r --data-ascii=r --data-binary=r --data-raw= --data-urlencode=r --json=r -F=r --form=r
    -H=r --header=r -A= --user-agent= -b=r --cookie=r -e= -u= --user= -X= --request= -m= --max-time= -w=r --write-out=r --url= -E=r --cert=r
    --cacert=r --key=r --connect-timeout= --retry= -s -S -f -L -i -I -v -k -g -G -4 -6 -N -q --silent --show-error --fail --location --include
    --head --verbose --insecure --get --compressed --no-buffer --fail-with-body --http1.1 --http2 --globoff --no-progress-meter -#
    --progress-bar`,
    true,
  ),
  pytest: flags(`-p=! -c=! --config-file=! -o=! --override-ini=! --rootdir=! --confcutdir=! --basetemp=! --junitxml=w --junit-xml=w
    --log-file=w --debug?! --pdbcls=! --cov-config=! --cov-report=! --html=w --pastebin=! --pyargs! --cache-clear! -k= -m= -n= -W= -r=
    --cov= --tb= --maxfail= --durations= --lf --ff --co --collect-only --last-failed --failed-first --color= --timeout= --cov`),
  eslint: flags(`-c=! --config=! --rulesdir=! --resolve-plugins-relative-to=! --plugin=! --parser=! -f=! --format=! -o=w --output-file=w
    --fix! --fix-dry-run --fix-type= --cache-location=w --cache-file=w --init! --ext= --max-warnings= --ignore-path=r --rule= --env= --cache
    --no-fix --parser-options= --ignore-pattern=`),
  prettier: flags(
    '--write! -w! --plugin=! --config=! --plugin-search-dir=! --cache-location=w --find-config-path=r --ignore-path=r --log-level=',
  ),
  tsc: flags(`--outDir=! --outFile=! --init! --build! -b! --tsBuildInfoFile=! --generateTrace=! --declarationDir=! --generateCpuProfile=!
    --plugins=! --watch! -w! -p= --project= --out=!`),
  vitest:
    flags(`-c=! --config=! -r=! --root=! --dir=! --globalSetup=! --setupFiles=! --reporter= --outputFile=! -u! --update! --environment=!
    --runner=! --ui! --api?! --browser?! --execArgv=! --coverage.reportsDirectory=! --project= -t= --testNamePattern= --run --coverage`),
  jest: flags(`-c=! --config=! --rootDir=! --roots=! --testRunner=! --runner=! --transform=! --reporters=! --globalSetup=! --globalTeardown=!
    --setupFiles=! --setupFilesAfterEnv=! --testEnvironment=! -u! --updateSnapshot! --outputFile=! --coverageDirectory=! --cacheDirectory=!
    --resolver=! --preset=! --watch! --watchAll! --haste=! --moduleNameMapper=! --init! -t= --testNamePattern= --coverage`),
  mocha: flags(
    '-r=! --require=! --config=! --package=! --opts=! --ui=! -u=! -R=! --reporter=! --node-option=! -n=! --fgrep= -g= --grep= --timeout=',
  ),
};
const sameFlags: Record<string, string> = { batcat: 'bat', 'py.test': 'pytest', zegrep: 'zgrep', zfgrep: 'zgrep' };

/** Editors, pagers and REPLs: they can run anything, and their scripts are not analysed. */
const consoles = new Set(
  [
    'less more most vi vim nvim view vimdiff ex ed red nano pico emacs emacsclient micro joe kak hx code delta sqlite3 psql mysql mariadb mongosh',
    'mongo redis-cli ftp sftp lftp telnet nc ncat netcat socat gdb lldb bc dc expect openssl gpg gpg2 ssh-keygen ssh-add screen tmux git-lfs',
    'nmap mutt mail sendmail crontab at batch dbus-send gdbus busctl',
  ].flatMap((line) => line.split(' ')),
);

/** Analyses mostly read-only programs. */
export function analyseReader(name: string, analysis: Analysis): boolean {
  if (consoles.has(name)) {
    if (analysis.words.length > 1 || name !== 'less') doubtAll(analysis, `${name} can do anything that it is told`);
    return true;
  }
  if (name === 'man') {
    for (const { word, index } of scanFlags(analysis, man).operands)
      if (word.value?.includes('/')) analysis.doubts.push({ why: 'man formats a file', wordsNeeded: index + 1 });
    return true;
  }
  if (name === 'date') {
    const { operands } = scanFlags(analysis, flags('-s=! --set=! -f=r --file=r -r=r --reference=r -d= --date='));
    for (const { word, index } of operands)
      if (!word.guess.startsWith('+')) analysis.doubts.push({ why: 'it may set the clock', wordsNeeded: index + 1 });
    return true;
  }
  if (name === 'hostname' || name === 'domainname') {
    for (const { index } of scanFlags(analysis, flags('-F=! --file=! -b! --boot!')).operands)
      analysis.doubts.push({ why: 'it sets the name of the machine', wordsNeeded: index + 1 });
    return true;
  }
  if (name === 'printf') {
    if (analysis.words[1]?.value?.startsWith('-v')) analysis.doubts.push({ why: 'it sets a variable', wordsNeeded: null });
    return true;
  }
  const table = readers[sameFlags[name] ?? name];
  if (!Object.hasOwn(readers, sameFlags[name] ?? name) || !table) return false;
  const { operands } = scanFlags(analysis, table);
  if (name === 'bat' && operands[0]?.word.value === 'cache') doubtAll(analysis, 'it writes a cache');
  return true;
}
