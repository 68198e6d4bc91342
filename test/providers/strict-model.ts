import { expect } from 'vitest';
import { createFakeModel, type FakeModel } from '../support/fake-model/server.js';

/** A model server whose test fails if it had to refuse anything that the real one would refuse. */
export async function createStrictModel(): Promise<FakeModel> {
  const fake = await createFakeModel();
  const close = fake[Symbol.asyncDispose];
  fake[Symbol.asyncDispose] = async () => {
    await close();
    expect(fake.refusals).toEqual([]);
  };
  return fake;
}
