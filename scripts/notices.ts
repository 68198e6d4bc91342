import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
}

const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** The licences of the packages that the bundles have code of, by the paths of their modules. Throws for a package that has none. */
export function noticesOf(root: string, modules: Iterable<string>): string {
  const packages = new Set([...modules].flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const notices = new Map([...packages].map((dir) => noticeOf(join(root, dir))));
  const texts = [...notices].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([title, text]) => `${title}\n\n${text}\n`);
  return ['berth contains code of these packages.\n', ...texts].join(`\n${'-'.repeat(72)}\n\n`);
}

function noticeOf(dir: string): [title: string, text: string] {
  const { name, version, license, author } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;
  const files = readdirSync(dir).filter((file) => licenceFile.test(file));
  if (license === undefined && files.length === 0) throw new Error(`${name} is bundled and does not say its licence`);
  const texts = files.toSorted().map((file) => readFileSync(join(dir, file), 'utf8').trim());
  const holder = typeof author === 'object' ? author.name : author;
  const named = `Its package names its licence without the text of it${holder === undefined ? '' : `, and its author: ${holder}`}.`;
  return [`${name} ${version}, ${license ?? 'see below'}`, texts.join('\n\n') || named];
}
