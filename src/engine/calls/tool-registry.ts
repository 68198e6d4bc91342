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

/** Held by whoever added a tool: nobody else can change or remove it. */
export interface ToolRegistration {
  /**
   * Replaces the tool by another of the same name. A call that runs goes on with the version that it began with; one that waits for
   * a person is prepared anew.
   */
  change(tool: Tool): Registered<undefined>;
  /** Takes the tool away. Its open calls end with an error result. */
  remove(): void;
}

/** What all model APIs take as the name of a tool. */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

interface Held extends KnownTool {
  outdate(): void;
  end: AbortController;
}

interface Deps {
  own: readonly ToolEntry[];
  /** Called after each change. */
  onChange(op: ToolChange, name: string): void;
}

/** The tools there are now: berth's own, which stay, and those that were added since. */
export function createToolRegistry({ own, onChange }: Deps) {
  /** In the order in which models are told of them. */
  const tools = new Map<string, Held>();
  for (const entry of own) tools.set(entry.name, hold(entry));

  function hold(entry: ToolEntry, end = new AbortController()): Held {
    const version = new AbortController();
    return { entry, outdated: version.signal, removed: end.signal, outdate: () => version.abort(), end };
  }

  function add(tool: Tool): Registered<ToolRegistration> {
    const refusal = whyNot(tool, tools);
    if (refusal) return { ok: false, refusal };
    const { name } = tool;
    let held = hold(toEntry(tool));
    const isMine = (): boolean => tools.get(name) === held;
    tools.set(name, held);
    onChange('added', name);
    return {
      ok: true,
      value: {
        change(next) {
          const why = isMine() ? whyNoVersion(name, next) : gone(name);
          if (why) return { ok: false, refusal: why };
          const before = held;
          held = hold(toEntry(next), before.end);
          tools.set(name, held);
          before.outdate();
          onChange('changed', name);
          return { ok: true, value: undefined };
        },
        remove() {
          if (!isMine()) return;
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
    /** Never shadows a tool that is there. */
    add,
    /** What a model is told of the tools that `isOffered`. Throws when one of berth's own cannot be loaded. */
    async specs(isOffered: (entry: ToolEntry) => boolean): Promise<ToolSpec[]> {
      const offered = [...tools.values()].map(({ entry }) => entry).filter(isOffered);
      return Promise.all(offered.map(async ({ load }) => toSpec(await load())));
    },
  };
}
export type ToolRegistry = ReturnType<typeof createToolRegistry>;

function whyNot(tool: Tool, tools: ReadonlyMap<string, unknown>): ToolRefusal | undefined {
  const { name } = tool;
  if (!namePattern.test(name)) {
    const message = `a tool cannot be named ${JSON.stringify(name)}: use 1 to 64 letters, digits, _ and -`;
    return { reason: 'invalid_name', message };
  }
  if (tools.has(name)) return { reason: 'name_taken', message: `there is a tool named ${name} already: give this one another name` };
  if (tools.size >= limits.toolsMax) {
    return { reason: 'too_many', message: `${name} is one tool too many: there can be ${limits.toolsMax}` };
  }
  return whyTooLarge(tool);
}

function whyNoVersion(name: string, next: Tool): ToolRefusal | undefined {
  if (next.name === name) return whyTooLarge(next);
  return { reason: 'invalid_name', message: `${name} cannot become ${JSON.stringify(next.name)}: remove it and add the other` };
}

/** What a tool says of itself goes to models with every request. */
function whyTooLarge(tool: Tool): ToolRefusal | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(toSpec(tool)));
  if (bytes <= limits.toolSpecBytesMax) return undefined;
  const message = `the description and parameters of ${tool.name} have ${bytes} bytes, ${limits.toolSpecBytesMax} are allowed: shorten them`;
  return { reason: 'too_large', message };
}

function gone(name: string): ToolRefusal {
  return { reason: 'removed', message: `${name} was removed: add it again` };
}

function toEntry(tool: Tool): ToolEntry {
  const { name, description, readOnly, resumable } = tool;
  return { name, description, readOnly, resumable, load: () => Promise.resolve(tool) };
}

function toSpec({ name, description, parameters }: Tool): ToolSpec {
  return { name, description, parameters: parameters.jsonSchema };
}
