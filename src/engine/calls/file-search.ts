import type { SessionState } from '../../core/session.js';
import type { Policy, SourcedRule } from '../../policy/port.js';
import type { ReadStore } from '../../store/store.js';
import type { FileFinder, FoundPaths } from '../../tools/port.js';
import type { Anchors } from '../run/anchors.js';
import { createRecentPaths } from './recent-paths.js';

interface Deps {
  store: ReadStore;
  /** Undefined until the modules of the tools are loaded. */
  policy(): Policy | undefined;
  fileFinder(): FileFinder | undefined;
  rulesInForce(workspace: string, sessionId: string): SourcedRule[];
  directoryOf: Anchors['directoryOf'];
}

const nothing: FoundPaths = { files: [], total: 0, truncated: false };

/** Searches the directory of a session for paths, for completion. What the session's tools may not read is not found. */
export function createFileSearch({ store, policy, fileFinder, rulesInForce, directoryOf }: Deps) {
  const recentPaths = createRecentPaths(store);

  return {
    isReady: (): boolean => policy() !== undefined && fileFinder() !== undefined,
    async find(state: SessionState, query: string, limit: number): Promise<FoundPaths> {
      const root = directoryOf(state);
      const [rules, finder] = [policy(), fileFinder()];
      if (root === undefined || !rules || !finder) return nothing;
      // Judged as a call that reads the whole directory: a person who asks has approved of that.
      const { reach } = rules.judge({
        toolName: 'read',
        accesses: [{ kind: 'read', path: state.cwd, real: root }],
        readOnly: true,
        mode: state.approvalMode,
        cwd: state.cwd,
        workspace: root,
        rules: rulesInForce(root, state.id),
      });
      return finder.find({ sessionId: state.id, root, refuses: reach.refuses, query, limit, recent: recentPaths.of(state, root) });
    },
  };
}
