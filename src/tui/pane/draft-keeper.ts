import { randomUUID } from 'node:crypto';
import type { ReplyPayload } from '../../protocol/commands/commands.js';
import { formatAge } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import type { Editor } from '../editor/editor.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';

type Draft = ReplyPayload<'list_drafts'>['drafts'][number];

/** A draft is stored when typing pauses. */
const tuning = { pauseMs: 700 } as const;

/** Keeps what a person has begun to write in the daemon, so that no terminal can lose it. */
export interface DraftKeeper {
  /** Brings back the newest draft that no attached client writes on, unless something has been typed meanwhile. */
  load(): void;
  changed(): void;
  /** Takes over a draft of another client. */
  take(draft: { draft_id: string; text: string }): void;
  ownId(): string;
  /** Stores what is not stored yet. */
  flush(): Promise<void>;
}

interface Deps {
  context: TuiContext;
  sessionId: string;
  editor: Editor;
}

export function createDraftKeeper({ context, sessionId: session_id, editor }: Deps): DraftKeeper {
  const { berth, notice, invalidate, isObserver } = context;
  let timer: NodeJS.Timeout | undefined;
  let draftId = `dra_${randomUUID().replaceAll('-', '')}`;
  let stored: string | undefined = '';
  let storing: Promise<void> = Promise.resolve();

  function store(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const { text } = editor.snapshot();
    if (text === stored || isObserver) return storing;
    stored = text;
    const draft_id = draftId;
    storing = storing
      .then(async () => {
        const reply = await berth.call('set_draft', { session_id, draft_id, text });
        if (!reply.ok) notice(`the draft is not stored: ${reply.error.message}`, 'alarm');
      })
      // A daemon that is away gets the draft with the next change.
      .catch(() => void (stored = undefined));
    return storing;
  }

  function take({ draft_id, text }: { draft_id: string; text: string }): void {
    draftId = draft_id;
    stored = text;
    editor.setText(text);
    invalidate();
  }

  return {
    load() {
      if (isObserver) return;
      attempt(context, 'no draft could be read', async () => {
        const { drafts } = accepted(await berth.call('list_drafts', { session_id }));
        // Those of this screen are from before it went to another session.
        const left = drafts.find(({ attached, by, text }) => (!attached || by === context.clientName) && text !== '');
        if (!left) return;
        const whole = await readWholeDraft(context, session_id, left);
        if (!editor.isEmpty()) return;
        take(whole);
        notice(`your draft is back (${printableLine(left.by)}, ${formatAge(Date.now() - Date.parse(left.updated_at))} ago)`);
      });
    },
    changed() {
      timer ??= setTimeout(() => void store(), tuning.pauseMs);
    },
    take,
    ownId: () => draftId,
    flush: store,
  };
}

/** A draft whose text is too long for a list is read by itself. */
export async function readWholeDraft({ berth }: TuiContext, session_id: string, listed: Draft): Promise<Draft> {
  if (!listed.truncated) return listed;
  const { drafts } = accepted(await berth.call('list_drafts', { session_id, draft_id: listed.draft_id }));
  return drafts[0] ?? listed;
}
