import { limits } from '../../protocol/limits.js';
import { printableLine } from '../../view/printable.js';
import { ruleSentence, ruleText } from '../../view/rule-text.js';
import { modes } from '../../view/modes.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerOptions } from '../overlays/picker.js';

/** The rules that count in this session; those that were said here can be removed. */
export function showPermissions(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'rules could not be listed', async () => {
    const { permissions, mode, no_sandbox } = accepted(await context.berth.call('list_permissions', { session_id: attached.sessionId }));
    const unconfined = no_sandbox === null ? '' : ` Commands run without a sandbox: ${printableLine(no_sandbox)}`;
    const items = permissions.map(({ permission_id, rule, source, said_by }, at) => ({
      id: permission_id === '' ? `config ${at}` : permission_id,
      label: printableLine(ruleSentence(rule)),
      detail: printableLine(said_by === '' ? source : `${source}, by ${said_by}`),
    }));
    context.open(
      createPicker({
        title: `Rules, in mode ${mode}: ${modes[mode]}.${unconfined}`,
        wraps: true,
        items: () => items,
        empty: 'no rule counts here; /allow COMMAND adds one',
        onPick: () => context.closeOverlay(),
        keys: (context.isObserver
          ? []
          : [
              {
                key: 'ctrl+x',
                label: 'remove',
                run({ id: permission_id }) {
                  if (permission_id.startsWith('config ')) {
                    context.notice('this rule is in a config file: remove it there', 'alarm');
                    return;
                  }
                  context.closeOverlay();
                  attempt(context, 'not removed', async () => {
                    accepted(await context.berth.call('remove_permission', { permission_id }));
                    showPermissions(parts);
                  });
                },
              },
            ]) satisfies PickerOptions['keys'],
      }),
    );
  });
}

/** Adds a rule that allows commands which begin with these words in this workspace. */
export function allow(command: string, { context, attached }: PaneParts): boolean {
  if (command === '' || command.length > limits.ruleTextCharsMax) {
    context.notice('name the command, such as /allow git status', 'alarm');
    return false;
  }
  const rule = { tool: 'bash', action: 'allow', command } as const;
  attempt(context, 'no rule was added', async () => {
    accepted(await context.berth.call('add_permission', { session_id: attached.sessionId, scope: 'workspace', rule }));
    context.notice(`allowed in this workspace: ${ruleText(rule)}`);
  });
  return true;
}
