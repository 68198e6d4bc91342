import { limits } from '../../protocol/limits.js';
import type { ToolSpec } from '../../providers/port.js';
import type { Tool, ToolEntry } from '../../tools/port.js';

/** Why a tool was not registered. */
export interface ToolRefusal {
  reason: 'invalid_name' | 'name_taken' | 'removed' | 'too_large' | 'too_many';
  message: string;
}

export type ToolChange = 'added' | 'changed' | 'removed';
export type Registered<T> = { ok: true; value: T } | { ok: false; refusal: ToolRefusal };

/** A tool as it is registered now. */
export interface KnownTool {
  entry: ToolEntry;
  /** Fires when this version was replaced or removed. */
  outdated: AbortSignal;
  /** Fires when the tool was removed, whatever version it had. */
  removed: AbortSignal;
}

/** The handle of an added tool: only its holder can change or remove that tool. */
export interface ToolRegistration {
  /**
   * Replaces the tool by another of the same name. A call that runs goes on with the version that it began with; one that waits for
   * a person is prepared anew.
   */
  change(tool: Tool): Registered<undefined>;
  /** Takes the tool away. Its open calls end with an error result. */
  remove(): void;
}

/** Names of tools that all model APIs accept. */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

interface HeldTool extends KnownTool {
  outdate(): void;
  end: AbortController;
}

interface Deps {
  own: readonly ToolEntry[];
  /** Called after each change. */
  onChange(op: ToolChange, name: string): void;
}

/** The registry of tools: berth's own, which stay, and tools that are added, changed and removed while the daemon runs. */
export function createToolRegistry({ own, onChange }: Deps) {
  /** In the order of the tool specs in a model request. */
  const tools = new Map<string, HeldTool>();
  for (const entry of own) tools.set(entry.name, toHeldTool(entry));

  function toHeldTool(entry: ToolEntry, end = new AbortController()): HeldTool {
    const version = new AbortController();
    return { entry, outdated: version.signal, removed: end.signal, outdate: () => version.abort(), end };
  }

  function add(tool: Tool): Registered<ToolRegistration> {
    const refusal = findRefusal(tool, tools);
    if (refusal) return { ok: false, refusal };
    const { name } = tool;
    let held = toHeldTool(toEntry(tool));
    const isRegistered = (): boolean => tools.get(name) === held;
    tools.set(name, held);
    onChange('added', name);
    return {
      ok: true,
      value: {
        change(next) {
          const refusal = isRegistered() ? findChangeRefusal(name, next) : removedRefusal(name);
          if (refusal) return { ok: false, refusal: refusal };
          const previous = held;
          held = toHeldTool(toEntry(next), previous.end);
          tools.set(name, held);
          previous.outdate();
          onChange('changed', name);
          return { ok: true, value: undefined };
        },
        remove() {
          if (!isRegistered()) return;
          tools.delete(name);
          held.end.abort();
          held.outdate();
          onChange('removed', name);
        },
      },
    };
  }

  return {
    find: (name: string): KnownTool | undefined => tools.get(name),
    list: (): ToolEntry[] => [...tools.values()].map(({ entry }) => entry),
    /** Refuses a name that is taken: no tool shadows another. */
    add,
    /** The tool specs of a model request. Throws when one of berth's own tools cannot be loaded. */
    async specs(isOffered: (entry: ToolEntry) => boolean): Promise<ToolSpec[]> {
      const offered = [...tools.values()].map(({ entry }) => entry).filter(isOffered);
      return Promise.all(offered.map(async ({ load }) => toSpec(await load())));
    },
  };
}
export type ToolRegistry = ReturnType<typeof createToolRegistry>;

function findRefusal(tool: Tool, tools: ReadonlyMap<string, unknown>): ToolRefusal | undefined {
  const { name } = tool;
  if (!namePattern.test(name)) {
    const message = `a tool cannot be named ${JSON.stringify(name)}: use 1 to 64 letters, digits, _ and -`;
    return { reason: 'invalid_name', message };
  }
  if (tools.has(name)) return { reason: 'name_taken', message: `there is a tool named ${name} already: give this one another name` };
  if (tools.size >= limits.toolsMax) {
    return { reason: 'too_many', message: `${name} was not added: the limit is ${limits.toolsMax} tools; remove another first` };
  }
  return findSizeRefusal(tool);
}

function findChangeRefusal(name: string, next: Tool): ToolRefusal | undefined {
  if (next.name === name) return findSizeRefusal(next);
  return { reason: 'invalid_name', message: `${name} cannot become ${JSON.stringify(next.name)}: remove it and add the other` };
}

/** The spec of a tool is in every model request, so its size is bounded. */
function findSizeRefusal(tool: Tool): ToolRefusal | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(toSpec(tool)));
  if (bytes <= limits.toolSpecBytesMax) return undefined;
  const message = `the description and parameters of ${tool.name} have ${bytes} bytes, ${limits.toolSpecBytesMax} are allowed: shorten them`;
  return { reason: 'too_large', message };
}

function removedRefusal(name: string): ToolRefusal {
  return { reason: 'removed', message: `${name} was removed: add it again` };
}

function toEntry(tool: Tool): ToolEntry {
  const { name, description, readOnly, resumable } = tool;
  return { name, description, readOnly, resumable, load: () => Promise.resolve(tool) };
}

function toSpec({ name, description, parameters }: Tool): ToolSpec {
  return { name, description, parameters: parameters.jsonSchema };
}
