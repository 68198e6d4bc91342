import type { QueuedInput } from '../../protocol/events.js';
import type { SentInput } from '../../view/sent-inputs.js';
import { readShellCommand, runShellCommand } from '../commands/shell-command.js';
import type { SlashCommands } from '../commands/slash-commands.js';
import { mentionsIn } from '../editor/mentions.js';
import { attempt, watchingText } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import { createSender } from './sending.js';
import type { PaneParts } from './session-pane.js';

/** What becomes of the text in the editor. */
export interface Submitter {
  submit(how: 'steer' | 'follow_up'): void;
  /** Opens a waiting message in the editor; sending it changes the message. */
  edit(input: QueuedInput): void;
  isEditing(): boolean;
  /** Leaves the waiting message as it is. */
  leaveEdit(): void;
  /** The waiting message that is being edited may be gone. */
  checkEdited(): void;
  /** The text has changed. */
  changed(): void;
  settle(sent: SentInput): void;
  /** What an abort dropped comes back into the editor of whoever had sent it. */
  takeBack(): void;
  completePaths(): void;
  loadHistory(): void;
}

export function createSubmitter(parts: PaneParts, commands: SlashCommands): Submitter {
  const { context, attached, editor, reader, giveBack } = parts;
  const { berth } = context;
  const { sessionId: session_id } = attached;
  const sender = createSender({ context, attached, giveBack });
  /** The run that was in progress when the text in the editor was begun. */
  let writtenFor: string | undefined;
  let edited: QueuedInput | undefined;

  function submit(how: 'steer' | 'follow_up'): void {
    const text = editor.text();
    if (text.trim() === '') return;
    if (context.isObserver && !commands.isCommand(text)) return context.notice(watchingText, 'alarm');
    if (edited) return changeWaiting(edited);
    const shell = readShellCommand(text);
    if (commands.isCommand(text)) {
      if (commands.run(text)) editor.take();
    } else if (shell && berth.transport.host !== undefined) {
      context.notice(`a !command runs on this machine, and this session is on ${berth.transport.host}: use a shell there`, 'alarm');
    } else if (shell) {
      editor.take();
      runShellCommand(parts, shell.command, shell.isShared);
    } else sendText(how);
  }

  function sendText(how: 'steer' | 'follow_up'): void {
    const forRun = writtenFor;
    const { text: whole, tokens } = editor.take();
    const text = whole.startsWith('//') ? whole.slice(1) : whole;
    const images = tokens.map(({ data, mimeType }) => ({ type: 'image' as const, data, mime_type: mimeType }));
    reader.follow();
    parts.live();
    sender.send(how, { text, ...(images.length === 0 ? {} : { content: [{ type: 'text' as const, text }, ...images] }) }, forRun);
    checkMentions(text);
  }

  /** A mention of a file that does not exist is sent as it is, and told. */
  function checkMentions(text: string): void {
    const mentioned = mentionsIn(text).map(({ path }) => path);
    if (mentioned.length === 0) return;
    attempt(context, 'mentioned files could not be checked', async () => {
      const known = await Promise.all(mentioned.map(async (path) => ({ path, exists: await isFile(path) })));
      const missing = known.filter(({ exists }) => !exists).map(({ path }) => `@${path}`);
      if (missing.length > 0) context.notice(`sent as text, there is no such file: ${missing.join(', ')}`, 'alarm');
    });
  }

  async function isFile(path: string): Promise<boolean> {
    const { files } = accepted(await berth.call('list_files', { session_id, query: path }));
    return files.some((file) => file.path === path || file.path === `${path}/`);
  }

  function changeWaiting({ input_id, revision }: QueuedInput): void {
    edited = undefined;
    const { text } = editor.take();
    attempt(context, 'not changed', async () => {
      try {
        accepted(await berth.call('update_queued', { session_id, input_id, revision, text }));
      } catch (error) {
        giveBack(text);
        throw error;
      }
    });
  }

  return {
    submit,
    edit(input) {
      if (input.truncated) {
        context.notice('this message is too long to be edited here', 'alarm');
        return;
      }
      if (!editor.isEmpty()) editor.clear();
      editor.setText(input.text);
      edited = input;
      parts.setFocus('editor');
    },
    isEditing: () => edited !== undefined,
    leaveEdit() {
      edited = undefined;
      if (!editor.isEmpty()) editor.clear();
    },
    checkEdited() {
      if (!edited || attached.view().state.inputs.some(({ input_id }) => input_id === edited?.input_id)) return;
      edited = undefined;
      context.notice('the message that you edit does not wait any more: Enter sends this text as a new one', 'alarm');
    },
    changed() {
      if (editor.isEmpty()) writtenFor = undefined;
      else writtenFor ??= attached.view().state.run?.id;
    },
    settle: sender.settle,
    takeBack() {
      // Each comes in front of what is there: the last one first keeps them in their order.
      for (const { inputId, state, text } of attached.sent().toReversed()) {
        if (state !== 'returned') continue;
        giveBack(text);
        attached.dismiss(inputId);
      }
    },
    completePaths() {
      const target = editor.completion.target();
      if (target?.kind !== 'path') return;
      const { query } = target;
      berth.call('list_files', { session_id, query }).then(
        (reply) => {
          if (reply.ok) editor.completion.givePaths(query, reply.payload.files);
          context.invalidate();
        },
        // Without a daemon there is nothing to complete with.
        () => undefined,
      );
    },
    loadHistory() {
      attempt(context, 'no history of prompts', async () => {
        const { prompts } = accepted(await berth.call('list_prompts', { session_id }));
        // A prompt that is too long for the list would be sent cut.
        editor.loadHistory(prompts.filter(({ truncated }) => !truncated).map(({ text }) => text));
      });
    },
  };
}
