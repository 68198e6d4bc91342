import { limits } from '../../protocol/limits.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createTextPrompt } from '../overlays/text-prompt.js';

/** Search in the transcript: in what is loaded, and through the daemon's full-text index in what is not. */
export interface TranscriptSearch {
  isOpen(): boolean;
  open(): void;
  search(text: string): void;
  next(direction: 1 | -1): void;
  close(): void;
}

export function createTranscriptSearch(parts: PaneParts): TranscriptSearch {
  const { context, attached, reader } = parts;
  let wanted = '';

  function search(text: string): void {
    if (text.trim() === '') return open();
    wanted = text.trim();
    reader.setMark(wanted);
    parts.setFocus('transcript');
    if (wanted !== '') find(-1, true);
  }

  function find(direction: 1 | -1, isNew: boolean): void {
    if (reader.find(wanted, direction, isNew)) return;
    if (direction > 0 || !attached.view().hasMore)
      return context.notice(`nothing ${direction > 0 ? 'further down' : 'further up'} has “${wanted}”`);
    attempt(context, 'older messages could not be searched', findOlder);
  }

  function next(direction: 1 | -1): void {
    if (wanted === '') return open();
    find(direction, false);
  }

  /** Loads pages up to the newest older message that has the words. */
  async function findOlder(): Promise<void> {
    const request = { session_id: attached.sessionId, query: wanted, limit: limits.pageRowsMax };
    const { messages } = accepted(await context.berth.call('search_messages', request));
    const loaded = new Set(attached.view().messages.map(({ id }) => id));
    const older = new Set(messages.map(({ message_id }) => message_id).filter((id) => !loaded.has(id)));
    if (older.size === 0) {
      context.notice(`nothing further up has “${wanted}”`);
      return;
    }
    for (let more = true; more;) {
      const { added, hasMore, full } = await attached.loadOlder();
      context.invalidate();
      const isFound = attached
        .view()
        .messages.slice(0, added)
        .some(({ id }) => older.has(id));
      if (isFound) break;
      if (full) {
        context.notice('it is further up than the screen can hold: /export writes everything', 'alarm');
        return;
      }
      more = hasMore && added > 0;
    }
    reader.refresh(attached.view());
    if (!reader.find(wanted, -1)) context.notice(`nothing further up has “${wanted}” word for word`);
  }

  function open(): void {
    context.open(
      createTextPrompt({
        title: 'Search this session',
        initial: wanted,
        onSubmit(text) {
          context.closeOverlay();
          if (text.trim() === '') close();
          else search(text);
        },
      }),
    );
  }

  function close(): void {
    wanted = '';
    reader.setMark('');
  }

  return {
    isOpen: () => wanted !== '',
    open,
    search,
    next,
    close,
  };
}
