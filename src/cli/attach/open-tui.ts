import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Berth } from '../../client/connect.js';
import type { openTui, TuiOptions } from '../../tui/main.js';
import { shortId } from '../../view/short-ids.js';
import { leavingTexts } from '../../view/terminal/leaving-text.js';
import { exit, type ExitCode } from '../exit.js';
import { readKeySettings } from '../key-settings.js';
import { createScreenFile } from '../screen-file.js';
import { writeErr } from '../terminal/standard-streams.js';
import { berthOn } from '../remote/host-words.js';
import { nameTerminal } from '../terminal/terminal-name.js';

/** Defined by bin/load-bundle.js for bundles; undefined when run from source. */
declare const loadBundle: ((file: string) => unknown) | undefined;

interface TuiModule {
  openTui: typeof openTui;
}

/** The terminal frontend is a bundle of its own: commands that print and end do not pay for it. */
async function loadTui(): Promise<TuiModule> {
  if (typeof loadBundle === 'undefined') return import('../../tui/main.js');
  return loadBundle(join(dirname(fileURLToPath(import.meta.url)), 'tui.cjs')) as TuiModule;
}

/** Whether a full-screen program can run here. */
export function canOpenTui(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && (process.env.TERM ?? 'dumb') !== 'dumb';
}

type Options = Pick<TuiOptions, 'isObserver' | 'notices'>;

/** Opens the terminal frontend on a session until the person leaves. */
export async function openTuiSession(berth: Berth, sessionId: string, options: Options = {}): Promise<ExitCode> {
  const { openTui } = await loadTui();
  const { attached, isGone } = await openTui({
    ...options,
    berth,
    sessionId,
    clientName: nameTerminal(),
    keys: readKeySettings(berth.paths.configDir),
    memoryFile: createScreenFile(berth.paths.stateDir),
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
  });
  if (isGone) return exit.ok;
  const view = attached.view();
  const kept = attached.sent().filter((sent) => sent.state === 'kept').length;
  writeErr(
    `[detached] ${[...leavingTexts(view, kept), `${berthOn(berth.transport.host)} attach ${shortId(view.state.id)} comes back.`].join(' ')}\n`,
  );
  return exit.ok;
}
