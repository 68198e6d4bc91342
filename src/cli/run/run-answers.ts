import type { Berth } from '../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../client/errors.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { toCard } from '../../view/questions.js';
import { clipHeadline } from '../attach/message-lines.js';
import { WrongUsage } from '../exit.js';
import { printableLine } from '../../view/printable.js';

export const approveChoices = ['ask', 'deny', 'allow-once'] as const;
export type Approve = (typeof approveChoices)[number];

/** Parses `--approve`. Without it, a person who is there is asked, and otherwise nothing is allowed. */
export function readApprove(typed: string | undefined, isThere: boolean): { approve: Approve; isChosen: boolean } {
  if (typed === undefined) return { approve: isThere ? 'ask' : 'deny', isChosen: false };
  const approve = approveChoices.find((choice) => choice === typed);
  if (approve === undefined) throw new WrongUsage(`--approve is one of ${approveChoices.join(', ')}, not ${JSON.stringify(typed)}`);
  return { approve, isChosen: true };
}

interface Deps {
  berth: Berth;
  approve: Approve;
  /** `--approve` was given, so that no advice about it is needed. */
  isChosen: boolean;
  note(line: string): void;
  /** Requests that no rule here answers, oldest first; called when that has changed. */
  onOpen(requests: readonly UiRequest[]): void;
}

/** Answers approvals as `--approve` says. Trust, directories and questions are always for a person. */
export interface RunAnswers {
  consider(requests: readonly UiRequest[]): void;
}

export function createRunAnswers({ berth, approve, isChosen, note, onOpen }: Deps): RunAnswers {
  const answered = new Set<string>();

  async function answer(request: UiRequest): Promise<void> {
    const { request_id } = request;
    const isAllowed = approve === 'allow-once';
    const reason = 'Nobody is there to be asked. Do without it, or say what you would have needed.';
    const reply = await berth.call('ui_response', { request_id, result: isAllowed ? 'allow_once' : { value: 'deny', reason } });
    // Refused: somebody else was faster, or the run has ended.
    if (!reply.ok) return;
    const advice = isChosen ? `--approve ${approve}` : 'nobody is here to ask; --approve allow-once allows, a terminal asks';
    note(`[approval] ${isAllowed ? 'allowed once' : 'denied'}: ${describeSubject(request)} (${advice})`);
  }

  return {
    consider(requests) {
      const open = requests.filter(({ params }) => approve === 'ask' || params.kind !== 'approval');
      for (const request of requests) {
        if (open.includes(request) || answered.has(request.request_id)) continue;
        answered.add(request.request_id);
        answer(request).catch((error: unknown) => {
          if (![ConnectionLost, NoDaemon, DaemonUnresponsive].some((kind) => error instanceof kind)) throw error;
          // Considered again when the daemon is back.
          answered.delete(request.request_id);
        });
      }
      onOpen(open);
    },
  };
}

function describeSubject(request: UiRequest): string {
  const { parts, title } = toCard(request);
  const [subject] = parts.flatMap((part) => (part.kind === 'command' ? [`$ ${part.text}`] : part.kind === 'call' ? [part.text] : []));
  return clipHeadline(printableLine(subject ?? title));
}
