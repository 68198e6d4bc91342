import type { Access, Reach } from '../tools/port.js';

export type Action = 'allow' | 'ask' | 'deny';
export type Mode = 'ask' | 'auto_edit' | 'full' | 'read_only';

/** What a person said about calls of one kind. One of `command`, `path` and `pattern` at most; without any it means every call of the tool. */
export interface Rule {
  /** A tool's name, or `*`. */
  tool: string;
  action: Action;
  /** Leading words of a simple command, such as `git status`. */
  command?: string;
  /** The whole of a simple command, word for word. */
  exact?: boolean;
  /** A path or a glob: absolute, `~/…`, or below the workspace. */
  path?: string;
  /** A glob over the text of a simple command, or over the path. */
  pattern?: string;
  /** What an allowed command gets beside: the network, or the machine without the sandbox. */
  network?: boolean;
  unsandboxed?: boolean;
}

/** A rule and where it was said, for explanations. */
export interface SourcedRule extends Rule {
  /** `config`, `workspace config`, `always allowed here`, `allowed in this session` … */
  source: string;
}

export interface JudgedCall {
  toolName: string;
  args: unknown;
  accesses: Access[];
  /** The tool only looks. */
  readOnly: boolean;
  mode: Mode;
  /** The session's directory. */
  cwd: string;
  rules: readonly SourcedRule[];
}

export interface Ruling {
  action: Action;
  /** A sentence for people and for the model. */
  why: string;
  /** Each thing that was looked at with its verdict, for `berth permissions test`. */
  parts: { text: string; action: Action; why: string }[];
  /** What the call may reach when it is allowed, by the policy or by a person who was shown this ruling. */
  reach: Reach;
  /** Rules that would have allowed exactly this; empty when it can be allowed once only. */
  remember: Rule[];
  /** Said to the person who is asked: that there is no sandbox, that the network is wanted … */
  notes: string[];
}

/** Decides what calls may do. Synchronous, and the same for every tool. */
export interface Policy {
  judge(call: JudgedCall): Ruling;
}
