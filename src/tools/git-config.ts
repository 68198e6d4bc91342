const section = /^\[([a-z]+)(?:[ \t]+"([^"\\]*)")?\]$/i;
const setting = /^([a-z][a-z0-9-]*)[ \t]*=[ \t]*(.*)$/i;
/** What continues on the next line, is quoted, or is not seen. A file that has it is not read to its end. */
const unclear = /["\\\p{Cc}\p{Cf}]/u;

const flag = /^(?:true|false|always)$/i;
const word = /^[a-z0-9]+$/i;
const refName = /^[\w.][\w./+@#-]*$/;
const refSpec = /^\+?refs\/[\w./*+@-]+(?::refs\/[\w./*+@-]+)?$/;
const anything = /^/;

/** `*` is whatever stands in quotes. */
const harmless: Record<string, RegExp | ((value: string) => boolean)> = {
  'core.repositoryformatversion': /^[01]$/,
  'core.filemode': flag,
  'core.bare': flag,
  'core.logallrefupdates': flag,
  'core.ignorecase': flag,
  'core.precomposeunicode': flag,
  'core.symlinks': flag,
  'extensions.objectformat': word,
  'extensions.refstorage': word,
  'remote.*.url': isAddress,
  'remote.*.fetch': refSpec,
  'branch.*.remote': refName,
  'branch.*.merge': /^refs\/[\w./+@#-]+$/,
  'submodule.*.url': isAddress,
  'submodule.*.active': flag,
  'submodule.active': /^[\w./*-]+$/,
  'user.name': anything,
  'user.email': anything,
  'init.defaultbranch': refName,
};

/**
 * Whether a config of git says only what `git init`, `git clone`, `git remote add`, `git submodule add` and a name for commits write: nothing
 * in it names a program, another file or a transport that is one. What cannot be read is not harmless.
 */
export function isHarmlessGitConfig(text: string): boolean {
  let at: string | undefined;
  for (const line of text.split(/\r?\n/).map((one) => one.replace(/\t/g, ' ').trim())) {
    if (line === '' || /^[#;]/.test(line)) continue;
    const header = section.exec(line);
    if (header) {
      at = `${header[1]?.toLowerCase()}${header[2] === undefined ? '' : '.*'}`;
      continue;
    }
    const [, key = '', value = ''] = setting.exec(line) ?? [];
    const allowed = Object.hasOwn(harmless, `${at}.${key.toLowerCase()}`) ? harmless[`${at}.${key.toLowerCase()}`] : undefined;
    if (allowed === undefined || unclear.test(value)) return false;
    if (!(typeof allowed === 'function' ? allowed(value) : allowed.test(value))) return false;
  }
  return true;
}

/** `https://host/x`, `user@host:x` or a path. `ext::` and its like start a program. */
function isAddress(value: string): boolean {
  if (value.includes('::')) return false;
  return (
    /^(?:https?|ssh|git|file):\/\/(?!-)\S+$/i.test(value) || /^\w[\w.@-]*:(?!\/\/)(?!-)\S+$/.test(value) || /^[\w./][^:]*$/.test(value)
  );
}
