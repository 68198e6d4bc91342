import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { approvalAnswers, denyReasonKey, denyWithReason } from '../../src/protocol/requests/approval-answers.js';
import { methodOf, requestShapes } from '../../src/protocol/requests/requests.js';

const intro = readFileSync(new URL('../../docs/protocol-intro.md', import.meta.url), 'utf8');
const requestParams = requestShapes.request_params();

/** The examples in the docs that say which kind of request they are. */
const examples = [...intro.matchAll(/```json\n([^]*?)```/g)]
  .map(([, text = '']) => JSON.parse(text) as Record<string, unknown>)
  .filter((example) => 'kind' in example);

test('every kind of request is described for whoever writes a client, with an example that is one', () => {
  const kinds = ['approval', 'trust', 'directory', 'question'];
  expect([...requestParams._zod.propValues.kind!].sort()).toEqual([...kinds].sort());
  for (const kind of kinds) expect(intro).toContain(`**${kind}** (`);
  expect(examples.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
  for (const example of examples) {
    const params = requestParams.parse(example);
    // Nothing in an example is unknown to the schema.
    expect(params).toEqual(example);
    expect(methodOf(params)).toBeTruthy();
  }
});

test('every answer to an approval is described with its key', () => {
  for (const [value, { key }] of Object.entries(approvalAnswers))
    expect(intro).toMatch(new RegExp(`^\\| \`${key}\` \\| \`${value}\` `, 'm'));
  expect(intro).toMatch(new RegExp(`^\\| \`${denyReasonKey}\` \\| `, 'm'));
  expect(examples.find(({ kind }) => kind === 'approval')).toMatchObject({ deny_with_reason: denyWithReason });
});
