import * as z from 'zod';
import { limits } from './limits.js';

export const ruleAction = z.enum(['allow', 'ask', 'deny']);

const matcher = z.string().min(1).max(limits.ruleTextCharsMax);

/** Whether a shell would take a part of it for a glob, so that no command's words could ever be these. */
function hasBareGlob(command: string): boolean {
  return /[*?]|\[\S/.test(command.replaceAll(/\\.|'[^']*'|"[^"]*"/gs, ''));
}

/** A rule as config, commands and the store have it. */
export const rule = z
  .strictObject({
    tool: z.string().min(1).max(limits.ruleToolCharsMax),
    action: ruleAction,
    command: matcher.optional(),
    exact: z.boolean().optional(),
    path: matcher.optional(),
    pattern: matcher.optional(),
    network: z.boolean().optional(),
    unsandboxed: z.boolean().optional(),
  })
  .superRefine(({ command, path, pattern, exact, tool }, context) => {
    if ([command, path, pattern].filter((one) => one !== undefined).length > 1) {
      context.addIssue({ code: 'custom', path: ['pattern'], message: 'a rule has one of command, path and pattern' });
    }
    if (command !== undefined && tool !== 'bash' && tool !== '*') {
      context.addIssue({ code: 'custom', path: ['command'], message: 'only bash runs commands' });
    }
    if (command !== undefined && /[;&|<>()`$\n]/.test(command) && exact !== true) {
      context.addIssue({ code: 'custom', path: ['command'], message: 'a rule names one simple command, such as git status' });
    }
    if (command !== undefined && hasBareGlob(command)) {
      const message = 'a command has no * or ?: the words curl mean curl and whatever follows; use pattern for a glob, or quotes';
      context.addIssue({ code: 'custom', path: ['command'], message });
    }
    if (command?.trim() === '') context.addIssue({ code: 'custom', path: ['command'], message: 'names no command, such as git status' });
    if (exact !== undefined && command === undefined) {
      context.addIssue({ code: 'custom', path: ['exact'], message: 'exact goes with command' });
    }
  });

export type RuleRow = z.infer<typeof rule>;

export const permissionView = z.object({
  /** Empty for a rule of the config file: it is changed there. */
  permission_id: z.string(),
  source: z.string(),
  workspace: z.string().nullable(),
  session_id: z.string().nullable(),
  rule,
  said_by: z.string(),
  at: z.string().nullable(),
});
export type PermissionView = z.infer<typeof permissionView>;

export const auditView = z.object({
  at: z.string(),
  session_id: z.string(),
  run_id: z.string(),
  tool_call_id: z.string(),
  tool_name: z.string(),
  subject: z.string(),
  action: z.string(),
  by: z.string(),
  why: z.string(),
});
export type AuditView = z.infer<typeof auditView>;
