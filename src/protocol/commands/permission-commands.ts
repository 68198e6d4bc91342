import * as z from 'zod';
import { accepted, command, count, id, inSession, path } from './command-shapes.js';
import { approvalMode } from '../events.js';
import { limits } from '../limits.js';
import { auditView, permissionView, rule, ruleAction } from '../permissions.js';

const scope = { ...inSession, cwd: path.optional() };

/** Commands about what calls may do. */
export const permissionCommands = {
  list_permissions: command({
    summary: 'Rules that count for a session or a directory, or all there are; and whether its own config is trusted.',
    payload: () => z.looseObject({ ...scope, all: z.boolean().default(false) }),
    reply: {
      type: 'permissions',
      payload: () =>
        z.object({
          permissions: z.array(permissionView),
          has_more: z.boolean(),
          workspace: z.string(),
          mode: approvalMode,
          /** Why commands are not confined; null when they are. */
          no_sandbox: z.string().nullable(),
          /** Rules of config files that can never match, each with the file, the field and why. */
          warnings: z.array(z.string()).optional(),
          workspace_config: z
            .object({ path: z.string(), digest: z.string(), trusted: z.boolean().nullable(), problem: z.string().nullable() })
            .nullable(),
        }),
    },
    role: 'observer',
  }),
  add_permission: command({
    summary: 'Adds a rule for every workspace, for the one of a session or directory (`scope: workspace`), or for one session.',
    payload: () => z.looseObject({ ...scope, rule, scope: z.enum(['everywhere', 'workspace', 'session']).default('workspace') }),
    reply: accepted('add_permission', () => ({
      permission_id: z.string(),
      workspace: z.string().nullable(),
      session_id: z.string().nullable(),
    })),
    role: 'controller',
  }),
  remove_permission: command({
    summary: 'Removes a rule that was added or remembered.',
    payload: () => z.looseObject({ permission_id: id }),
    reply: accepted('remove_permission', () => ({ permission_id: z.string() })),
    role: 'controller',
  }),
  get_ruling: command({
    summary: 'What would become of a call, part by part, and why. Nothing is run.',
    payload: () =>
      z.looseObject({
        ...scope,
        tool: z.string().min(1).max(limits.ruleToolCharsMax).default('bash'),
        command: z.string().max(limits.judgedTextCharsMax).optional(),
        path: path.optional(),
        mode: approvalMode.optional(),
        network: z.boolean().default(false),
        unsandboxed: z.boolean().default(false),
      }),
    reply: {
      type: 'ruling',
      payload: () =>
        z.object({
          action: ruleAction,
          why: z.string(),
          parts: z.array(z.object({ text: z.string(), action: ruleAction, why: z.string() })),
          sandboxed: z.boolean(),
          network: z.boolean(),
          notes: z.array(z.string()),
          /** What “always” would remember. */
          rules: z.array(rule),
          mode: approvalMode,
          workspace: z.string(),
        }),
    },
    role: 'observer',
  }),
  set_trust: command({
    summary: 'Says whether a workspace’s own config counts, for exactly the content with this digest.',
    payload: () => z.looseObject({ ...scope, digest: z.string().min(1).max(limits.idCharsMax).optional(), trusted: z.boolean() }),
    reply: accepted('set_trust', () => ({ workspace: z.string(), digest: z.string(), trusted: z.boolean() })),
    role: 'controller',
  }),
  list_decisions: command({
    summary: 'Who decided what about calls, the newest first.',
    payload: () => z.looseObject({ ...inSession, cursor: z.string().max(limits.idCharsMax).optional(), limit: count.optional() }),
    reply: {
      type: 'decisions',
      payload: () => z.object({ decisions: z.array(auditView), has_more: z.boolean(), cursor: z.string().nullable() }),
    },
    role: 'observer',
  }),
} as const;
