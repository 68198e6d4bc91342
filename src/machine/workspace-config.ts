import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { readSmallFile } from './bounded-read.js';
import type { WorkspaceConfig } from '../policy/port.js';
import { limits } from '../protocol/limits.js';
import { rule } from '../protocol/permissions.js';
import { parseJsonc } from './jsonc.js';

/** The keys that a workspace's config may have. All others belong into the user's own config.json. */
const schema = z.strictObject({
  permissions: z.strictObject({ rules: z.array(rule).max(limits.rulesMax).optional() }).optional(),
});

/** Reads a workspace's `.berth/config.json`, which is untrusted. Undefined when it cannot be read. */
export function readWorkspaceConfig(workspace: string): WorkspaceConfig | undefined {
  const path = join(workspace, '.berth', 'config.json');
  const file = readSmallFile(path, { bytesMax: limits.workspaceConfigBytesMax, followLinks: false });
  if (!('bytes' in file)) return undefined;
  const { bytes } = file;
  const digest = createHash('sha256').update(bytes).digest('hex');
  try {
    const parsed = schema.safeParse(parseJsonc(bytes.toString('utf8'), path));
    if (parsed.success) return { path, digest, rules: parsed.data.permissions?.rules ?? [], problem: undefined };
    const problem = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; ');
    return { path, digest, rules: [], problem };
  } catch (error) {
    return { path, digest, rules: [], problem: error instanceof Error ? error.message : String(error) };
  }
}
