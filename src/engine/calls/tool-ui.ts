import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ToolUi } from '../../tools/port.js';
import type { LiveSignals } from '../live/live-signals.js';

interface CallAddress {
  sessionId: string;
  toolName: string;
}

/** The screens of attached clients, for one call. `end` removes what the call was working on. */
export function createToolUi(signals: LiveSignals, { sessionId: session_id, toolName }: CallAddress): ToolUi & { end(): void } {
  /** The tool's own: no tool replaces what another, or the daemon, shows. */
  const ownKey = (key: string): string => clip(`${toolName}:${key}`, limits.uiKeyCharsMax);
  let isWorking = false;

  function setWorking(message: string): void {
    isWorking = message !== '';
    signals.set(session_id, 'working', {
      type: 'ui_working',
      payload: { session_id, params: { message: clip(message, limits.statusTextCharsMax) } },
    });
  }

  return {
    setStatus(name, text) {
      const key = ownKey(name);
      signals.set(session_id, `status:${key}`, {
        type: 'ui_status',
        payload: { session_id, params: { key, text: clip(text, limits.statusTextCharsMax) } },
      });
    },
    setWidget(name, lines) {
      const key = ownKey(name);
      const shown = lines.slice(0, limits.widgetLinesMax).map((line) => clip(line, limits.statusTextCharsMax));
      signals.set(session_id, `widget:${key}`, { type: 'ui_widget', payload: { session_id, params: { key, lines: shown } } });
    },
    setWorking,
    setTitle(title) {
      signals.set(session_id, 'title', {
        type: 'ui_set_title',
        payload: { session_id, params: { title: clip(title, limits.titleCharsMax) } },
      });
    },
    offerText(text) {
      signals.tellOnce(session_id, 'editor_text', {
        type: 'ui_set_editor_text',
        payload: { session_id, params: { text: clip(text, limits.offeredTextCharsMax) } },
      });
    },
    end() {
      if (isWorking) setWorking('');
    },
  };
}

function clip(text: string, unitsMax: number): string {
  return text.slice(0, wholeUnits(text, unitsMax));
}
