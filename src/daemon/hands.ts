import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Paths } from '../client/paths.js';
import type { Engine, EngineDeps } from '../engine/engine.js';
import { createPolicy } from '../policy/judge.js';
import { todoLines } from '../protocol/todos.js';
import { StoreRefused } from '../store/faults.js';
import type { Store } from '../store/store.js';
import { createAskUserTool } from '../tools/ask-user.js';
import { createBashTool } from '../tools/bash.js';
import { createBubblewrap } from '../tools/bubblewrap.js';
import { createClockTool } from '../tools/clock.js';
import { createEchoTool } from '../tools/echo.js';
import { createEditTool } from '../tools/edit.js';
import { createGlobTool } from '../tools/glob.js';
import { createGrepTool } from '../tools/grep.js';
import { createLsTool } from '../tools/ls.js';
import type { Tool } from '../tools/port.js';
import { createProcesses } from '../tools/processes.js';
import { createReadMarks } from '../tools/read-marks.js';
import { createReadTool } from '../tools/read.js';
import { createTodoTool, type Todos } from '../tools/todo.js';
import { createToolOutputTool } from '../tools/tool-output.js';
import { createWriteTool } from '../tools/write.js';
import type { Config } from './config.js';
import { readWorkspaceConfig } from './workspace-config.js';

interface Deps {
  paths: Paths;
  env: Record<string, string | undefined>;
  store: Store;
  engine(): Engine;
  config(): Config;
}

type ForEngine = Pick<EngineDeps, 'tools' | 'policy' | 'ruleSources' | 'approvalTimeoutMs' | 'artifactsDir' | 'endProcesses'>;

/** What the daemon's agents touch the machine with, and what keeps them from touching more. */
export function createHands({ paths, env, store, engine, config }: Deps) {
  const home = env.HOME ?? homedir();
  const bubblewrap = createBubblewrap();
  const processes = createProcesses({
    ledger: {
      note(row) {
        // Nothing runs that a crash could not find again.
        if (!engine().commit.maintain(() => store.processes.add(row))) throw new StoreRefused('the store does not take it now');
      },
      forget: (pid, startTime) => void engine().commit.maintain(() => store.processes.remove(pid, startTime)),
      left: store.processes.left,
    },
    bubblewrap,
    env,
    home,
  });
  const policy = createPolicy({
    home,
    settings() {
      const { enabled, network, writable } = config().sandbox;
      return {
        noSandbox: enabled ? whyNone() : 'it is switched off in config.json (sandbox.enabled).',
        network,
        writable,
        own: ownPlaces(paths),
      };
    },
  });

  function whyNone(): string | undefined {
    const found = bubblewrap();
    return 'missing' in found ? found.missing : undefined;
  }

  const todos: Todos = {
    read: store.todos.read,
    write(sessionId, items) {
      if (!engine().commit.maintain(() => store.todos.write(sessionId, items))) throw new StoreRefused('the store does not take it now');
      const params = { key: 'todo', lines: todoLines(items) };
      engine().signals.set(sessionId, 'widget:todo', { type: 'ui_widget', payload: { session_id: sessionId, params } });
    },
  };

  const marks = createReadMarks();
  const tools: Tool[] = [
    createReadTool({ marks }),
    createWriteTool({ marks }),
    createEditTool({ marks }),
    createBashTool({ processes }),
    createGrepTool(),
    createGlobTool(),
    createLsTool(),
    createTodoTool({ todos }),
    createAskUserTool(),
    createToolOutputTool(),
    createClockTool(),
    createEchoTool(),
  ];
  const forEngine: ForEngine = {
    tools,
    policy,
    ruleSources: { configured: () => config().rules, inWorkspace: readWorkspaceConfig },
    approvalTimeoutMs: () => config().approvalTimeoutMs,
    artifactsDir: join(paths.stateDir, 'artifacts'),
    endProcesses: processes.killRun,
  };
  return {
    forEngine,
    /** Ends what earlier daemons left running. Call before anything is started. */
    reapLeft: processes.reapLeft,
    endAll: processes.killAll,
  };
}

/** What belongs to berth, and no command may see. */
function ownPlaces({ socket, stateDir, configDir }: Paths): string[] {
  return [dirname(socket), socket, `${socket}.events`, stateDir, configDir];
}
