import * as z from 'zod';
import { approvalMode, queueMode, thinkingLevel, whenDetached } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { nearest } from '../../protocol/nearest.js';
import { rule } from '../../protocol/permissions.js';
import { apis, builtInProviders } from '../provider-config.js';

/** The values of keys that are absent from config.json. A key without one here says in its description what counts instead. */
export const configDefaults = {
  compaction: { auto: true, at_percent: limits.compactAtPercentDefault },
  steering_mode: 'one-at-a-time',
  follow_up_mode: 'one-at-a-time',
  permissions: { mode: 'ask', when_detached: 'wait', timeout_seconds: null },
  sandbox: { enabled: true, network: false },
  retention: {
    log_days: limits.logAgeMs / (24 * 3600 * 1000),
    log_events: limits.logEventsMax,
    artifacts_mb: limits.keptOutputsBytesMax / (1024 * 1024),
    artifacts_days: null,
    archived_days: null,
  },
  limits: {
    runs_at_once: limits.runsAtOnceDefault,
    model_attempts: limits.modelAttemptsDefault,
    model_retry_ms: limits.modelRetryMinMs,
    model_idle_seconds: limits.modelIdleMs / 1000,
    command_processes: limits.commandProcessesDefault,
  },
} as const;

interface Facts {
  default?: unknown;
  examples?: unknown[];
}

/** An optional key with its description, default and examples, which the JSON Schema and the docs show. */
function setting<T extends z.ZodType>(type: T, description: string, facts: Facts = {}): z.ZodOptional<T> {
  return type.optional().meta({ description, ...facts });
}

const count = z.int().min(1);
const price = z.number().min(0);
const baseUrl = z.string().superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') context.addIssue('must be an http or https address');
  else if (url.username !== '' || url.password !== '') context.addIssue('must not have a name or password in it; use api_key or headers');
});
const headerText = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');

const model = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(limits.modelIdCharsMax)
    .regex(/^\S+$/, 'a model has a name without spaces')
    .describe('What the API of the provider calls the model.'),
  title: setting(z.string(), 'What people call the model.'),
  context_window: setting(count, 'Tokens that a request and its answer may have together.'),
  max_output: setting(count, 'The longest answer, in tokens.'),
  price: setting(
    z.strictObject({
      input: price.describe('Of what is sent.'),
      output: price.describe('Of what is answered.'),
      cache_read: setting(price, 'Of what the provider had cached. Default: the price of input.'),
      cache_write: setting(price, 'Of what the provider has put into its cache. Default: the price of input.'),
    }),
    'US dollars for a million tokens.',
  ),
  images: setting(z.boolean(), 'False for a model that refuses images: it gets a placeholder text instead.', { default: true }),
});
export type ModelSettings = z.infer<typeof model>;

const provider = z.strictObject({
  api: setting(z.enum(apis), 'The API that its server speaks. Needed, unless the provider is built in.'),
  base_url: setting(baseUrl, "The address of the provider's API. Needed, unless the provider is built in.", {
    examples: ['http://127.0.0.1:11434/v1'],
  }),
  api_key: setting(headerText.min(1), 'The key itself. `berth auth set` keeps it in a file that is yours alone instead.'),
  api_key_env: setting(z.string().min(1), 'The variable of the environment of the daemon that has the key.', {
    examples: ['OPENROUTER_API_KEY'],
  }),
  api_key_command: setting(z.array(z.string()).min(1), 'A program with its arguments that prints the key.', {
    examples: [['pass', 'show', 'openrouter']],
  }),
  headers: setting(
    z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header'), headerText),
    'Headers of each request, by name.',
    { examples: [{ 'X-Title': 'berth' }] },
  ),
  verbosity: setting(z.enum(['low', 'medium', 'high']), 'How long answers are, for models of openai-responses that can be told.'),
  models: setting(z.array(model), 'Models that the provider does not list, or whose facts are to be others.', {
    examples: [[{ id: 'qwen3-coder', context_window: 32768 }]],
  }),
});
export type ProviderSettings = z.infer<typeof provider>;

const providers = z.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'a provider is named with letters, digits, dots, - and _'), provider);

/** Action names to keys. Frontends know which actions and keys there are; here only the shape is checked. */
const key = z.string().min(1).max(limits.boundKeyCharsMax);
const keys = z
  .record(
    z.string().min(1).max(limits.actionNameCharsMax),
    z.union(
      [key, z.array(key).max(limits.keysPerActionMax)],
      `must be a key, such as ctrl+p, or a list of at most ${limits.keysPerActionMax} keys`,
    ),
  )
  .refine((bound) => Object.keys(bound).length <= limits.boundActionsMax, `at most ${limits.boundActionsMax} actions`);

const hosts = z
  .record(
    z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/, 'a host is named with letters, digits, dots, - and _'),
    z.strictObject({
      ssh: setting(
        z
          .string()
          .max(limits.hostCharsMax)
          .regex(/^[^-\s]\S*$/, 'must be a host as ssh takes it, such as user@box'),
        'The host as ssh takes it. Default: the name itself.',
      ),
      command: setting(z.array(z.string().min(1)).min(1), 'Berth on that machine, with its first arguments. Default: berth.'),
    }),
  )
  .refine((named) => Object.keys(named).length <= limits.hostsMax, `at most ${limits.hostsMax} hosts`);

const compaction = z.strictObject({
  auto: setting(z.boolean(), 'Whether the older part of a conversation is summarised when the window is nearly full.', {
    default: configDefaults.compaction.auto,
  }),
  at_percent: setting(
    z.int().min(limits.compactAtPercentMin).max(limits.compactAtPercentMax),
    'How full the context window may get before that, in percent.',
    { default: configDefaults.compaction.at_percent },
  ),
});

const permissions = z.strictObject({
  mode: setting(approvalMode, 'What an agent may do unasked, in new sessions; see permissions.md.', {
    default: configDefaults.permissions.mode,
  }),
  when_detached: setting(whenDetached, 'What happens to a question when no client is attached that could answer it.', {
    default: configDefaults.permissions.when_detached,
  }),
  timeout_seconds: setting(
    z.number().min(1).max(limits.approvalSecondsMax).nullable(),
    'After how many seconds without an answer an approval is denied; null: never.',
    { default: configDefaults.permissions.timeout_seconds },
  ),
  rules: setting(z.array(rule).max(limits.rulesMax), 'Rules that count in every workspace; see permissions.md.', {
    examples: [[{ tool: 'bash', command: 'git status', action: 'allow' }]],
  }),
});

const sandbox = z.strictObject({
  enabled: setting(z.boolean(), 'Whether commands run in a sandbox where bubblewrap is installed.', {
    default: configDefaults.sandbox.enabled,
  }),
  network: setting(z.boolean(), 'Whether commands in the sandbox have the network unasked.', { default: configDefaults.sandbox.network }),
  writable: setting(
    z.array(z.string().min(1)).max(limits.writableRootsMax),
    'Directories that commands may write to, besides the workspace: absolute, or below the home directory as `~/…`.',
    { examples: [['~/.cache/my-build']] },
  ),
});

const days = z.number().min(1).max(limits.retainedDaysMax);
const retention = z.strictObject({
  log_days: setting(days, 'How many days the log of events is kept. Messages are not events: they stay.', {
    default: configDefaults.retention.log_days,
  }),
  log_events: setting(z.int().min(limits.retainedEventsMin).max(limits.retainedEventsMax), 'How many events are kept at most.', {
    default: configDefaults.retention.log_events,
  }),
  artifacts_mb: setting(
    count.max(limits.retainedArtifactsMbMax),
    'What long outputs of tools may take together, in MB; the oldest go first.',
    {
      default: configDefaults.retention.artifacts_mb,
    },
  ),
  artifacts_days: setting(days.nullable(), 'How many days long outputs are kept; null: as long as there is room.', {
    default: configDefaults.retention.artifacts_days,
  }),
  archived_days: setting(
    days.nullable(),
    'After how many days without a change an archived session is deleted; null: never. Other sessions are never deleted.',
    { default: configDefaults.retention.archived_days },
  ),
});

const bounds = z.strictObject({
  runs_at_once: setting(
    z.int().min(1).max(limits.runsAtOnceMax),
    'So many runs ask a model or use tools at the same time; others wait. Counts after a restart of the daemon.',
    { default: configDefaults.limits.runs_at_once },
  ),
  model_attempts: setting(z.int().min(1).max(limits.modelAttemptsMax), 'How often a model is asked when failures may pass.', {
    default: configDefaults.limits.model_attempts,
  }),
  model_retry_ms: setting(z.int().min(1).max(limits.modelRetryMaxMs), 'The first pause between two attempts, which doubles each time.', {
    default: configDefaults.limits.model_retry_ms,
  }),
  model_idle_seconds: setting(
    z
      .number()
      .min(1)
      .max(limits.modelIdleMs / 1000),
    'How long an answer may be silent before it counts as stalled.',
    { default: configDefaults.limits.model_idle_seconds },
  ),
  command_memory_mb: setting(
    z.int().min(limits.commandMemoryMbMin).max(limits.commandMemoryMbMax),
    'What one command may take at once. Default: a quarter of the memory of the machine or container, and 2048 at least.',
    { examples: [6000] },
  ),
  command_processes: setting(
    z.int().min(limits.commandProcessesMin).max(limits.commandProcessesMax),
    'How many processes and threads one command may have.',
    { default: configDefaults.limits.command_processes },
  ),
});

/** The keys of config.json. */
export const configSchema = z
  .strictObject({
    $schema: setting(z.string(), 'The JSON Schema of this file, for editors; berth config schema prints it.'),
    model: setting(
      z.string().regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model'),
      'The model of new sessions, as provider/model. Default: a model of the first provider with a key, else offline/guide.',
      { examples: ['anthropic/claude-sonnet-5-5'] },
    ),
    thinking: setting(thinkingLevel, 'How much new sessions think. Default: medium where the provider is known to think, else off.'),
    providers: setting(
      providers.superRefine(checkProviders),
      'Who is asked for models, by the name that a model begins with. anthropic and openai are built in; here they can be changed, and others added.',
    ),
    system_prompt_path: setting(
      z.string().min(1),
      "A file whose text stands in the place of berth's own system prompt; a relative path is below the config directory. Facts about the place follow either.",
      { examples: ['prompt.md'] },
    ),
    compaction: setting(compaction, 'Summaries of conversations that become too long for the context window.'),
    steering_mode: setting(queueMode, 'How many waiting steers a turn takes.', { default: configDefaults.steering_mode }),
    follow_up_mode: setting(queueMode, 'How many waiting follow-ups a run takes when it would otherwise end.', {
      default: configDefaults.follow_up_mode,
    }),
    permissions: setting(permissions, 'What agents may do, and when a person is asked.'),
    sandbox: setting(sandbox, 'What holds the commands of agents.'),
    retention: setting(retention, 'What is kept, how long and how much of it; see operations.md.'),
    hosts: setting(
      hosts,
      'Other machines by a name of your own, for --host: how ssh is to reach each, and where berth is there; see operations.md.',
      {
        examples: [{ box: { ssh: 'user@box.example', command: ['/opt/berth/bin/berth'] } }],
      },
    ),
    keys: setting(keys, 'Keys of the terminal frontend, by action: a key, or a list of keys; see tui.md.', {
      examples: [{ palette: ['ctrl+p', 'ctrl+k'] }],
    }),
    limits: setting(bounds, 'Bounds on runs, models and commands.'),
  })
  .superRefine(checkModel);
export type ConfigFile = z.infer<typeof configSchema>;

/** Refuses a model of an unknown provider, which would otherwise fail at the first request. */
function checkModel(
  { model: named, providers: configured = {} }: { model?: string | undefined; providers?: object | undefined },
  context: z.RefinementCtx,
): void {
  const [name = ''] = named?.split('/') ?? [];
  const known = ['offline', ...builtInProviders, ...Object.keys(configured)];
  if (named === undefined || known.includes(name)) return;
  const near = nearest(name, known);
  const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
  context.addIssue({ code: 'custom', path: ['model'], message: `there is no provider ${name}; ${hint}` });
}

/** A provider that is not built in needs api and base_url. */
function checkProviders(named: z.infer<typeof providers>, context: z.RefinementCtx): void {
  for (const [name, { api, base_url }] of Object.entries(named)) {
    if (name === 'offline') context.addIssue({ code: 'custom', path: [name], message: 'is built in and has no settings' });
    if (builtInProviders.includes(name)) continue;
    if (api === undefined) context.addIssue({ code: 'custom', path: [name, 'api'], message: `must be one of ${apis.join(', ')}` });
    if (base_url === undefined)
      context.addIssue({
        code: 'custom',
        path: [name, 'base_url'],
        message: "must be the address of the provider's API, such as http://localhost:8080/v1",
      });
  }
}
