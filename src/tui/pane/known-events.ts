import type { EventType } from '../../protocol/events.js';

/** Every event of this version of the protocol: a newer daemon may send others. */
const known: Readonly<Record<EventType, true>> = {
  agent_start: true,
  agent_end: true,
  turn_start: true,
  turn_end: true,
  message_start: true,
  message_update: true,
  message_end: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  status: true,
  warning: true,
  error: true,
  queue_update: true,
  session_update: true,
  ui_request: true,
  ui_resolved: true,
  ui_notify: true,
  ui_status: true,
  ui_widget: true,
  ui_working: true,
  ui_set_title: true,
  ui_set_editor_text: true,
  draft_update: true,
  client_update: true,
  usage_update: true,
  compaction_start: true,
  compaction_end: true,
  rule_update: true,
  trust_update: true,
  config_update: true,
  tools_update: true,
  daemon_update: true,
  goodbye: true,
};

export function isKnownEvent(type: string): boolean {
  return Object.hasOwn(known, type);
}
