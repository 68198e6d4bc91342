import type { RuleRow } from '../protocol/permissions.js';
import type { Access, Reach } from '../tools/port.js';

export type Action = 'allow' | 'ask' | 'deny';
export type Mode = 'ask' | 'auto_edit' | 'full' | 'read_only';

/**
 * What a person said about calls of one kind: `command` are leading words of a simple command (with `exact`, all of them), `path` is a
 * path or a glob, `pattern` a glob over the text of a simple command or over the path. Without any of them it means every call of the tool.
 */
export type Rule = RuleRow;

/** A rule and where it was said, for explanations. */
export type SourcedRule = Rule & {
  /** `config`, `workspace config`, `always allowed here`, `allowed in this session` … */
  source: string;
};

/** Why nothing can match a rule, and the field that is to be changed. */
export interface RuleProblem {
  field: 'tool' | 'command' | 'path' | 'pattern';
  message: string;
}

/** What a rule is checked against. */
export interface RuleSurroundings {
  /** Of all tools there are. */
  toolNames: readonly string[];
  /** Of those that touch neither files nor commands. */
  harmlessTools?: readonly string[];
  /** Relative paths are looked at only where it is known. */
  workspace: string | undefined;
}

export interface JudgedCall {
  toolName: string;
  /** What the call declares that it touches; empty: nothing. Undefined when the tool declares nothing, so that nobody knows. */
  accesses: readonly Access[] | undefined;
  /** The tool says that it changes nothing. It counts only for a tool that declares no accesses. */
  readOnly: boolean;
  mode: Mode;
  /** The session's directory, as it is named. */
  cwd: string;
  /** Its real path, for a session that is known to be still in the same directory; looked up without it. */
  workspace?: string;
  rules: readonly SourcedRule[];
}

export interface Ruling {
  action: Action;
  /** A sentence for people and for the model. */
  why: string;
  /** Each thing that was looked at with its verdict, for `berth permissions test`. */
  parts: { text: string; action: Action; why: string }[];
  /** The real paths that were judged, of everything but commands: an approval holds for these alone. */
  paths: { kind: 'read' | 'write'; real: string }[];
  /** What the call may reach when it is allowed, by the policy or by a person who was shown this ruling. */
  reach: Reach;
  /** Rules that would have allowed exactly this; empty when it can be allowed once only. */
  remember: Rule[];
  /** It is known to need the network and would run without it. */
  lacksNetwork: boolean;
  /** Said to the person who is asked: that there is no sandbox, that the network is wanted … */
  notes: string[];
}

/** Decides what calls may do. Synchronous, and the same for every tool. */
export interface Policy {
  judge(call: JudgedCall): Ruling;
  /** The real path of a session's directory: what rules of a workspace are kept under. */
  workspaceOf(cwd: string): string;
  /** Why commands cannot be confined on this machine; undefined when they can. */
  noSandbox(): string | undefined;
  /** Why nothing could ever match a rule; undefined when something can. */
  findRuleProblem(rule: Rule, known: RuleSurroundings): RuleProblem | undefined;
}

/** The config that lies in a workspace. It is read, and counts for nothing until a person trusts exactly this content. */
export interface WorkspaceConfig {
  path: string;
  digest: string;
  rules: Rule[];
  /** Why it cannot be used; there are no rules then. */
  problem: string | undefined;
}

/** Rules that are not in the store. */
export interface RuleSources {
  configured(): readonly Rule[];
  /** Undefined when the workspace has none. */
  inWorkspace(workspace: string): WorkspaceConfig | undefined;
}
