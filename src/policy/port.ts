import type { RuleRow } from '../protocol/permissions.js';
import type { Access, Reach } from '../tools/port.js';

export type Action = 'allow' | 'ask' | 'deny';
export type Mode = 'ask' | 'auto_edit' | 'full' | 'read_only';

/**
 * A permission rule: `command` is a prefix of words of a simple command (with `exact`, all words), `path` is a path or a glob, `pattern` a
 * glob over the text of a simple command or over a path. A rule without any of these matches every call of the tool.
 */
export type Rule = RuleRow;

/** A rule and its source, for explanations. */
export type SourcedRule = Rule & {
  /** `config`, `workspace config`, `always allowed here`, `allowed in this session` … */
  source: string;
};

/** Why no call can match a rule, and the field to change. */
export interface RuleProblem {
  field: 'tool' | 'command' | 'path' | 'pattern';
  message: string;
}

/** What a rule is validated against. */
export interface RuleCheckContext {
  /** Names of all tools. */
  toolNames: readonly string[];
  /** Names of the tools that touch neither files nor commands. */
  harmlessTools?: readonly string[];
  /** Relative paths are checked only when the workspace is known. */
  workspace: string | undefined;
}

export interface JudgedCall {
  toolName: string;
  /** The accesses that the call declares; empty for none. Undefined when the tool declares nothing, so that any access is possible. */
  accesses: readonly Access[] | undefined;
  /** The tool claims to change nothing. Used only for a tool that declares no accesses. */
  readOnly: boolean;
  mode: Mode;
  /** The session's directory, with symlinks unresolved. */
  cwd: string;
  /** The real path of `cwd`, for a session that is known to be still in the same directory; resolved when absent. */
  workspace?: string;
  rules: readonly SourcedRule[];
}

export interface Ruling {
  action: Action;
  /** The reason, as a sentence for people and for the model. */
  why: string;
  /** The judgement of each path and simple command, for `berth permissions test`. */
  parts: { text: string; action: Action; why: string }[];
  /** The judged real paths, except those of commands: an approval covers these alone. */
  paths: { kind: 'read' | 'write'; real: string }[];
  /** What the call may reach when the policy, or a person who saw this ruling, allows it. */
  reach: Reach;
  /** Rules that would have allowed exactly this call; empty when it can be allowed only once. */
  remember: Rule[];
  /** The command is known to need the network and would run without it. */
  lacksNetwork: boolean;
  /** Notes for the approval: that there is no sandbox, that network access is requested … */
  notes: string[];
}

/** Decides what calls may do. Synchronous, and the same for every tool. */
export interface Policy {
  judge(call: JudgedCall): Ruling;
  /** The real path of a session's directory, the key for rules of a workspace. */
  workspaceOf(cwd: string): string;
  /** Why commands cannot be confined on this machine; undefined when they can. */
  noSandbox(): string | undefined;
  /** Why no call could ever match a rule; undefined for a valid rule. */
  findRuleProblem(rule: Rule, context: RuleCheckContext): RuleProblem | undefined;
}

/** The config file of a workspace. Its rules are ignored until a person trusts exactly this content. */
export interface WorkspaceConfig {
  path: string;
  digest: string;
  rules: Rule[];
  /** Why the file cannot be parsed; `rules` is empty then. */
  problem: string | undefined;
}

/** Rules that are not in the store. */
export interface RuleSources {
  configured(): readonly Rule[];
  /** Undefined when the workspace has no config file. */
  inWorkspace(workspace: string): WorkspaceConfig | undefined;
}
