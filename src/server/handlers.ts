import type { HandlerContext } from './handler-context.js';
import type { Handlers } from './handler.js';
import { createRequestHandlers } from './handlers/requests.js';
import { createConnectionHandlers } from './handlers/connection.js';
import { createCursorHandlers } from './handlers/cursors.js';
import { createDaemonHandlers } from './handlers/daemon.js';
import { createEditorHandlers } from './handlers/editor.js';
import { createInputHandlers } from './handlers/inputs.js';
import { createModelHandlers } from './handlers/models.js';
import { createPermissionHandlers } from './handlers/permissions.js';
import { createQueueHandlers } from './handlers/queue.js';
import { createHistoryHandlers } from './handlers/history.js';
import { createSessionHandlers } from './handlers/sessions.js';

/** A handler for every row of the command table; a missing one does not compile. */
export function createHandlers(deps: HandlerContext): Handlers {
  return {
    ...createConnectionHandlers(deps),
    ...createInputHandlers(deps),
    ...createQueueHandlers(deps),
    ...createEditorHandlers(deps),
    ...createHistoryHandlers(deps),
    ...createSessionHandlers(deps),
    ...createRequestHandlers(deps),
    ...createModelHandlers(deps),
    ...createPermissionHandlers(deps),
    ...createCursorHandlers(deps),
    ...createDaemonHandlers(deps),
  };
}
