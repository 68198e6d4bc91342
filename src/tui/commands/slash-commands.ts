import { limits } from '../../protocol/limits.js';
import { nearest } from '../../protocol/nearest.js';
import { modeNames, toMode } from '../../view/modes.js';
import { resumeActionFor } from '../../view/run-outcome.js';
import { attempt, watchingText } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import type { CommandEntry } from '../editor/completion/targets.js';
import { createTextPrompt } from '../overlays/text-prompt.js';
import { showChanges } from './changes.js';
import { openDrafts } from './draft-picker.js';
import { exportToFile } from './export-session.js';
import { openModels, setThinking, thinkingLevels } from './model-picker.js';
import { openHelp } from './palette.js';
import { allow, showPermissions } from './permissions-view.js';
import { openSessions } from './session-picker.js';
import { showClients, showContext, showStats } from './stats-view.js';
import { openTree } from './tree-picker.js';

interface SlashCommand {
  name: string;
  aliases?: readonly string[];
  summary: string;
  /** What may follow the name. */
  hint?: string;
  complete?(): readonly string[];
  /** It changes something for others: an observer cannot run it. */
  changes?: true;
  /** Returns false to keep the text in the editor. */
  run(words: string, parts: PaneParts): unknown;
}

/** Commands that are typed into the editor. Completion, the palette and the help are made from this table. */
const table: readonly SlashCommand[] = [
  { name: 'help', summary: 'Everything that can be done, with its keys', run: (_, parts) => openHelp(parts) },
  { name: 'new', summary: 'A new session in this directory', hint: '[title]', changes: true, run: newSession },
  { name: 'sessions', aliases: ['ls'], summary: 'Choose a session', run: (_, parts) => openSessions(parts) },
  { name: 'rename', summary: 'Rename this session', hint: 'title', changes: true, run: rename },
  { name: 'archive', summary: 'Put this session out of sight, and choose another', changes: true, run: archive },
  { name: 'branch', summary: 'A new session that goes on from here', changes: true, run: branch },
  { name: 'tree', summary: 'All messages as a tree: go to one, or branch from it', run: (_, parts) => openTree(parts) },
  { name: 'diff', summary: 'What this session changed since a prompt', run: (_, parts) => showChanges(parts) },
  { name: 'model', summary: 'Choose a model', hint: '[provider/model]', changes: true, run: (words, parts) => openModels(parts, words) },
  {
    name: 'thinking',
    summary: 'How much the model thinks',
    hint: thinkingLevels.join('|'),
    complete: () => thinkingLevels,
    changes: true,
    run: setThinking,
  },
  { name: 'mode', summary: 'What is asked about', hint: modeNames.join('|'), complete: () => modeNames, changes: true, run: setMode },
  { name: 'permissions', summary: 'The rules that count here', run: (_, parts) => showPermissions(parts) },
  { name: 'allow', summary: 'Allow a command in this workspace from now on', hint: 'command', changes: true, run: allow },
  { name: 'abort', aliases: ['stop'], summary: 'Stop the run', hint: '[reason]', changes: true, run: abort },
  { name: 'resume', summary: 'Let a run that was cut off, or a paused queue, go on', changes: true, run: resume },
  { name: 'retry', summary: 'Ask the model again from the last prompt', changes: true, run: (_, parts) => resumeWith(parts, 'retry') },
  { name: 'compact', summary: 'Summarise old messages for the model', hint: '[what matters]', changes: true, run: compact },
  { name: 'context', summary: 'How full the context window is', run: (_, parts) => showContext(parts) },
  { name: 'stats', summary: 'Runs, tokens and cost of this session', run: (_, parts) => showStats(parts) },
  { name: 'clients', summary: 'Who else is connected', run: (_, parts) => showClients(parts) },
  {
    name: 'draft',
    aliases: ['drafts'],
    summary: 'Drafts of this session that other clients left',
    changes: true,
    run: (_, parts) => openDrafts(parts),
  },
  { name: 'copy', summary: 'Copy the last answer', run: copyAnswer },
  { name: 'export', summary: 'Write the conversation to a file: .md, .html or .jsonl', hint: '[file]', run: exportToFile },
  { name: 'search', summary: 'Search this session, also what is not loaded', hint: 'words', run: (words, parts) => parts.search(words) },
  { name: 'live', summary: 'To the end of a frozen view', run: (_, parts) => parts.live() },
  { name: 'detach', aliases: ['quit', 'exit', 'q'], summary: 'Leave; the run goes on', run: (_, { context }) => context.leave() },
];

export interface SlashCommands {
  entries(): readonly CommandEntry[];
  isCommand(text: string): boolean;
  /** True when the text was a command that was taken; otherwise the text stays in the editor. */
  run(text: string): boolean;
}

export function createSlashCommands(parts: () => PaneParts): SlashCommands {
  function find(name: string): SlashCommand | undefined {
    return table.find((command) => command.name === name || command.aliases?.includes(name));
  }

  function isPossible({ changes }: SlashCommand): boolean {
    return !changes || !parts().context.isObserver;
  }

  return {
    entries: () =>
      table.filter(isPossible).map(({ name, aliases = [], summary, hint, complete }) => ({
        name,
        summary,
        aliases,
        ...(hint === undefined ? {} : { argumentHint: hint }),
        ...(complete === undefined
          ? {}
          : { complete: (query: string) => complete().flatMap((text) => (text.startsWith(query) ? [{ text }] : [])) }),
      })),
    // A path or an address is a text like any other.
    isCommand: (text) => /^\/[a-z-]*(\s|$)/i.test(text),
    run(text) {
      const [, name = '', words = ''] = /^\/(\S*)\s*([^]*)$/.exec(text.trim()) ?? [];
      const command = find(name);
      if (!command) {
        const near = nearest(
          name,
          table.map((one) => one.name),
        );
        const hint = near === undefined ? 'Ctrl-P lists what there is.' : `did you mean /${near}?`;
        parts().context.notice(`there is no command /${name}: ${hint} A text that begins with / is sent with // in front.`, 'alarm');
        return false;
      }
      if (!isPossible(command)) {
        parts().context.notice(watchingText, 'alarm');
        return false;
      }
      return command.run(words.trim(), parts()) !== false;
    },
  };
}

function newSession(title: string, { context, view }: PaneParts): void {
  attempt(context, 'no session was made', async () => {
    const { cwd, model } = view().state;
    const { session_id } = accepted(await context.berth.call('new_session', { cwd, model, ...(title === '' ? {} : { title }) }));
    context.goTo(session_id);
  });
}

function update(parts: PaneParts, fields: { title?: string; approval_mode?: NonNullable<ReturnType<typeof toMode>> }): void {
  const { context, attached } = parts;
  attempt(context, 'not changed', async () => {
    accepted(await context.berth.call('update_session', { session_id: attached.sessionId, ...fields }));
  });
}

function rename(title: string, parts: PaneParts): void {
  if (title !== '') return update(parts, { title: title.slice(0, limits.titleCharsMax) });
  parts.context.open(
    createTextPrompt({
      title: 'Rename this session',
      initial: parts.view().state.title,
      onSubmit(text) {
        parts.context.closeOverlay();
        update(parts, { title: text.trim() });
      },
    }),
  );
}

function setMode(typed: string, parts: PaneParts): boolean {
  const mode = toMode(typed);
  if (mode) update(parts, { approval_mode: mode });
  else parts.context.notice(`a mode is one of ${modeNames.join(', ')}`, 'alarm');
  return mode !== undefined;
}

function archive(_: string, parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'not archived', async () => {
    accepted(await context.berth.call('archive_session', { session_id: attached.sessionId }));
    openSessions(parts);
  });
}

function branch(_: string, { context, attached }: PaneParts): void {
  attempt(context, 'no branch was made', async () => {
    const { session_id } = accepted(await context.berth.call('branch_session', { session_id: attached.sessionId }));
    context.goTo(session_id);
  });
}

function abort(reason: string, { context, attached }: PaneParts): void {
  attempt(context, 'not stopped', async () => {
    const why = reason === '' ? {} : { reason: reason.slice(0, limits.abortReasonCharsMax) };
    accepted(await context.berth.call('abort', { session_id: attached.sessionId, ...why }));
  });
}

function resume(_: string, parts: PaneParts): void {
  const { state } = parts.attached.view();
  if (state.paused && state.inputs.length > 0 && (state.lastRun?.abandoned ?? true)) {
    attempt(parts.context, 'the queue stays paused', async () => {
      accepted(await parts.context.berth.call('resume_queue', { session_id: parts.attached.sessionId }));
    });
    return;
  }
  resumeWith(parts, resumeActionFor(state.lastRun?.outcome ?? 'interrupted'));
}

function resumeWith({ context, attached }: PaneParts, action: 'retry' | 'continue'): void {
  const { lastRun } = attached.view().state;
  if (!lastRun) return context.notice('no run has ended here yet', 'alarm');
  attempt(context, 'it does not go on', async () => {
    accepted(await context.berth.call('resume_run', { session_id: attached.sessionId, run_id: lastRun.id, action }));
  });
}

function compact(instruction: string, { context, attached }: PaneParts): void {
  attempt(context, 'no summary was made', async () => {
    const focus = instruction === '' ? {} : { instruction: instruction.slice(0, limits.instructionCharsMax) };
    const done = accepted(await context.berth.call('compact_session', { session_id: attached.sessionId, ...focus }));
    context.notice(`summarised: about ${done.tokens_before} tokens are now ${done.tokens_after}`);
  });
}

function copyAnswer(_: string, { context, view }: PaneParts): void {
  const answer = view().messages.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '');
  if (answer) context.copy(answer.text);
  else context.notice('there is no answer to copy yet', 'alarm');
}
