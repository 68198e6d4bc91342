import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { debianPackages, missing, type Program } from '../test/needs.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What is read of vitest's JSON report. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

function run(command: string, args: string[], shown: boolean): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', shown ? 'inherit' : 'pipe', shown ? 'inherit' : 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

interface Step {
  script: string;
  ok: boolean;
  output: string;
}

async function runStep(script: string): Promise<Step> {
  const from = performance.now();
  const { ok, output } = await run('npm', ['run', '-s', script], false);
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${script} (${((performance.now() - from) / 1000).toFixed(1)} s)\n`);
  return { script, ok, output };
}

/** The suites that take long or have a longer size, and the checks of form: the rest has been checked by `npm test`. */
const isLong = process.argv.includes('--long');

/** The checks, one after the other: the suites leave one process room beside them. */
async function runChecks(): Promise<Step[]> {
  const steps: Step[] = [];
  for (const script of isLong ? ['lint:tests', 'format:check', 'knip'] : ['types', 'lint']) steps.push(await runStep(script));
  return steps;
}

async function runTests(): Promise<{ ok: boolean; report: Report | undefined }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-test-'));
  const file = join(folder, 'report.json');
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const { ok } = await run('node_modules/.bin/vitest', isLong ? [...args, '--config', 'vitest.long.config.ts'] : args, true);
  const report = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    (error: unknown) => void process.stderr.write(`vitest left no report: ${String(error)}\n`),
  );
  await rm(folder, { recursive: true });
  return { ok, report: report ?? undefined };
}

/** A skipped test is a hole in the proof: it is named, with what fills it. */
function tellSkipped(report: Report): void {
  const skipped = report.testResults.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status !== 'passed' && test.status !== 'failed')
      .map((test) => `${relative(root, file.name)}: ${test.fullName}`),
  );
  const byReason = new Map<string, string[]>();
  for (const name of skipped) {
    const program = (Object.keys(debianPackages) as Program[]).find((known) => name.includes(`needs ${known}`) && missing(known));
    const reason = program ? `${program} is missing; apt-get install ${debianPackages[program]} brings them back` : 'no reason was given';
    byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  }
  for (const [reason, names] of byReason) {
    process.stdout.write(`\n!!! SKIPPED ${names.length}: ${reason}\n${names.map((name) => `      ${name}\n`).join('')}`);
  }
}

const failureCharsMax = 1_500;

/** What failed, a line each and with its reason, where the eye and a log that keeps only its end have it: last. */
function tellFailed(report: Report): void {
  for (const file of report.testResults.filter(({ status }) => status === 'failed')) {
    const tests = file.assertionResults.filter(({ status }) => status === 'failed');
    const failures = tests.map((test) => `${test.fullName}: ${(test.failureMessages ?? []).join('\n')}`);
    for (const failure of failures.length > 0 ? failures : [file.message ?? 'could not be run'])
      process.stdout.write(`FAILED ${relative(root, file.name)}: ${failure.slice(0, failureCharsMax).replace(/\s*\n\s*/g, ' | ')}\n`);
  }
}

const built = await runStep('build');
const [checked, { ok, report }] = await Promise.all([runChecks(), runTests()]);
const failedSteps = [built, ...checked].filter((step) => !step.ok);
for (const { script, output } of failedSteps) process.stdout.write(`\nFAIL ${script}\n${output}`);
if (report) tellSkipped(report);

if (!isLong)
  process.stdout.write(
    '\nLeft out: suites that take long (test/**/*.long.test.ts), the long sizes of others, and checks of form; npm run test:long runs them\n',
  );
if (report) tellFailed(report);
for (const { script } of failedSteps) process.stdout.write(`FAILED npm run ${script}\n`);
// A file that cannot be loaded fails without a failed test in it.
const filesFailed = report?.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
);
const testsFailed = (report?.numFailedTests ?? 0) + (filesFailed?.length ?? 0);
const failed = failedSteps.length + (ok ? testsFailed : Math.max(1, testsFailed));
process.stdout.write(`\n${report?.numPassedTests ?? 0} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
