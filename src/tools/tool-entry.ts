import { lazy } from '../protocol/lazy.js';
import type { Tool, ToolEntry, ToolFacts } from './port.js';

/** A tool that is loaded when it is first needed. Its arguments are checked by its own schema before it gets them. */
export function toolEntry<Args>(facts: ToolFacts, load: () => Promise<Tool<Args>>): ToolEntry {
  return { ...facts, load: lazy(load as () => Promise<Tool>) };
}
