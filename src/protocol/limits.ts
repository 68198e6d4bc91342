import { clientLimits } from './limits/client-limits.js';
import { daemonLimits } from './limits/daemon-limits.js';
import { modelLimits } from './limits/model-limits.js';
import { permissionLimits } from './limits/permission-limits.js';
import { runLimits } from './limits/run-limits.js';
import { scriptLimits } from './limits/script-limits.js';
import { toolLimits } from './limits/tool-limits.js';
import { wireLimits } from './limits/wire-limits.js';

/** Every bound that a peer or a person can meet, each with its unit in its name. `hello` tells clients those that concern them. */
export const limits = {
  ...wireLimits,
  ...clientLimits,
  ...scriptLimits,
  ...runLimits,
  ...permissionLimits,
  ...modelLimits,
  ...daemonLimits,
  ...toolLimits,
} as const;
