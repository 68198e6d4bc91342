import { lazy } from '../protocol/lazy.js';
import type { Tool, ToolEntry, ToolFacts } from './port.js';

/** A lazily imported tool. The cast is safe: the schema of the tool validates the arguments before `run`. */
export function toolEntry<Args>(facts: ToolFacts, load: () => Promise<Tool<Args>>): ToolEntry {
  return { ...facts, load: lazy(load as () => Promise<Tool>) };
}
