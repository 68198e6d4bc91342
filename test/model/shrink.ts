const shrinkMsMax = 20_000;

/** Leaves out what is not needed to fail, as far as time allows. The run must be the same for the same steps. */
export async function shrinkSteps<S>(steps: S[], run: (steps: S[]) => Promise<void>): Promise<{ steps: S[]; error: unknown }> {
  const until = performance.now() + shrinkMsMax;
  let best = steps;
  let error = await failureOf(run, best);
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.length && performance.now() < until;) {
      const fewer = [...best.slice(0, from), ...best.slice(from + size)];
      const failure = await failureOf(run, fewer);
      if (failure === undefined) from += size;
      else [best, error] = [fewer, failure];
    }
  }
  return { steps: best, error };
}

async function failureOf<S>(run: (steps: S[]) => Promise<void>, steps: S[]): Promise<unknown> {
  try {
    await run(steps);
    return undefined;
  } catch (error) {
    return error;
  }
}
