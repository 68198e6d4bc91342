import type { Api } from './reply.js';

/** A model in the list that the server gives. */
export interface ModelEntry {
  id: string;
  name?: string;
  /** In tokens; Anthropic says so, the others leave it to `extra`. */
  maxInput?: number;
  maxOutput?: number;
  /** More fields, in either form. */
  extra?: Record<string, unknown>;
}

/** Anthropic's lists come in pages. */
const defaultPage = 20;
const created = new Date('2026-01-02T03:04:05Z');

function anthropicEntry({ id, name = id, maxInput = 200_000, maxOutput = 64_000, extra }: ModelEntry): object {
  const lifecycle = { lifecycle: 'active', line: null, deprecated_at: null, retires_at: null, capabilities: null };
  const limits = { max_input_tokens: maxInput, max_tokens: maxOutput };
  return { type: 'model', id, display_name: name, created_at: created.toISOString(), ...limits, ...lifecycle, ...extra };
}

/** The list of models in the form of an API. */
export function listModels(api: Api, models: readonly ModelEntry[], query: URLSearchParams): unknown {
  if (api !== 'anthropic') {
    const data = models.map(({ id, extra }) => ({ id, object: 'model', created: created.getTime() / 1000, owned_by: 'fake', ...extra }));
    return { object: 'list', data };
  }
  const after = query.get('after_id');
  const start = after === null ? 0 : models.findIndex(({ id }) => id === after) + 1;
  const page = models.slice(start, start + Number(query.get('limit') ?? defaultPage));
  const hasMore = start + page.length < models.length;
  return { data: page.map(anthropicEntry), has_more: hasMore, first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null };
}
